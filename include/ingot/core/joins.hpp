// Joins: expressions concatenated along an axis, in the dtype to which they promote.
//
// A join is a `lazy`, which fuses with the expressions around it. Each part is read at its own indices; beyond its ends
// it is read at the nearest one, whose value is not used:
//     concatenate(a, b) = where(position < n, a at position, b at position - n)
// So every element tests all parts. A join of more than `most_lazy_parts` is written at once instead, and the lazy is
// over that array. Parts of one shape are written by one kernel, which computes what they share once.
#pragma once

#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>

namespace ingot {

/// An axis, or `none`: all elements in C order, along one axis.
class axis_or_none {
public:
    constexpr axis_or_none(none_t) : flat_(true) {}
    template <detail::integer_argument I>
    constexpr axis_or_none(I axis) : axis_(detail::as_index(axis)) {}

    // Inner
    constexpr bool is_none() const { return flat_; }
    constexpr index_t axis() const { return axis_; }

private:
    index_t axis_ = 0;
    bool flat_ = false;
};

namespace detail {

/// Joins of more parts are written part by part.
inline constexpr std::size_t most_lazy_parts = 8;

/// Promotes several dtypes as NumPy does: each is first promoted with the greatest, so their order does not matter.
template <std::size_t N>
constexpr dtype promote_all(const dtype (&types)[N]) {
    dtype greatest = types[0], result;
    for (const dtype t : types) greatest = t > greatest ? t : greatest;
    result = greatest;
    for (const dtype t : types) result = promote(result, promote(greatest, t));
    return result;
}

// ---- what is joined ----------------------------------------------------------------------------------------------

template <class P>
struct parts_facts {
    static constexpr bool are_parts = false;
};
template <class... E>
    requires(array_expression<E> && ...) && (sizeof...(E) > 0)
struct parts_facts<std::tuple<E...>> {
    static constexpr bool are_parts = true;
    static constexpr dtype type = promote_all({std::remove_cvref_t<E>::type...});
};
template <values_of_host R>
    requires array_expression<value_of<R>>
struct parts_facts<R> {
    static constexpr bool are_parts = true;
    static constexpr dtype type = value_of<R>::type;
};

/// Operands of a join: a tuple of expressions of any types, or a range of expressions.
template <class P>
concept parts_argument = parts_facts<P>::are_parts;
template <class P>
using type_of_parts = type_of<parts_facts<P>::type>;

template <class T>
using lazy_parts = std::vector<lazy<T>>;

/// Each part transformed by `made`, in the type of the result.
template <class P, class Make>
auto parts_of(const P& parts, const Make& made) {
    using T = type_of_parts<P>;
    lazy_parts<T> all;
    const auto add = [&](const auto& part) { all.push_back(lazy<T>(made(part))); };
    if constexpr (values_of_host<P>)
        for (auto it = std::begin(parts), end = std::end(parts); it != end; ++it) add(*it);
    else
        std::apply([&](const auto&... part) { (add(part), ...); }, parts);
    return all;
}
template <class P>
auto parts_of(const P& parts) {
    return parts_of(parts, [](const auto& part) -> const auto& { return part; });
}

/// The shape to which shapes broadcast. Throws shape_error.
INGOT_API shape_like broadcast_shape_of(const char* operation, std::span<const shape_like> shapes);

/// Expressions broadcast to their common shape, read-only: as a tuple; from a range or a list in braces as a vector.
/// Throws shape_error where they do not broadcast.
///
///     auto [x, y] = broadcast_arrays(array<int>{1, 2, 3}, array<int>{4, 5}(all, newaxis));
///     std::cout << x << '\n' << y;
///     // prints: [[1 2 3]
///     //          [1 2 3]]
///     //         [[4 4 4]
///     //          [5 5 5]]
template <array_expression... E>
    requires(sizeof...(E) > 0)
auto broadcast_arrays(E&&... e) {
    const deferred<shape_like, E...> shapes[] = {shape_of_expression(e)...};
    const shape_like shape = broadcast_shape_of("broadcast_arrays", shapes);
    return std::tuple(broadcast_to(std::forward<E>(e), shape)...);
}
template <parts_argument P>
auto broadcast_arrays(const P& parts) {
    if constexpr (values_of_host<P>) {
        std::vector<deferred<shape_like, P>> shapes;
        for (auto it = std::begin(parts), end = std::end(parts); it != end; ++it)
            shapes.push_back(shape_of_expression(*it));
        const shape_like shape = broadcast_shape_of("broadcast_arrays", shapes);
        std::vector<decltype(broadcast_to(*std::begin(parts), shape))> all;
        for (auto it = std::begin(parts), end = std::end(parts); it != end; ++it)
            all.push_back(broadcast_to(*it, shape));
        return all;
    } else {
        return std::apply([](const auto&... part) { return broadcast_arrays(part...); }, parts);
    }
}
template <array_expression E>
auto broadcast_arrays(std::initializer_list<E> parts) {
    return broadcast_arrays<std::initializer_list<E>>(parts);
}

// ---- how they are joined -------------------------------------------------------------------------------------------

/// Throws shape_error unless all have one shape.
INGOT_API void check_alike(const char* operation, std::span<const other_operand> parts);

template <class T>
std::vector<other_operand> facts_of_parts(const lazy_parts<T>& parts) {
    std::vector<deferred<other_operand, T>> all;
    shape_room unused;
    for (const lazy<T>& p : parts) all.push_back({p.on_device(), p.extents(unused)});
    return all;
}

/// The library has it for every dtype. Throws shape_error where there is nothing to join, or shapes differ on other
/// axes, device_error where parts are on different devices.
template <class T>
INGOT_API lazy<T> joined(const char* operation, lazy_parts<T> parts, index_t axis);

/// Parts of one shape joined along a new axis. Throws as `joined`.
template <class T>
INGOT_API lazy<T> joined_along_new(const char* operation, lazy_parts<T> parts, int axis);

/// Parts joined along an axis; with `none` each part in C order.
template <class P>
auto concatenated(const P& parts, const axis_or_none& axis) {
    if (!axis.is_none()) return joined("concatenate", parts_of(parts), axis.axis());
    return joined("concatenate", parts_of(parts, [](const auto& part) { return ravel(part); }), 0);
}
template <class P>
auto stacked(const P& parts, index_t axis) {
    auto all = parts_of(parts);
    check_alike("stack", facts_of_parts(all));
    const int at = checked_axis("stack", axis, all.front().ndim() + 1);
    return joined_along_new("stack", std::move(all), at);
}
template <class P>
auto stacked_horizontally(const P& parts) {
    auto all = parts_of(parts, [](const auto& part) { return viewed_to_read(part, view_at_least, 1); });
    const index_t axis = all.empty() || all.front().ndim() == 1 ? 0 : 1;
    return joined("hstack", std::move(all), axis);
}
template <class P>
auto stacked_vertically(const P& parts) {
    return joined("vstack", parts_of(parts, [](const auto& part) { return viewed_to_read(part, view_at_least, 2); }),
                  0);
}
template <class P>
auto stacked_in_depth(const P& parts) {
    return joined("dstack", parts_of(parts, [](const auto& part) { return viewed_to_read(part, view_at_least, 3); }),
                  2);
}
template <class P>
auto stacked_as_columns(const P& parts) {
    return joined("column_stack", parts_of(parts, [](const auto& part) { return viewed_to_read(part, view_columns); }),
                  1);
}

// Overloads for a list in braces and for a tuple or a range.
#define INGOT_JOIN_ALONG(name, axis_type, made)                                                              \
    template <array_expression E>                                                                            \
    auto name(std::initializer_list<E> parts, const axis_type& axis = 0,                                     \
              const source_place& at = source_place::current()) {                                            \
        const in_statement of_the_user(at);                                                                  \
        return made(parts, axis);                                                                            \
    }                                                                                                        \
    template <parts_argument P>                                                                              \
    auto name(const P& parts, const axis_type& axis = 0, const source_place& at = source_place::current()) { \
        const in_statement of_the_user(at);                                                                  \
        return made(parts, axis);                                                                            \
    }
#define INGOT_JOIN(name, made)                  \
    template <array_expression E>               \
    auto name(std::initializer_list<E> parts) { \
        return made(parts);                     \
    }                                           \
    template <parts_argument P>                 \
    auto name(const P& parts) {                 \
        return made(parts);                     \
    }

/// Concatenates expressions along an axis that they have, or with `none` each in C order. They are `{a, b}` of one
/// type, a tuple of any types, which promote, or a range. Up to eight parts give a `lazy`, which fuses with the
/// expressions around it; more are written at once. Throws shape_error where there are none or they differ on another
/// axis, device_error where they are on different devices.
///
///     array<int> a{{1, 2}, {3, 4}}, b{{5, 6}};
///     std::cout << concatenate({a, b}) << '\n' << concatenate(std::tuple{a, transpose(b) * 0.5}, 1);
///     std::cout << '\n' << concatenate({a, b}, none);
///     // prints: [[1 2]
///     //          [3 4]
///     //          [5 6]]
///     //         [[1.  2.  2.5]
///     //          [3.  4.  3. ]]
///     //         [1 2 3 4 5 6]
INGOT_JOIN_ALONG(concatenate, axis_or_none, concatenated)
INGOT_REJECTED("arrays stand in braces, of several types in a tuple: concatenate({x, y})",
               (array_expression A, array_expression... B), (sizeof...(B) > 0),
               ::ingot::detail::rejected concatenate(const A&, const B&...))

/// Joins expressions of one shape along a new axis at that position of the result; they are given as in `concatenate`.
/// Throws shape_error where shapes differ.
///
///     array<int> a{1, 2, 3}, b{4, 5, 6};
///     std::cout << stack({a, b}) << '\n' << stack({a, b}, -1);
///     // prints: [[1 2 3]
///     //          [4 5 6]]
///     //         [[1 4]
///     //          [2 5]
///     //          [3 6]]
INGOT_JOIN_ALONG(stack, index_t, stacked)
INGOT_REJECTED("arrays stand in braces, of several types in a tuple: stack({x, y})",
               (array_expression A, array_expression... B), (sizeof...(B) > 0),
               ::ingot::detail::rejected stack(const A&, const B&...))

/// Joins side by side: along the second axis; vectors along their only one. Parts are given as in `concatenate`.
///
///     array<int> a{1, 2}, b{3};
///     std::cout << hstack({a, b}) << '\n' << hstack({a(all, newaxis), a(all, newaxis)});
///     // prints: [1 2 3]
///     //         [[1 1]
///     //          [2 2]]
INGOT_JOIN(hstack, stacked_horizontally)

/// Joins vertically: along the first axis; vectors are rows. Parts are given as in `concatenate`.
///
///     std::cout << vstack({array<int>{1, 2}, array<int>{3, 4}});
///     // prints: [[1 2]
///     //          [3 4]]
INGOT_JOIN(vstack, stacked_vertically)

/// Joins along the third axis, each part as `atleast_3d`. Parts are given as in `concatenate`.
///
///     std::cout << dstack({array<int>{1, 2}, array<int>{3, 4}});
///     // prints: [[[1 3]
///     //           [2 4]]]
INGOT_JOIN(dstack, stacked_in_depth)

/// Joins vectors as the columns of a matrix, and matrices side by side. Parts are given as in `concatenate`.
///
///     std::cout << column_stack(std::tuple{array<int>{1, 2}, array<double>{{3, 4}, {5, 6}}});
///     // prints: [[1. 3. 4.]
///     //          [2. 5. 6.]]
INGOT_JOIN(column_stack, stacked_as_columns)
#undef INGOT_JOIN
#undef INGOT_JOIN_ALONG

/// Appends `values` to `e`: both in C order, or along an axis; in the dtype to which both promote. A number beside e
/// has only its kind. Throws what `concatenate` does.
///
///     std::cout << append(array<int>{1, 2}, array<int>{{3, 4}, {5, 6}}) << ' ' << append(array<float>{1, 2}, 0.5);
///     // prints: [1 2 3 4 5 6] [1.  2.  0.5]
template <array_expression E, array_expression V>
auto append(const E& e, const V& values, const axis_or_none& axis = none) {
    const std::tuple<const E&, const V&> parts(e, values);
    if (!axis.is_none()) return joined("append", parts_of(parts), axis.axis());
    return joined("append", parts_of(parts, [](const auto& part) { return ravel(part); }), 0);
}
template <array_expression E, weak_scalar S>
auto append(const E& e, S value) {
    using T = type_of<promote_weak(node_of<E>::type, kind_of(weak_dtype<S>()))>;
    return append(e, element_leaf<T>("append", value));
}

}  // namespace detail

/// The shape to which shapes broadcast. Throws shape_error where they do not.
///
///     std::cout << broadcast_shapes({1, 2}, {3, 1}) << ' ' << broadcast_shapes({6, 7}, {5, 6, 1}, {7}, {5, 1, 7});
///     // prints: (3, 2) (5, 6, 7)
INGOT_API shape_like broadcast_shapes(const shape_like& a, const shape_like& b = {}, const shape_like& c = {},
                                      const shape_like& d = {});

using detail::append;
using detail::broadcast_arrays;
using detail::column_stack;
using detail::concatenate;
using detail::dstack;
using detail::hstack;
using detail::stack;
using detail::vstack;

}  // namespace ingot
