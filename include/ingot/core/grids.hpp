// Grids: the coordinates of their points. All are expressions over positions, which take no memory and are computed
// where they are used; only meshgrid without `sparse_grid` makes arrays.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include <ingot/core/joins.hpp>

namespace ingot {
namespace detail {

// ---- of vectors
// ------------------------------------------------------------------------------------------------------

struct with_ij_indexing {};
struct with_sparse_grid {};
template <class A>
concept grid_tag = std::same_as<A, with_ij_indexing> || std::same_as<A, with_sparse_grid>;
template <class A>
concept grid_argument = array_expression<A> || grid_tag<A>;

/// The options of a meshgrid call, and the number of its vector arguments.
template <class... A>
struct grid_facts {
    static constexpr int rank = (array_expression<A> + ... + 0);
    static constexpr bool by_matrix = (std::same_as<A, with_ij_indexing> || ...);
    static constexpr bool is_sparse = (std::same_as<A, with_sparse_grid> || ...);
    /// Whether all vectors come before the options.
    static constexpr bool in_order = [] {
        bool tags = false, ordered = true;
        ((ordered = ordered && !(tags && array_expression<A>), tags = tags || grid_tag<A>), ...);
        return ordered;
    }();
    static constexpr int axis_of(int i) { return !by_matrix && rank > 1 && i < 2 ? 1 - i : i; }
};

template <class... A>
auto grid_of(const char* operation, const A&... a) {
    using facts = grid_facts<A...>;
    constexpr int rank = facts::rank;
    index_t extents[static_cast<std::size_t>(rank)];
    int k = 0;
    const auto measure = [&](const auto& x) {
        if constexpr (array_expression<decltype(x)>) {
            const shape_like shape = shape_of_expression(x);
            if (shape.count() != 1) throw_wrong_rank(operation, shape.count(), "1");
            extents[facts::axis_of(k++)] = shape[0];
        }
    };
    (measure(a), ...);
    if (!facts::is_sparse) check_extents(operation, extents);
    k = 0;
    const auto grid = [&](const auto& x) {
        if constexpr (array_expression<decltype(x)>) {
            const int along = facts::axis_of(k++);
            view_room view;
            view.old_rank = 1;
            view.new_rank = rank;
            for (int j = 0; j < rank; ++j) view.extents[j] = facts::is_sparse && j != along ? 1 : extents[j];
            view.starts[0] = 0;
            view.walks[0] = {along, 0, 1};
            view.step_count = 1;
            if constexpr (facts::is_sparse)
                return std::tuple(node_seen(x, view));
            else
                return std::tuple(eval(node_seen(x, view)));
        } else {
            return std::tuple();
        }
    };
    return std::apply([](auto&&... each) { return std::tuple_cat(std::move(each)...); },
                      std::tuple<decltype(grid(a))...>{grid(a)...});
}

}  // namespace detail

/// Makes `meshgrid`'s first vector run along the first axis.
///
///     auto [i, j] = meshgrid(array<int>{1, 2}, array<int>{3, 4, 5}, ij_indexing);
///     std::cout << i.shape() << ' ' << j;
///     // prints: (2, 3) [[3 4 5]
///     //          [3 4 5]]
inline constexpr detail::with_ij_indexing ij_indexing{};

/// Makes `meshgrid` give views that have extent 1 along all axes but their own, and cost no memory.
///
///     auto [x, y] = meshgrid(array<int>{1, 2, 3}, array<int>{10, 20}, sparse_grid);
///     std::cout << x.shape() << y.shape() << '\n' << x + y;
///     // prints: (1, 3)(2, 1)
///     //         [[11 12 13]
///     //          [21 22 23]]
inline constexpr detail::with_sparse_grid sparse_grid{};

/// The coordinates of a grid, one array for each axis; the first runs along the second axis, as x does in a picture, or
/// with a last `ij_indexing` along the first. It takes vectors and returns a tuple of arrays of their types, all of the
/// grid's shape; with a last `sparse_grid` a tuple of views. Throws shape_error where an argument is no vector.
///
///     auto [x, y] = meshgrid(array<int>{1, 2, 3}, array<double>{0.5, 1});
///     std::cout << x << '\n' << y;
///     // prints: [[1 2 3]
///     //          [1 2 3]]
///     //         [[0.5 0.5 0.5]
///     //          [1.  1.  1. ]]
template <detail::grid_argument... A>
    requires(detail::grid_facts<A...>::rank > 0 && detail::grid_facts<A...>::in_order)
auto meshgrid(const A&... a) {
    return detail::grid_of("meshgrid", a...);
}

/// Coordinates of a grid along one axis: start, start + step, ... before stop.
///
///     std::cout << mgrid(grid_steps(0, 1, 0.25));
///     // prints: [0.   0.25 0.5  0.75]
struct grid_steps {
    double start, stop, step;
    constexpr grid_steps(double from, double to, double by = 1) : start(from), stop(to), step(by) {}
};
/// Coordinates of a grid along one axis: a number of equidistant points from the first to the last. NumPy writes it as
/// an imaginary step.
///
///     std::cout << mgrid(grid_points(-1, 1, 5));
///     // prints: [-1.  -0.5  0.   0.5  1. ]
struct grid_points {
    double first, last;
    index_t count;
    constexpr grid_points(double from, double to, index_t points) : first(from), last(to), count(points) {}
};

namespace detail {

// ---- of positions
// ----------------------------------------------------------------------------------------------------

/// The integers start, start + step, ... before stop, as in arange. Throws index_error where the stop is open,
/// shape_error where the step is 0.
struct progression {
    index_t start, step, count;
};
INGOT_API progression progression_of(const char* operation, const slice&);

/// A progression of floats. Throws shape_error where the step is 0, it or an end is not finite, or the number of points
/// is negative.
struct float_progression {
    double start, step;
    index_t count;
};
INGOT_API float_progression float_progression_of(const char* operation, const slice&);
INGOT_API float_progression float_progression_of(const char* operation, const grid_steps&);
INGOT_API float_progression float_progression_of(const char* operation, const grid_points&);

/// An argument of mgrid for one axis, and one that makes the axis float64.
template <class S>
concept float_axis = std::same_as<S, grid_steps> || std::same_as<S, grid_points>;
template <class S>
concept grid_axis = std::same_as<S, slice> || float_axis<S>;

/// The indices along one axis, over the whole shape, or with extent 1 along the others.
inline auto positions_along(std::span<const index_t> shape, int axis, bool open, index_t start = 0, index_t step = 1) {
    layout where(static_cast<int>(shape.size()));
    for (int j = 0; j < where.rank(); ++j) {
        where.shape()[j] = open && j != axis ? 1 : shape[static_cast<std::size_t>(j)];
        where.strides()[j] = j == axis ? step : 0;
    }
    where.offset = start;
    return positions(std::move(where));
}

/// The indices of an array of this shape, in int64: those along each axis, stacked along a new first axis. Throws
/// shape_error where an extent is negative.
///
///     std::cout << indices({2, 3});
///     // prints: [[[0 0 0]
///     //           [1 1 1]]
///     //
///     //          [[0 1 2]
///     //           [0 1 2]]]
INGOT_API lazy<index_t> indices(const shape_like& shape);

/// Float coordinates along one axis of that shape.
template <class... S>
auto coordinates_along(std::span<const index_t> shape, int axis, bool open, const float_progression& p) {
    return astype<deferred<double, S...>>(positions_along(shape, axis, open)) * p.step + p.start;
}

/// The result of mgrid over several axes: a `lazy` whose first axis a structured binding unpacks.
template <class T, std::size_t N>
class coordinates : public lazy<T> {
public:
    explicit coordinates(lazy<T> all) : lazy<T>(std::move(all)) {}
    template <std::size_t I>
    auto get() const {
        return lazy<T>((*this)(static_cast<index_t>(I)));
    }
};

/// The coordinates of a grid in int64: those of each slice along its own axis, stacked as in `indices`; one slice gives
/// a vector. A slice gives the values of `arange` with its start, stop and step. With `grid_steps` or `grid_points`
/// among them all are float64. The coordinates along the axes can be unpacked: `auto [y, x] = mgrid(...)`.
///
///     auto [y, x] = mgrid(slice(0, 2), slice(0, 2));
///     std::cout << 10 * y + x << '\n';
///     std::cout << mgrid(slice(0, 2), slice(1, 6, 2)) << '\n' << mgrid(slice(-1, 2));
///     // prints: [[ 0  1]
///     //          [10 11]]
///     //         [[[0 0 0]
///     //           [1 1 1]]
///     //
///     //          [[1 3 5]
///     //           [1 3 5]]]
///     //         [-1  0  1]
template <std::same_as<slice>... S>
    requires(sizeof...(S) > 0)
auto mgrid(const S&... s) {
    const progression each[] = {progression_of("mgrid", s)...};
    index_t extents[sizeof...(S)];
    for (std::size_t k = 0; k < sizeof...(S); ++k) extents[k] = each[k].count;
    check_extents("mgrid", extents);
    if constexpr (sizeof...(S) == 1) {
        return positions_along(extents, 0, false, each[0].start, each[0].step);
    } else {
        lazy_parts<deferred<index_t, S...>> parts;
        for (int k = 0; const progression& p : each)
            parts.push_back(expand_dims(positions_along(extents, k++, false, p.start, p.step), 0));
        return coordinates<deferred<index_t, S...>, sizeof...(S)>(joined("mgrid", std::move(parts), 0));
    }
}

template <grid_axis... S>
    requires(float_axis<S> || ...)
auto mgrid(const S&... s) {
    const float_progression each[] = {float_progression_of("mgrid", s)...};
    index_t extents[sizeof...(S)];
    for (std::size_t k = 0; k < sizeof...(S); ++k) extents[k] = each[k].count;
    check_extents("mgrid", extents);
    if constexpr (sizeof...(S) == 1) {
        return coordinates_along<S...>(extents, 0, false, each[0]);
    } else {
        lazy_parts<deferred<double, S...>> parts;
        for (int k = 0; const float_progression& p : each)
            parts.push_back(expand_dims(coordinates_along<S...>(extents, k++, false, p), 0));
        return coordinates<deferred<double, S...>, sizeof...(S)>(joined("mgrid", std::move(parts), 0));
    }
}

/// The coordinates of a grid in int64, each with extent 1 along the axes of the others, as a tuple; one slice gives a
/// vector. With `grid_steps` or `grid_points` among them all are float64.
///
///     auto [y, x] = ogrid(slice(0, 2), slice(0, 3));
///     std::cout << y.shape() << x.shape() << '\n' << 10 * y + x;
///     // prints: (2, 1)(1, 3)
///     //         [[ 0  1  2]
///     //          [10 11 12]]
template <std::same_as<slice>... S>
    requires(sizeof...(S) > 0)
auto ogrid(const S&... s) {
    const progression each[] = {progression_of("ogrid", s)...};
    index_t extents[sizeof...(S)];
    for (std::size_t k = 0; k < sizeof...(S); ++k) extents[k] = each[k].count;
    if constexpr (sizeof...(S) == 1) {
        return positions_along(extents, 0, true, each[0].start, each[0].step);
    } else {
        int k = 0;
        const auto along = [&](const progression& p) { return positions_along(extents, k++, true, p.start, p.step); };
        return std::apply([&](const auto&... p) { return std::tuple{along(p)...}; }, std::to_array(each));
    }
}

template <grid_axis... S>
    requires(float_axis<S> || ...)
auto ogrid(const S&... s) {
    const float_progression each[] = {float_progression_of("ogrid", s)...};
    index_t extents[sizeof...(S)];
    for (std::size_t k = 0; k < sizeof...(S); ++k) extents[k] = each[k].count;
    if constexpr (sizeof...(S) == 1) {
        return coordinates_along<S...>(extents, 0, true, each[0]);
    } else {
        int k = 0;
        const auto along = [&](const float_progression& p) { return coordinates_along<S...>(extents, k++, true, p); };
        return std::apply([&](const auto&... p) { return std::tuple{along(p)...}; }, std::to_array(each));
    }
}

/// Vectors of indices, each along its own axis and with extent 1 along the others, as a tuple of views. Throws
/// shape_error where an argument is no vector.
///
///     auto [rows, columns] = ix_(array<int>{0, 2}, array<int>{1, 3, 5});
///     std::cout << rows.shape() << ' ' << columns.shape();
///     // prints: (2, 1) (1, 3)
template <array_expression... E>
    requires(sizeof...(E) > 0) && (integer_argument<typename E::value_type> && ...)
auto ix_(const E&... e) {
    return grid_of("ix_", e..., ij_indexing, sparse_grid);
}

/// Calls f with the indices of an array of this shape, given in braces: one expression for each axis, by default
/// float64. The result is f's, of that shape.
///
///     std::cout << fromfunction<int>([](auto i, auto j) { return 10 * i + j; }, {2, 3});
///     // prints: [[ 0  1  2]
///     //          [10 11 12]]
template <element_type T = double, std::size_t N, class F>
auto fromfunction(const F& f, const index_t (&shape)[N]) {
    check_extents("fromfunction", shape);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return f(astype<T>(positions_along(shape, static_cast<int>(K), false))...);
    }(std::make_index_sequence<N>());
}

}  // namespace detail

using detail::fromfunction;
using detail::indices;
using detail::ix_;
using detail::mgrid;
using detail::ogrid;

}  // namespace ingot

// Inner
template <class T, std::size_t N>
struct std::tuple_size<ingot::detail::coordinates<T, N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, class T, std::size_t N>
struct std::tuple_element<I, ingot::detail::coordinates<T, N>> {
    using type = ingot::lazy<T>;
};
