#include "codegen/graph/key_loops.hpp"

#include <algorithm>
#include <utility>

#include <ingot/core/error.hpp>

namespace ingot::codegen {

using namespace detail;

key_loops::key_loops(const key& k) : key_(k) {
    for (std::size_t a = 0; a < k.axes.size(); ++a) of_axes_.push_back(static_cast<std::uint8_t>(a));
}

std::uint64_t key_loops::axes_of(std::size_t operand) const {
    const std::vector<stride_class>& strides = key_.operands[operand].strides;
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < strides.size(); ++a)
        if (strides[a] != stride_class::broadcast) axes |= std::uint64_t{1} << a;
    return axes;
}

std::uint64_t key_loops::bound_axes(std::size_t binder) const {
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < key_.axes.size(); ++a)
        if (key_.axes[a].owner == binder + 1) axes |= std::uint64_t{1} << a;
    return axes;
}

std::vector<std::uint8_t> key_loops::loops_of(std::size_t binder) const {
    std::vector<std::uint8_t> loops;
    for (std::size_t a = 0; a < key_.axes.size(); ++a)
        if (key_.axes[a].owner == binder + 1) loops.push_back(of_axes_[a]);
    return loops;
}

std::uint64_t key_loops::in_loops(std::uint64_t axes) const {
    std::uint64_t loops = 0;
    for (std::size_t a = 0; a < key_.axes.size(); ++a)
        if ((axes >> a & 1u) != 0) loops |= std::uint64_t{1} << of_axes_[a];
    return loops;
}

std::vector<stride_class> key_loops::strides_of(std::size_t operand) const {
    const std::vector<stride_class>& own = key_.operands[operand].strides;
    std::vector<stride_class> strides(own.size(), stride_class::broadcast);
    for (std::size_t a = 0; a < own.size(); ++a)
        if (own[a] != stride_class::broadcast) strides[of_axes_[a]] = own[a];
    return strides;
}

std::uint16_t key_loops::first_same(std::size_t operand) const {
    const operand_head& own = key_.operands[operand].head;
    for (std::size_t i = own.same_as; i < operand; ++i) {
        const operand_head& other = key_.operands[i].head;
        if (other.same_as == own.same_as && other.kind == own.kind && other.type == own.type &&
            strides_of(i) == strides_of(operand))
            return static_cast<std::uint16_t>(i);
    }
    return static_cast<std::uint16_t>(operand);
}

