// Turns a statement that cannot be classified as it is into a plain one. Such a statement has (1) run-time trees, (2)
// reshapes that no kernel computes, (3) scans of which little is read, or (4) too many axes.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/front/statement.hpp"
#include "runtime/trees/narrow_scans.hpp"
#include "runtime/trees/tree.hpp"

namespace ingot::runtime {

/// Whether a statement reshapes by the digits of an index beside other binders. Kernels do so only in elementwise
/// trees.
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

/// Whether a statement binds more axes than fit beside those of its result, so that it is cut first.
bool binds_many_axes(const statement& s);

/// Whether a statement can be classified as it is: no run-time trees, no such reshapes, no scan of which little is
/// read, and not too many axes.
inline bool is_flat(const statement& s) {
    if (binds_many_axes(s)) return false;
    std::size_t operands = 0;
    for (const detail::word w : s.program) {
        operands += static_cast<std::size_t>(detail::operands_of_word(w));
        if (detail::kind_of_word(w) == detail::word_kind::lazy) return false;
        if (detail::kind_of_word(w) == detail::word_kind::scan && reads_few_prefixes(w, s.operands.first(operands)))
            return false;
    }
    return !has_digits_beside_binders(s);
}

/// Whether an operand's layout describes elements along axes. A number has no layout, and an array that is read whole
/// has no axes.
inline bool has_axes(const operand& o) noexcept { return o.where && o.kind != detail::operand_kind::raw; }

/// A program without lazy words, its operands and attributes. The operands point into the trees and into `results`.
struct spliced {
    std::vector<detail::word> program;
    std::vector<operand> operands;
    std::vector<detail::word> attributes;
    std::deque<detail::layout> layouts;  // of nodes that are read from an evaluated piece

    void clear() noexcept {
        program.clear();
        operands.clear();
        attributes.clear();
        layouts.clear();
    }
};

/// Replaces prefixes that nothing reads by folds of them (narrow_scans.hpp). Changed layouts are added to `layouts`.
void narrow_scans(spliced&, std::deque<detail::layout>& layouts);

/// A part of a statement's trees that one kernel computes. `source` is its root (null: the statement itself).
struct piece {
    tree_node* source;
    std::vector<tree_node*> reads;  // the sources of its materialized leaves, each once
};
/// The pieces of a statement, each after those it reads; the last is the statement's own.
std::vector<piece> pieces_of(const statement&);

/// The arrays to which the sources of materialized leaves were evaluated.
class materialized_results {
public:
    virtual const buffer* find(const tree_node& source) const = 0;
    /// Like find, for any node: null where it is no piece's source, or its piece has not been evaluated yet.
    virtual const buffer* find_if_there(const tree_node&) const { return nullptr; }

protected:
    ~materialized_results() = default;
};

/// Writes a statement's program with its trees in place of the lazy words. A node that was met before in the same
/// context becomes a reference to its word, so shared nodes are written once.
void splice(spliced&, const statement&, const materialized_results&);
/// Splices one tree.
void splice(spliced&, const tree_node&, const materialized_results&);

/// Evaluates a statement whose outputs are new arrays: afterwards they have memory and a layout.
using statement_function = std::function<void(const statement&)>;
/// Evaluates a statement without a slot of its own, by the table of all keys.
void evaluate_without_slot(const statement&);

/// While it lives, a piece that several of these statements have is evaluated once by the calling thread: they are the
/// parts of one statement, whose outputs no single plan computes.
class shared_pieces {
public:
    explicit shared_pieces(std::span<const statement> parts);
    ~shared_pieces();
    shared_pieces(const shared_pieces&) = delete;
    shared_pieces& operator=(const shared_pieces&) = delete;

    /// The array of a piece that several statements have, empty until it is evaluated; null for any other piece.
    static buffer_ref* find(const tree_node& source);
    /// Leaves out of the pieces of a statement all that only pieces with an array read.
    static void leave_out_known(std::vector<piece>&);

private:
    struct tables;
    std::unique_ptr<tables> own_;
};

/// A flat statement for one that is not. The constructor evaluates the pieces below, one kernel each; a piece's array
/// is released after its last use. Reshapes by digits beside other binders are evaluated too: (1) a reshape whose
/// operand moves along bound axes only: the operand is evaluated and read at the index; (2) any other: its result is
/// evaluated.
class flat_statement {
public:
    /// `evaluate` evaluates the pieces, in order; they need not be flat themselves.
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
    struct workspace;  // kept by the thread, so that a repeated statement allocates nothing
    struct give_back {
        void operator()(workspace*) const noexcept;
    };
    static std::unique_ptr<workspace, give_back> take_workspace();
    struct beginning {  // of a value in words_
        std::size_t program, operands, attributes;
    };
    void splice_with_pieces(const statement&);
    /// Splices a statement that binds too many axes: it is made into trees, which are cut.
    void splice_as_trees(const statement&);
    void evaluate_pieces(const statement&);
    /// Evaluates a join of parts that are copied one by one. Returns false, and does nothing, for any other tree.
    bool evaluate_join(tree_node& root, const output& to);
    void evaluate_reshaped();
    void evaluate_operand(beginning, const operand& pick, dtype type);
    /// Evaluates a value of this rank into an array that has extent 1 along axes on which nothing moves.
    void evaluate_value(beginning, int rank, dtype type);
    /// Evaluates the words from `beginning` on and replaces them by a leaf; the caller sets its layout. `seen` maps the
    /// layouts of the operands.
    void evaluate_words(beginning, dtype type, const std::function<detail::layout(const detail::layout&)>& seen);

    const statement_function evaluate_;
    const std::unique_ptr<workspace, give_back> own_;
    store& pieces_;
    spliced& words_;
    std::vector<buffer_ref>& reshaped_;
    std::deque<detail::layout>& layouts_;
    std::span<const output> outputs_;
    std::span<const detail::extents_ref> shapes_;
};

}  // namespace ingot::runtime
