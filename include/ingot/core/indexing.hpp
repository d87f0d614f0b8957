// The indices of x(i, all, slice(1, -1), newaxis, ellipsis): integers, slices and tags, and the plain structs that hold
// them. The library turns them into a view of a shape (runtime/trees/views.cpp).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include <ingot/core/export.hpp>
#include <ingot/core/shape.hpp>

namespace ingot {

/// An open end of a slice.
struct none_t {};

/// The open end of a slice.
///
///     std::cout << arange(5)(slice(2, none));
///     // prints: [2 3 4]
inline constexpr none_t none{};

class keepdims_t;
namespace detail {
struct expression_base;
}
/// The concept array_expression (expression.hpp) before that is defined.
template <class E>
concept array_argument = std::derived_from<std::remove_cvref_t<E>, detail::expression_base>;

/// The index `:`, and the reduction all(e), all(e, axes), each with a last `keepdims` (reductions.hpp).
struct all_t {
    /// Whether all elements are true, that is not 0: over all axes, or over those given. The result is bool, true for
    /// no elements, with e's shape without the reduced axes; `keepdims` keeps them with extent 1. Throws shape_error
    /// where e does not have such an axis.
    ///
    ///     array<int> m{{1, 2, 3}, {4, 5, 6}};
    ///     std::cout << all(m > 0) << ' ' << all(m > 1, 1) << ' ' << all(m > 1, 1, keepdims).shape();
    ///     // prints: True [False  True] (2, 1)
    template <array_argument E>
    auto operator()(E&& e) const;
    template <array_argument E>
    auto operator()(E&& e, const keepdims_t&) const;
    template <array_argument E>
    auto operator()(E&& e, const axes& over) const;
    template <array_argument E>
    auto operator()(E&& e, const axes& over, const keepdims_t&) const;
};

/// All indices of an axis, and the reduction `all`.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << m(all, 1) << ' ' << all(m > 0).item();
///     // prints: [2 5] 1
inline constexpr all_t all{};

/// A new axis of extent 1.
struct newaxis_t {};

/// A new axis of extent 1.
///
///     std::cout << array<int>{1, 2, 3}(newaxis, all).shape();
///     // prints: (1, 3)
inline constexpr newaxis_t newaxis{};

/// As many `all` as the axes that the other indices leave.
struct ellipsis_t {};

/// As many `all` as the axes that the other indices leave.
///
///     std::cout << zeros({2, 3, 4})(ellipsis, 0).shape();
///     // prints: (2, 3)
inline constexpr ellipsis_t ellipsis{};

namespace detail {
/// An end of a slice that is open.
inline constexpr index_t open_end = std::numeric_limits<index_t>::min();

struct slice_end {
    index_t value;
    constexpr slice_end(none_t) : value(open_end) {}
    template <integer_argument I>
    constexpr slice_end(I i) : value(as_index(i)) {
        if (value == open_end) ++value;  // a number, not `open_end`
    }
};
}  // namespace detail

/// Elements from `start` to before `stop` by `step`. Negative ends count from the end of the axis; both are clamped.
/// `none` is an open end.
///
///     const slice s(1, -1, 2);
///     std::cout << arange(8)(s) << ' ' << arange(4)(slice(none, none, -1)) << '\n';
///     std::cout << s.start() << ' ' << s.stop() << ' ' << s.step();
///     // prints: [1 3 5] [3 2 1 0]
///     //         1 -1 2
class slice {
public:
    constexpr explicit slice(detail::slice_end start, detail::slice_end stop = none, index_t step = 1)
        : start_(start.value), stop_(stop.value), step_(step) {}