void key_loops::share() {
    const std::size_t n = key_.axes.size();
    const std::vector<binder_facts> binders = list_binders();
    const auto binder_of = [&](std::size_t axis) { return binders[key_.axes[axis].owner - std::size_t{1}]; };
    std::uint64_t outer = 0;
    for (std::size_t a = 0; a < n; ++a) {
        if (key_.axes[a].owner == 0) outer |= std::uint64_t{1} << a;
        if (key_.axes[a].owner > binders.size()) throw error("[lower] an axis is bound by a binder that is not there");
    }
    std::vector<std::size_t> extent_of(n);  // the first axis known to have the same extent
    for (std::size_t a = 0; a < n; ++a)
        extent_of[a] = key_.axes[a].partner == 0 ? a : extent_of[key_.axes[a].partner - std::size_t{1}];
    for (std::size_t a = 0; a < n; ++a)
        if (const std::size_t b = key_.axes[a].partner; b != 0) walk_jointly(binders, b - 1, a);
    // A key names one partner of an axis; an axis of a reduction may have several scans that walk along it.
    for (std::size_t scanned = 0; scanned < n; ++scanned)
        for (std::size_t a = scanned + 1; a < n; ++a)
            if (extent_of[a] == extent_of[scanned]) follow(binders, scanned, a);
    const auto results = [&](std::size_t axis) { return in_loops(binder_of(axis).results); };
    const auto alone = [&](std::size_t axis) { return (results(axis) & ~outer) == 0; };
    const auto position = [&](std::size_t axis) {  // among the axes of its binder
        std::size_t first = axis;
        while (first > 0 && key_.axes[first - 1].owner == key_.axes[axis].owner) --first;
        return axis - first;
    };
    const auto alike = [&](std::size_t a, std::size_t b) {
        const binder_facts &one = binder_of(a), &other = binder_of(b);
        if (one.kind != other.kind || one.kind == word_kind::scan) return false;
        if (one.kind == word_kind::gather) return results(a) == results(b) && are_equal_gathers(one, other);
        if (results(a) != results(b) && !(alone(a) && alone(b))) return false;
        if (one.kind == word_kind::library && (one.code != other.code || position(a) != position(b))) return false;
        return one.kind == word_kind::reduce || one.kind == word_kind::library ||
               first_same(one.pick) == first_same(other.pick);
    };
    // Whether it shares a loop with an axis that is no scan's; a scan's axis follows its reduction's.
    const auto shared = [&](std::size_t axis) {
        for (std::size_t c = 0; c < n; ++c)
            if (c != axis && of_axes_[c] == of_axes_[axis] &&
                (key_.axes[c].owner == 0 || binder_of(c).kind != word_kind::scan))
                return true;
        return false;
    };
    std::vector<bool> settled(binders.size());
    const auto share_one = [&](std::size_t a) {
        const std::uint16_t owner = key_.axes[a].owner;
        if (shared(a)) return;
        bool whole = a == 0 || key_.axes[a - 1].owner != owner;
        for (std::size_t c = a; c < n && key_.axes[c].owner == owner; ++c) whole = whole && !shared(c);
        if (binder_of(a).kind == word_kind::reduce && whole && alone(a) &&
            walk_outputs_loops(a, outer & ~results(a), extent_of))
            return;
        for (std::size_t b = 0; b < a; ++b)
            // The key does not say that the axes of two gathers have one extent; equal sources do.
            if ((extent_of[b] == extent_of[a] || binder_of(a).kind == word_kind::gather) && key_.axes[b].owner != 0 &&
                key_.axes[b].owner != owner && settled[key_.axes[b].owner - std::size_t{1}] &&
                of_axes_[b] != of_axes_[a] && alike(a, b) && !is_taken(of_axes_[b], a) &&
                ((outer | results(a)) >> of_axes_[b] & 1u) == 0) {
                walk_instead(of_axes_[a], of_axes_[b]);
                return;
            }
    };
    // Outermost binders first: the binder above tells along which loops a binder's result moves.
    const auto known = [&](const binder_facts& f) {
        for (std::size_t c = 0; c < n; ++c)
            if ((f.results & ~outer) >> c & 1u && !settled[key_.axes[c].owner - std::size_t{1}]) return false;
        return true;
    };
    for (bool more = true; more;) {
        std::vector<bool> now;
        for (const binder_facts& f : binders) now.push_back(known(f));
        const std::vector<bool> before = std::exchange(settled, now);
        for (std::size_t a = 0; a < n; ++a)
            if (const std::size_t owner = key_.axes[a].owner; owner != 0 && now[owner - 1] && !before[owner - 1])
                share_one(a);
        more = now != before;
    }
}

bool key_loops::walk_outputs_loops(std::size_t first, std::uint64_t still, const std::vector<std::size_t>& extent_of) {
    std::size_t last = first;
    for (; last < key_.axes.size() && key_.axes[last].owner == key_.axes[first].owner; ++last) {
        if (extent_of[last] >= 64 || (still >> extent_of[last] & 1u) == 0) return false;
        still &= ~(std::uint64_t{1} << extent_of[last]);
    }
    for (std::size_t a = first; a < last; ++a) walk_instead(of_axes_[a], static_cast<std::uint8_t>(extent_of[a]));
    return true;
}

void key_loops::walk_instead(std::uint8_t loop, std::uint8_t other) { std::ranges::replace(of_axes_, loop, other); }

bool key_loops::is_taken(std::uint8_t loop, std::size_t axis) const {
    for (std::size_t a = 0; a < key_.axes.size(); ++a)
        if (a != axis && key_.axes[a].owner == key_.axes[axis].owner && of_axes_[a] == loop) return true;
    return false;
}

