// From statements with run-time trees in them, with reshapes that no kernel makes, or with scans of which little is
// read, to plain ones.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/front/classify.hpp"
#include "runtime/trees/narrow_scans.hpp"
#include "runtime/trees/tree.hpp"

namespace ingot::runtime {

/// Whether a statement finds the digits of a place beside binders of other kinds: kernels do so in elementwise trees
/// alone.
inline bool has_digits_beside_binders(const statement& s) {
    using detail::word_kind;
    bool digits = false, others = false;
    std::size_t binder = 0;
    for (const detail::word w : s.program) {
        const word_kind kind = detail::kind_of_word(w);
        if (!detail::is_binder(kind)) continue;
        const bool binds = s.attributes[binder++] != 0;
        digits |= kind == word_kind::unravel && binds;
        others |= kind != word_kind::unravel && kind != word_kind::gather && kind != word_kind::library && binds;
    }
    return digits && others;
}

/// Whether a statement binds more axes than it has room for beside those of its result, and is cut before.
bool binds_many_axes(const statement& s);

/// Whether a statement can be classified as it is: no run-time trees, no such reshapes, no scan of which little is
/// read, and not too many axes.
inline bool is_flat(const statement& s) {
    if (binds_many_axes(s)) return false;
    std::size_t operands = 0;
    for (const detail::word w : s.program) {
        operands += static_cast<std::size_t>(detail::operands_of_word(w));
        if (detail::kind_of_word(w) == detail::word_kind::lazy) return false;
        if (detail::kind_of_word(w) == detail::word_kind::scan && shows_little(w, s.operands.first(operands)))
            return false;
    }
    return !has_digits_beside_binders(s);
}

/// Whether an operand's layout is one of elements along axes: a number has none, nor has an array that is read whole.
inline bool has_axes(const operand& o) noexcept { return o.where && o.kind != detail::operand_kind::raw; }

/// A program without lazy words and what it takes. The operands point into the trees and into `results`.
struct spliced {
    std::vector<detail::word> program;
    std::vector<operand> operands;
    std::vector<detail::word> attributes;
    std::deque<detail::layout> layouts;  // of results of pieces that are read in the place of what they are of

    void clear() noexcept {
        program.clear();
        operands.clear();
        attributes.clear();
        layouts.clear();
    }
};

/// Puts folds of what comes before in the place of prefixes that nothing reads (narrow_scans.hpp). Layouts that change
/// are added to `layouts`.
void narrow_scans(spliced&, std::deque<detail::layout>& layouts);

/// A part of a statement's trees that is one kernel: it ends in `source` (null: in the statement) and begins at leaves.
struct piece {
    tree_node* source;
    std::vector<tree_node*> reads;  // the sources of its kept leaves, each once
};
/// The pieces of a statement, each after those it reads; the last is the statement's own.
std::vector<piece> pieces_of(const statement&);

/// Where kept leaves find the arrays of their sources.
class kept_results {
public:
    virtual const buffer* find(const tree_node& source) const = 0;
    /// The same of any node: null where it is no piece's source, or that one is not evaluated yet.
    virtual const buffer* find_if_there(const tree_node&) const { return nullptr; }

protected:
    ~kept_results() = default;
};

/// Writes a statement's program with its trees in the place of the lazy words; a node that was met before in the same
/// context is a reference to its word. Nothing is written twice that a lazy shares.
void splice(spliced&, const statement&, const kept_results&);
/// The same for one tree.
void splice(spliced&, const tree_node&, const kept_results&);

/// What is done with a statement whose outputs are new arrays: they have memory and a layout afterwards.
using statement_function = std::function<void(const statement&)>;
/// Evaluates a statement that has no slot of its own: the table of all keys serves it.
void evaluate_without_slot(const statement&);

/// A flat statement in the place of one that is not. Making it evaluates the pieces below, one kernel each; a piece's
/// array goes when its last user is done. What is reshaped at digits of a place is evaluated too where it has to be:
/// the place is then where its array is read. What is read beyond the ends of an axis, or at digits and along other
/// axes, is evaluated itself.
class flat_statement {
public:
    /// `evaluate`: what evaluates the pieces, in order; those need not be flat themselves.
    explicit flat_statement(const statement&, statement_function evaluate = evaluate_without_slot);
    flat_statement(const flat_statement&) = delete;
    flat_statement& operator=(const flat_statement&) = delete;
    statement get() const noexcept {
        statement s{words_.program, words_.operands, words_.attributes, outputs_, 0, shapes_};
        s.is_piece = true;
        return s;
    }

private:
    class store;
    struct workspace;  // a thread has one to spare, so that a statement that comes again allocates nothing
    struct give_back {
        void operator()(workspace*) const noexcept;
    };
    static std::unique_ptr<workspace, give_back> take_workspace();
    struct beginning {  // of a value in words_
        std::size_t program, operands, attributes;
    };
    void splice_with_pieces(const statement&);
    /// The same of a statement that binds too many axes: it is cut as a tree is.
    void splice_as_trees(const statement&);
    void evaluate_pieces(const statement&);
    void evaluate_reshaped();
    void evaluate_operand(beginning, const operand& place, dtype type);
    /// A value of this rank, as an array that along axes on which nothing moves lies but once.
    void evaluate_value(beginning, int rank, dtype type);
    /// Puts an array in the place of the words from there on; the caller says how it lies. `seen` makes their layouts.
    void evaluate_words(beginning, dtype type, const std::function<detail::layout(const detail::layout&)>& seen);

    const statement_function evaluate_;
    const std::unique_ptr<workspace, give_back> own_;
    store& pieces_;
    spliced& words_;
    std::vector<buffer_ref>& reshaped_;
    std::deque<detail::layout>& places_;
    std::span<const output> outputs_;
    std::span<const detail::extents_ref> shapes_;
};

}  // namespace ingot::runtime