    /// The start, as it was given.
    constexpr index_t start() const noexcept { return start_; }
    /// The index before which it ends, as it was given.
    constexpr index_t stop() const noexcept { return stop_; }
    /// The distance between its elements.
    constexpr index_t step() const noexcept { return step_; }

private:
    index_t start_, stop_, step_;
};

namespace detail {

template <class I>
concept index_argument = integer_argument<I> || std::same_as<I, slice> || std::same_as<I, all_t> ||
                         std::same_as<I, newaxis_t> || std::same_as<I, ellipsis_t>;

/// An array of indices, or a mask.
template <class I>
concept integer_array = array_argument<I> && std::integral<typename std::remove_cvref_t<I>::value_type> &&
                        (!std::same_as<typename std::remove_cvref_t<I>::value_type, bool>);
template <class I>
concept mask_array = array_argument<I> && std::same_as<typename std::remove_cvref_t<I>::value_type, bool>;
/// An index of x(...) with index arrays and masks (array_indexing.hpp). A bool is a mask of no axes; x(true) alone does
/// not compile, since it is probably a mistaken comparison of numbers.
template <class I>
concept any_index = index_argument<std::remove_cvref_t<I>> || integer_array<I> || mask_array<I> ||
                    std::same_as<std::remove_cvref_t<I>, bool>;
template <class... I>
concept indices_with_arrays =
    (any_index<I> && ...) &&
    ((array_argument<I> || ...) || (sizeof...(I) > 1 && (std::same_as<std::remove_cvref_t<I>, bool> || ...)));
/// Several indices as one argument.
template <class I>
inline constexpr bool holds_indices = false;
template <class... I>
inline constexpr bool holds_indices<std::tuple<I...>> = (any_index<I> && ...);
template <class I, std::size_t N>
inline constexpr bool holds_indices<std::array<I, N>> = any_index<I> && !std::same_as<I, bool>;
template <class I>
concept index_tuple = holds_indices<I>;

/// One index in the library's form.
struct index_item {
    enum class form : std::uint8_t { integer, slice, newaxis, ellipsis, array };
    form what;
    index_t start = 0, stop = 0, step = 1;
};

template <index_argument I>
constexpr index_item as_index_item(I i) {
    using enum index_item::form;
    if constexpr (integer_argument<I>)
        return {integer, as_index(i)};
    else if constexpr (std::same_as<I, ingot::slice>)
        return {slice, i.start(), i.stop(), i.step()};
    else if constexpr (std::same_as<I, all_t>)
        return {slice, open_end, open_end};
    else if constexpr (std::same_as<I, newaxis_t>)
        return {newaxis};
    else
        return {ellipsis};
}

/// A view with storage for its numbers on the stack.
struct view_room : axis_view {
    view_room() noexcept {
        new_shape = extents;
        start = starts;
        steps = walks;
    }
    view_room(const view_room&) = delete;
    view_room& operator=(const view_room&) = delete;

    index_t extents[max_rank];
    index_t starts[max_rank];
    step walks[2 * max_rank];
};

/// Throws shape_error where there are fewer than `count` axes.
INGOT_API void want_axes(const char* operation, extents_ref shape, int count);
/// The view that a list of indices takes of a shape. Throws index_error.
INGOT_API void view_by_index(view_room&, extents_ref shape, const index_item* items, int count);
/// The view that a slice of one axis takes of a shape. Throws shape_error, index_error.
INGOT_API void view_sliced(view_room&, extents_ref shape, const char* operation, index_t axis, const index_item&);
// Views for the functions of views.hpp and windows.hpp; they throw shape_error. Null axes mean: all reversed
// (permuted), all flipped, all of extent 1 squeezed, all windowed.
INGOT_API void view_permuted(view_room&, extents_ref shape, const axes* order, const char* operation);
INGOT_API void view_axis_moved(view_room&, extents_ref shape, const axes& from, const axes& to);
INGOT_API void view_axes_swapped(view_room&, extents_ref shape, index_t a, index_t b);
INGOT_API void view_flipped(view_room&, extents_ref shape, const axes* which);
INGOT_API void view_squeezed(view_room&, extents_ref shape, const axes* which);
INGOT_API void view_expanded(view_room&, extents_ref shape, const axes& which);
INGOT_API void view_broadcast(view_room&, extents_ref from, const char* operation, std::span<const index_t> to);
INGOT_API void view_axis_rolled(view_room&, extents_ref shape, index_t axis, index_t start);
INGOT_API void view_matrices_transposed(view_room&, extents_ref shape, const char* operation);
INGOT_API void view_mirrored(view_room&, extents_ref shape, const char* operation, int axis);
INGOT_API void view_rotated(view_room&, extents_ref shape, index_t turns, const axes& plane);
INGOT_API void view_at_least(view_room&, extents_ref shape, int rank);
INGOT_API void view_with_axes(view_room&, extents_ref shape, int rank);
INGOT_API void view_columns(view_room&, extents_ref shape);
INGOT_API void view_windows(view_room&, extents_ref shape, std::span<const index_t> window, const axes* over);
INGOT_API void view_diagonal(view_room&, extents_ref shape, index_t offset, index_t axis1, index_t axis2);

}  // namespace detail
}  // namespace ingot
