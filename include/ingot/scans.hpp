// Scans: cumsum(e, axis), and cumsum(e) of the elements in C order. They fold strictly from the left.
#pragma once

#include <utility>

#include <ingot/reductions.hpp>
#include <ingot/reshape.hpp>

namespace ingot {
namespace detail {

template <fold F, fold_rule R, class E>
auto scanned(const char* operation, E&& e, index_t axis) {
    using node = node_of<E>;
    constexpr word code = make_word(word_kind::scan, fold_dtype(R, node::type), static_cast<std::uint32_t>(F));
    using result = binder<code, node, pick>;
    node operand = as_node(std::forward<E>(e));
    shape_room room;
    view_room view;
    layout place = view_scanned(view, operation, operand.extents(room), axis);
    operand.apply(view, 0);
    return result(std::move(operand), 1, pick(std::move(place)));
}

template <array_expression E>
auto cumsum(E&& e, index_t axis) {
    return scanned<fold::sum, fold_rule::sums>("cumsum", std::forward<E>(e), axis);
}
template <array_expression E>
auto cumsum(E&& e) {
    return cumsum(ravel(std::forward<E>(e)), 0);
}

}  // namespace detail

using detail::cumsum;

}  // namespace ingot
