// See narrow_scans.hpp. The words of a scan's operand are written twice: cut to the folded part and to the scanned
// part.
#include "runtime/trees/narrow_scans.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <ingot/core/folds.hpp>

#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::fold;
using detail::index_t;
using detail::layout;
using detail::word;
using detail::word_kind;

namespace {

constexpr index_t worth_bytes = 1 << 16;  // a smaller scan's memory is bounded scratch, not worth a kernel

fold fold_of(word scan) { return static_cast<fold>(detail::code_of_word(scan)); }

/// The words of an operand; its references stay within it.
struct segment {
    std::size_t program, operands, attributes;
    spliced words;
};

segment take_from(spliced& all, std::size_t program, std::size_t operands, std::size_t attributes) {
    segment s{program, operands, attributes, {}};
    const auto move_tail = [](auto& from, auto& to, std::size_t begin) {
        to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin), from.end());
        from.resize(begin);
    };
    move_tail(all.program, s.words.program, program);
    move_tail(all.operands, s.words.operands, operands);
    move_tail(all.attributes, s.words.attributes, attributes);
    return s;
}

/// Appends the segment, cut to `extent` elements from `start` along axis number `lead`.
void append_cut(spliced& to, const segment& s, int lead, index_t start, index_t extent, std::deque<layout>& layouts) {
    const std::size_t shift = to.program.size() - s.program;
    for (const word code : s.words.program)
        to.program.push_back(detail::kind_of_word(code) == word_kind::reference
                                 ? detail::make_word(word_kind::reference, detail::dtype_of_word(code),
                                                     detail::code_of_word(code) + static_cast<word>(shift))
                                 : code);
    for (const operand& o : s.words.operands) {
        to.operands.push_back(o);
        if (!has_axes(o)) continue;
        layout& cut = layouts.emplace_back(*o.where);
        if (cut.shape()[lead] != 1) {
            cut.offset += start * cut.strides()[lead];
            cut.shape()[lead] = extent;
        }
        to.operands.back().where = &cut;
    }
    to.attributes.insert(to.attributes.end(), s.words.attributes.begin(), s.words.attributes.end());
}

/// Whether the operand's own layouts have the result's extents, so that a reduction of it has them too.
bool spans_result(const segment& s, const layout& result) {
    for (int j = 0; j < result.rank(); ++j)
        if (std::ranges::none_of(s.words.operands, [&](const operand& o) {
                return has_axes(o) && o.where->shape()[j] == result.shape()[j];
            }))
            return false;
    return true;
}

}  // namespace

read_prefixes find_read_prefixes(word scan, std::span<const operand> operands) {
    const layout& pick = *operands.back().where;
    read_prefixes r{pick.offset, pick.offset, 1, 0};
    for (int j = 0; j < pick.rank(); ++j) {
        const index_t far = pick.strides()[j] * (pick.shape()[j] - 1);
        (far < 0 ? r.first : r.last) += far;
    }
    // The operand's leaves precede the pick; a layout among them has the scanned axis behind the result's axes.
    for (std::size_t i = operands.size() - 1; i-- > 0 && r.length == 1;) {
        if (!has_axes(operands[i])) continue;
        const layout* const l = operands[i].where;
        if (l->rank() <= pick.rank()) break;
        r.length = l->shape()[pick.rank()];
    }
    r.begin = facts(fold_of(scan)).rule == detail::fold_rule::logarithms ? 0 : r.first;
    return r;
}

/// Whether parts joined in any order give the same bits.
bool is_exact(word scan) {
    return detail::kind_of(detail::dtype_of_word(scan)) != detail::kind::floating || fold_of(scan) == fold::min ||
           fold_of(scan) == fold::max;
}

bool reads_few_prefixes(word scan, std::span<const operand> operands) {
    // Strict arithmetic folds strictly from the left, however little is read.
    if (current().math == detail::math_mode::strict && !is_exact(scan)) return false;
    const layout& pick = *operands.back().where;
    if (pick.size() == 0) return false;
    const read_prefixes r = find_read_prefixes(scan, operands);
    if (r.last - r.begin + 1 > r.length / 2) return false;
    index_t rows = 1;
    for (int j = 0; j < pick.rank(); ++j)
        if (pick.strides()[j] == 0) rows *= pick.shape()[j];
    return rows > worth_bytes / static_cast<index_t>(detail::size_of(detail::dtype_of_word(scan))) / r.length;
}

void narrow_scans(spliced& words, std::deque<layout>& layouts) {
    struct beginning {
        std::size_t program, operands, attributes;
    };
    const spliced old = std::exchange(words, {});
    std::vector<beginning> values;  // of the values on the program's stack
    std::vector<word> moved;        // the new number of each old word
    std::size_t next_operand = 0, binder = 0;
    for (const word code : old.program) {
        const word_kind kind = detail::kind_of_word(code);
        const auto arity = static_cast<std::size_t>(detail::arity_of_word(code));
        const beginning b = arity ? values[values.size() - arity]
                                  : beginning{words.program.size(), words.operands.size(), words.attributes.size()};
        values.resize(values.size() - arity);
        values.push_back(b);
        if (detail::operands_of_word(code)) words.operands.push_back(old.operands[next_operand++]);
        if (kind == word_kind::scan && reads_few_prefixes(code, words.operands)) {
            const operand pick = words.operands.back();
            const read_prefixes r = find_read_prefixes(code, words.operands);
            words.operands.pop_back();
            const segment s = take_from(words, b.program, b.operands, b.attributes);
            const int lead = pick.where->rank();
            const auto as = [&](word_kind k, word of) { return detail::make_word(k, detail::dtype_of_word(code), of); };
            const bool one = r.first == r.last && r.begin == r.first && spans_result(s, *pick.where);
            if (one || r.begin > 0) {
                append_cut(words, s, lead, 0, one ? r.last + 1 : r.begin, layouts);
                words.program.push_back(as(word_kind::reduce, detail::code_of_word(code)));
                words.attributes.push_back(old.attributes[binder]);
            }
            if (!one) {
                append_cut(words, s, lead, r.begin, r.last + 1 - r.begin, layouts);
                layout& rest = layouts.emplace_back(*pick.where);
                rest.offset -= r.begin;
                words.operands.push_back(pick);
                words.operands.back().where = &rest;
                words.program.push_back(code);
                words.attributes.push_back(old.attributes[binder]);
                if (r.begin > 0)
                    words.program.push_back(as(word_kind::map, static_cast<word>(facts(fold_of(code)).join)));
            }
            ++binder;
        } else {
            words.program.push_back(kind == word_kind::reference ? detail::make_word(kind, detail::dtype_of_word(code),
                                                                                     moved[detail::code_of_word(code)])
                                                                 : code);
            if (detail::is_binder(kind)) words.attributes.push_back(old.attributes[binder++]);
        }
        moved.push_back(static_cast<word>(words.program.size() - 1));
    }
}

}  // namespace ingot::runtime
