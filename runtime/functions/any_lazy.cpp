#include "runtime/functions/any_lazy.hpp"

#include <array>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/core/reduction_nodes.hpp>

namespace ingot::runtime {

using namespace detail;

weak_leaf any_lazy::as_leaf(dtype d) const {
    return type_ == dtype::f8 ? weak_leaf(scalar_words(floating_, d), d, exponent_class::none)
                              : weak_leaf(scalar_words(integer_, d), d, exponent_class::none);
}

namespace {

operand operand_of(const any_lazy& e) {
    operand o;
    o.kind = operand_kind::lazy;
    o.type = e.type();
    o.tree = e.tree().get();
    return o;
}

word word_of(const any_lazy& e) { return make_word(word_kind::lazy, e.type()); }

/// A binder over e, whose last axes are the ones to bind.
any_lazy bound(const any_lazy& e, word code, int axes, const layout* pick) {
    const std::array<word, 2> program{word_of(e), code};
    std::array<operand, 2> operands{operand_of(e)};
    if (pick != nullptr) {
        operands[1].kind = operand_kind::pick;
        operands[1].type = dtype::i8;
        operands[1].where = pick;
    }
    const std::array<word, 1> attributes{static_cast<word>(axes)};
    return {make_tree(program, std::span(operands).first(pick != nullptr ? 2 : 1), attributes), dtype_of_word(code)};
}

}  // namespace

any_lazy apply(op row, std::initializer_list<any_lazy> arguments) {
    std::array<operand_type, most_arguments> types;
    std::size_t n = 0;
    for (const any_lazy& a : arguments) types[n++] = {a.type(), a.is_number()};
    const signature s = resolve(row, types.data());
    if (!s.legal)
        throw dtype_error("[" + std::string(facts(row).name) + "] has no function of " +
                          std::string(name(arguments.begin()->type())));
    std::array<word, most_arguments + 1> program;
    std::array<operand, most_arguments> operands;
    word none = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const any_lazy& a = arguments.begin()[i];
        program[i] = a.is_number() ? weak_leaf::program[0] : word_of(a);
        if (!a.is_number()) {
            operands[i] = operand_of(a);
            continue;
        }
        cursor c{&operands[i], &none};
        a.as_leaf(s.computes[i]).gather(c);
    }
    program[n] = map_word(row, s.result, n);
    return {make_tree(std::span(program).first(n + 1), std::span(operands).first(n), {}), s.result};
}

any_lazy as_type(const any_lazy& e, dtype type) {
    if (e.type() == type) return e;
    const std::array<word, 2> program{word_of(e), map_word(op::astype, type, 1)};
    const std::array<operand, 1> operands{operand_of(e)};
    return {make_tree(program, operands, {}), type};
}

any_lazy folded(fold f, const char* operation, const any_lazy& e, const axes* over, bool keep) {
    view_room view;
    const arrangement a = view_reduced(view, operation, e.extents(), over, keep);
    if (facts(f).needs_elements()) check_not_over_nothing(operation, {view.new_shape, view.new_rank}, a.bound);
    return bound(e.viewed(view),
                 make_word(word_kind::reduce, fold_dtype(facts(f).rule, e.type()), static_cast<word>(f)), a.bound,
                 nullptr);
}

any_lazy mean_of(const char* operation, const any_lazy& e, const axes& over, bool keep) {
    const auto n = static_cast<double>(count_reduced({operation, &over}, e.extents()));
    const any_lazy x = detail::kind_of(e.type()) <= kind::integer ? as_type(e, dtype::f8) : e;
    if (!is_half(x.type())) return folded(fold::sum, operation, x, &over, keep) / n;
    return as_type(folded(fold::sum, operation, as_type(x, dtype::f4), &over, keep) / n, x.type());
}

any_lazy beyond_ends(place_rule rule, const char* operation, const any_lazy& e, int axis, index_t by, index_t extent) {
    view_room view;
    layout place = view_scanned(view, operation, e.extents(), axis);
    place.offset = by;
    view.extents[axis] = place.shape()[axis] = extent;
    return bound(e.viewed(view), make_word(word_kind::unravel, e.type(), static_cast<word>(rule)), 1, &place);
}

any_lazy elements_at(const any_lazy& e, const any_lazy& indices) {
    view_room source, index;
    view_gathered(source, index, "take", e.extents(), indices.extents(), 0);
    const any_lazy x = e.viewed(source), at = indices.viewed(index);
    const std::array<word, 3> program{
        word_of(x), word_of(at), make_word(word_kind::gather, x.type(), static_cast<std::uint32_t>(unchecked_mode))};
    const std::array<operand, 2> operands{operand_of(x), operand_of(at)};
    const std::array<word, 1> attributes{1};
    return {make_tree(program, operands, attributes), x.type()};
}

any_lazy cycled(const char* operation, const any_lazy& e, std::span<const cycle> cycles) {
    view_room view;
    const cycle_place at = view_cycled(view, operation, e.extents(), cycles);
    return bound(e.viewed(view), make_word(word_kind::unravel, e.type()), at.bound, &at.place);
}

}  // namespace ingot::runtime
