// take(e, indices, axis): slices of an expression, selected by an index expression.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <ingot/core/functions.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/reshape.hpp>

namespace ingot {

using detail::index_mode;

namespace detail {

/// Checks indices of an axis of this extent that no kernel reads; one outside is reported as by any gather.
INGOT_API void check_unread(const lazy<index_t>& indices, index_t extent);

/// Checks the indices of gathers along the last axes of a source if the result has no elements, since then no kernel
/// checks them.
template <index_mode Mode, class Source, class... Index>
void check_if_unread(const Source& source, const Index&... indices) {
    if constexpr (Mode == index_mode::check) {
        shape_room room;
        const extents_ref shape = source.extents(room);
        const int rank = shape.rank - static_cast<int>(sizeof...(Index));
        if (extents_ref{shape.data, rank}.size() != 0) return;
        const index_t* extent = shape.data + rank;
        (check_unread(lazy<index_t>(astype<deferred<index_t, Index>>(indices)), *extent++), ...);
    }
}

/// The elements of `e` along `axis` at `indices`, integers, whose axes replace that axis; without an axis the elements
/// of e in C order. The result has e's type. `Mode` says what an index outside does: with `check` the next wait throws
/// index_error. Throws shape_error where e does not have the axis, index_error where that is empty, device_error where
/// both are on different devices.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}};
///     auto columns = take(m, array<int>{2, 0}, 1);
///     std::cout << columns << ' ' << take<index_mode::wrap>(m, array<int>{-1});
///     // prints: [[3. 1.]
///     //          [6. 4.]] [6.]
template <index_mode Mode = index_mode::check, array_expression E, array_expression I>
    requires std::integral<typename std::remove_cvref_t<I>::value_type> &&
             (!std::same_as<typename std::remove_cvref_t<I>::value_type, bool>)
auto take(E&& e, I&& indices, index_t axis, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    using source_node = node_of<E>;
    using index_node = node_of<I>;
    constexpr word code = make_word(word_kind::gather, source_node::type, static_cast<std::uint32_t>(Mode));
    using result = binder<code, source_node, index_node>;
    source_node source = as_node(std::forward<E>(e));
    index_node index = as_node(std::forward<I>(indices));
    if (const device_id a = source.on_device(), b = index.on_device(); !may_meet(a, b)) throw_two_devices("take", a, b);
    shape_room source_room, index_room;
    view_room source_view, index_view;
    view_gathered(source_view, index_view, "take", source.extents(source_room), index.extents(index_room), axis);
    source.apply(source_view, 0);
    check_if_unread<Mode>(source, index);
    index.apply(index_view, 0);
    return result(std::move(source), 1, std::move(index));
}

template <index_mode Mode = index_mode::check, array_expression E, array_expression I>
auto take(E&& e, I&& indices) {
    return take<Mode>(ravel(std::forward<E>(e)), std::forward<I>(indices), 0);
}

}  // namespace detail

using detail::take;

}  // namespace ingot
