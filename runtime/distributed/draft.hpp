// A statement that is being planned: its program is rewritten as reductions and products are taken out.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "runtime/distributed/plan.hpp"

namespace ingot::runtime {

inline bool is_product(detail::word w) {
    return detail::kind_of_word(w) == detail::word_kind::library &&
           detail::code_of_word(w) == static_cast<detail::word>(detail::library_function::matrix_product);
}

/// Whether an operand that is split along the axes that the word binds may need a step before: a scan, a library's
/// function, or a roll or tile, which may begin again.
inline bool is_transform(detail::word w) {
    const detail::word_kind kind = detail::kind_of_word(w);
    if (kind == detail::word_kind::unravel) {
        const auto rule = static_cast<detail::place_rule>(detail::code_of_word(w));
        return rule == detail::place_rule::digits || rule == detail::place_rule::wrap;
    }
    return kind == detail::word_kind::scan || (kind == detail::word_kind::library && !is_product(w));
}
/// A rank fetches up to this many bytes of other ranks' elements for an operand; more must be moved by name.
inline constexpr std::size_t most_fetched = 65536;

/// Parts of a value that is folded are gathered by all ranks where each has at most so many bytes; larger ones are
/// folded by slices.
inline constexpr std::size_t most_gathered = 65536;

/// Where the value of a word begins.
struct beginning {
    std::size_t program, operands, attributes;
};

/// A word of a draft with the value that ends in it.
struct found_value {
    std::size_t word;
    beginning from, until;
};

/// A statement that is being planned: its program is rewritten as reductions are taken out.
struct draft {
    std::vector<detail::word> program;
    std::vector<operand> operands;
    std::vector<planned_operand> sources;
    std::vector<const placement*> placements;
    std::vector<const detail::layout*> owned;
    std::vector<detail::word> attributes;
    std::deque<detail::layout> layouts;
    std::vector<std::shared_ptr<const placement>> kept;

    /// Calls f(word number, where its value begins, end of its operands, end of its attributes) until f returns true.
    template <class F>
    bool find_value(F f) const {
        std::vector<beginning> values;
        std::size_t operand_at = 0, attribute_at = 0;
        for (std::size_t w = 0; w < program.size(); ++w) {
            const auto arity = static_cast<std::size_t>(detail::arity_of_word(program[w]));
            const beginning b = arity ? values[values.size() - arity] : beginning{w, operand_at, attribute_at};
            values.resize(values.size() - arity);
            values.push_back(b);
            operand_at += static_cast<std::size_t>(detail::operands_of_word(program[w]));
            attribute_at += detail::is_binder(detail::kind_of_word(program[w])) ? 1 : 0;
            if (f(w, b, operand_at, attribute_at)) return true;
        }
        return false;
    }

    /// The words of a value, its operands, their placements, and its attributes.
    std::span<const detail::word> program_of(const found_value& v) const {
        return std::span(program).subspan(v.from.program, v.until.program - v.from.program);
    }
    std::span<const operand> operands_of(const found_value& v) const {
        return std::span(operands).subspan(v.from.operands, v.until.operands - v.from.operands);
    }
    std::span<const placement* const> placements_of(const found_value& v) const {
        return std::span(placements).subspan(v.from.operands, v.until.operands - v.from.operands);
    }
    std::span<const detail::word> attributes_of(const found_value& v) const {
        return std::span(attributes).subspan(v.from.attributes, v.until.attributes - v.from.attributes);
    }

    void add_operand(const operand& o, std::size_t number) {
        operands.push_back(o);
        sources.emplace_back().number = number;
        placements.push_back(is_distributed(o.memory) ? storage_of(*o.memory).where.get() : nullptr);
        owned.push_back(placements.back() ? &storage_of(*o.memory).owned : nullptr);
    }
};

/// The statement; where `expands`, its references are replaced by the words that they repeat. Throws distributed_error
/// where that makes too many.
draft draft_of(const statement& s, bool expands);

/// `count` operands of a draft, from number `first` on, as this rank reads them over these loops. Throws
/// distributed_error where more than most_fetched bytes of one lie elsewhere, unless the statement may move them.
std::vector<planned_operand> plan_operands(const draft& d, std::size_t first, std::size_t count, const loops& all,
                                           bool may_move = false);

/// The box that a rank reads of an array, by a leaf over these loops.
box read_box(const access&, const detail::layout&, const loops& all, std::span<const int> own, int rank);
/// The layout of elements of a distributed array in the memory of a box, whose layout is `of`.
detail::layout layout_in(const access& a, const detail::layout& seen, const box& whole, const detail::layout& of);
/// This rank's share of a layout over loops.
detail::layout narrowed(const detail::layout& whole, const loops& all, std::span<const int> own, int rank);

/// An operand of words that are put into a draft.
struct new_operand {
    operand leaf;
    planned_operand source;
    const placement* where = nullptr;
    const detail::layout* owned = nullptr;
};
/// Puts words in place of a value's.
void replace(draft& in, const found_value& old, std::initializer_list<detail::word> words,
             const std::vector<new_operand>& operands, std::initializer_list<detail::word> bound);

/// Completes a step whose value is folded over these mesh axes: the number of parts, this rank's, and the ranks that
/// have others.
void share_parts(planned_reduction& step, const rank_mesh& mesh, const std::vector<int>& folded);

/// Takes a reduction out of a draft, as a step of the plan, where it binds a split axis. Returns whether it did. Throws
/// distributed_error where the reduction has no form in parts.
bool take_reduction(statement_plan& plan, draft& d, const loops& outer, const found_value& value);
/// Takes out a matrix product with a split operand, as take_reduction does. The split is by rows of the first operand,
/// by columns of the second, or along the axis over which both are summed.
bool take_product(statement_plan& plan, draft& d, const loops& outer, const found_value& value);

/// Takes out a scan, Fourier transform or sort along a split axis, or the operand of a roll or tile that must be
/// computed before it is read, as take_reduction does.
bool take_transform(statement_plan& plan, draft& d, const loops& outer, const found_value& value);

}  // namespace ingot::runtime