bool key_loops::walks(const std::vector<binder_facts>& binders, std::size_t scanned, std::size_t along) const {
    const std::uint16_t owner = key_.axes[scanned].owner, other = key_.axes[along].owner;
    if (owner == 0 || binders[owner - 1u].kind != word_kind::scan) return false;
    if (other != 0 && binders[other - 1u].kind != word_kind::reduce && binders[other - 1u].kind != word_kind::scan)
        return false;
    return key_.operands[binders[owner - 1u].pick].strides[along] == stride_class::unit;
}

void key_loops::walk_jointly(const std::vector<binder_facts>& binders, std::size_t first, std::size_t second) {
    const auto is_scanned = [&](std::size_t axis) {
        const std::uint16_t owner = key_.axes[axis].owner;
        return owner != 0 && binders[owner - 1u].kind == word_kind::scan;
    };
    if (is_scanned(first) && is_scanned(second)) return;  // one follows the other, wherever that leads
    if ((walks(binders, second, first) || walks(binders, first, second)) && of_axes_[second] == second)
        of_axes_[second] = of_axes_[first];
}

void key_loops::follow(const std::vector<binder_facts>& binders, std::size_t scanned, std::size_t along) {
    if (of_axes_[scanned] == scanned && walks(binders, scanned, along) && !is_taken(of_axes_[along], scanned))
        walk_instead(of_axes_[scanned], of_axes_[along]);
}

std::vector<key_loops::binder_facts> key_loops::list_binders() const {
    std::vector<binder_facts> binders;
    std::vector<std::uint64_t> stack, of_word;
    std::vector<value_range> beginnings;  // of the values on the stack
    std::size_t operand = 0;
    for (const word w : key_.program) {
        const word_kind kind = kind_of_word(w);
        const std::size_t arity = std::min<std::size_t>(static_cast<std::size_t>(arity_of_word(w)), stack.size());
        const value_range here{of_word.size(), operand};
        const value_range first = arity == 0 ? here : beginnings[stack.size() - arity];
        const value_range last = arity == 0 ? here : beginnings.back();
        beginnings.resize(stack.size() - arity);
        beginnings.push_back(first);
        std::uint64_t axes = 0;
        if (kind == word_kind::reference && code_of_word(w) < of_word.size()) axes = of_word[code_of_word(w)];
        for (int i = arity_of_word(w); i-- > 0 && !stack.empty();) {
            // The source of a gather, taken last, loses the bound axes; the index does not.
            std::uint64_t value = stack.back();
            if (binds_value(kind, i)) value &= ~bound_axes(binders.size());
            axes |= value;
            stack.pop_back();
        }
        const std::size_t own = operand;
        if (operands_of_word(w) == 1) {
            if (operand >= key_.operands.size()) throw error("[lower] the program takes an operand that is not there");
            axes |= axes_of(operand++);
        }
        if (is_binder(kind)) binders.push_back({kind, code_of_word(w), axes, own, first, last, here});
        stack.push_back(axes);
        of_word.push_back(axes);
    }
    return binders;
}

bool key_loops::are_equal_gathers(const binder_facts& one, const binder_facts& other) const {
    const auto alike = [&](const value_range& a, const value_range& a_end, const value_range& b,
                           const value_range& b_end, const auto& same_operand) {
        const auto word_at = [&](std::size_t at) { return key_.program.begin() + static_cast<std::ptrdiff_t>(at); };
        if (!std::equal(word_at(a.word), word_at(a_end.word), word_at(b.word), word_at(b_end.word)) ||
            a_end.operand - a.operand != b_end.operand - b.operand)
            return false;
        for (std::size_t i = 0; a.operand + i < a_end.operand; ++i)
            if (!same_operand(a.operand + i, b.operand + i)) return false;
        return true;
    };
    const auto is_same_view = [&](std::size_t a, std::size_t b) {
        const operand_head &own = key_.operands[a].head, &head = key_.operands[b].head;
        return own.same_as == head.same_as && own.kind == head.kind && own.type == head.type;
    };
    return one.code == other.code && alike(one.source, one.index, other.source, other.index, is_same_view) &&
           alike(one.index, one.behind, other.index, other.behind,
                 [&](std::size_t a, std::size_t b) { return first_same(a) == first_same(b); });
}

}  // namespace ingot::codegen
