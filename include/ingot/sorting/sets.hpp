// Arrays as sets: their distinct elements in order, and set operations on them. The number of results depends on the
// elements, so all functions wait for it.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include <ingot/core/compaction.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/sorting/searching.hpp>

namespace ingot {

/// The distinct elements of an array in order, the index of each one's first occurrence, its number of occurrences, and
/// for each element of the array, in the array's shape, which of them it is.
template <class T>
struct unique_elements {
    array<T> values;
    array<std::int64_t> indices, counts, inverse_indices;
};

/// The distinct elements of an array in order, and the number of occurrences of each.
template <class T>
struct counted_elements {
    array<T> values;
    array<std::int64_t> counts;
};

/// The distinct elements of an array in order, and for each element of the array, in the array's shape, which of them
/// it is.
template <class T>
struct numbered_elements {
    array<T> values;
    array<std::int64_t> inverse_indices;
};

namespace detail {

template <class E>
concept ordered_array =
    array_expression<E> && kind_of(dtype_of<typename std::remove_cvref_t<E>::value_type>) != kind::complex;

// The library has these for every real dtype.

/// The distinct elements in order; all NaN are one, the last, or each is distinct.
template <class T>
INGOT_API array<T> distinct_elements(const lazy<T>&, bool nan_is_one);
/// The parts that `unique_all` gives beside the values.
struct distinct_parts {
    bool indices = false, counts = false, inverse = false;
};
/// The distinct elements, each NaN being distinct, and the parts that are asked for.
template <class T>
INGOT_API unique_elements<T> number_elements(const lazy<T>&, distinct_parts);
/// Whether each element of e is one of `test`'s.
template <class T>
INGOT_API array<bool> is_among(const lazy<T>& e, const lazy<T>& test);
/// The distinct elements of both.
template <class T>
INGOT_API array<T> union_of(const lazy<T>&, const lazy<T>&);

template <class T, class E>
lazy<T> lazily_as(const E& e) {
    return lazy<T>(as_values<T>(e));
}

/// The distinct elements in order, along one axis and in e's type; all NaN are one, the last. Waits for their number.
///
///     std::cout << unique(array<int>{{3, 1}, {1, 2}});
///     // prints: [1 2 3]
template <ordered_array E>
auto unique(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return distinct_elements(lazy<typename E::value_type>(e), true);
}

/// The distinct elements in order, as `unique`, but each NaN is distinct, as in the array API.
///
///     std::cout << unique_values(array<double>{2, NAN, 1, NAN, 2});
///     // prints: [ 1.  2. nan nan]
template <ordered_array E>
auto unique_values(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return distinct_elements(lazy<typename E::value_type>(e), false);
}

/// The distinct elements and the number of occurrences of each. Each NaN is distinct.
///
///     const auto [values, counts] = unique_counts(array<int>{5, 3, 5, 9, 3, 5});
///     std::cout << values << counts;
///     // prints: [3 5 9][2 3 1]
template <ordered_array E>
auto unique_counts(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename E::value_type;
    unique_elements<T> u = number_elements(lazy<T>(e), {.counts = true});
    return counted_elements<T>{std::move(u.values), std::move(u.counts)};
}

/// The distinct elements, and for each element, in e's shape, which of them it is. Each NaN is distinct.
///
///     const auto [values, inverse] = unique_inverse(array<int>{{5, 3}, {5, 9}});
///     std::cout << values << inverse;
///     // prints: [3 5 9][[1 0]
///     //          [1 2]]
template <ordered_array E>
auto unique_inverse(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename E::value_type;
    unique_elements<T> u = number_elements(lazy<T>(e), {.inverse = true});
    return numbered_elements<T>{std::move(u.values), std::move(u.inverse_indices)};
}

/// The distinct elements, the index of each one's first occurrence, its number of occurrences, and for each element
/// which of them it is. Each NaN is distinct.
///
///     array<int> x{5, 3, 5, 9, 3, 5};
///     const auto u = unique_all(x);
///     std::cout << u.values << u.indices << u.counts << u.inverse_indices << all(u.values(u.inverse_indices) == x);
///     // prints: [3 5 9][1 0 3][2 3 1][1 0 1 2 0 1]True
template <ordered_array E>
auto unique_all(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return number_elements(lazy<typename E::value_type>(e), {.indices = true, .counts = true, .inverse = true});
}

/// Whether each element is one of `test`'s: bool, in e's shape; NaN never is. Both are compared in the type to which
/// they promote; values in braces have e's type.
///
///     std::cout << isin(array<int>{{1, 2}, {3, 4}}, array<int>{2, 4, 8}) << ' ' << isin(array<int>{1, 2, 3}, {1, 2});
///     // prints: [[False  True]
///     //          [False  True]] [ True  True False]
template <ordered_array E, ordered_array S>
array<bool> isin(const E& e, const S& test, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = type_of<compared_in<E, S>()>;
    return is_among(lazily_as<T>(e), lazily_as<T>(test));
}

template <ordered_array E>
array<bool> isin(const E& e, braces<typename E::value_type> test, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return isin(e, array<typename E::value_type>(test));
}

template <class A, class B>
using common_type = type_of<promote(dtype_of<typename A::value_type>, dtype_of<typename B::value_type>)>;

/// The distinct elements of both, in order, in the type to which they promote.
///
///     std::cout << union1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [1 2 3 4]
template <ordered_array A, ordered_array B>
auto union1d(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = common_type<A, B>;
    return union_of(lazily_as<T>(a), lazily_as<T>(b));
}

/// The distinct elements that both have, in order, in the type to which they promote.
///
///     std::cout << intersect1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [2]
template <ordered_array A, ordered_array B>
auto intersect1d(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = common_type<A, B>;
    const array<T> mine = distinct_elements(lazily_as<T>(a), true);
    return array<T>(mine(isin(mine, b)));
}

/// The distinct elements of `a` that `b` does not have, in order and in the type of `a`.
///
///     std::cout << setdiff1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [1 4]
template <ordered_array A, ordered_array B>
auto setdiff1d(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const auto mine = unique(a);
    return array<typename A::value_type>(mine(!isin(mine, b)));
}

/// The distinct elements that exactly one of the two has, in order.
///
///     std::cout << setxor1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [1 3 4]
template <ordered_array A, ordered_array B>
auto setxor1d(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = common_type<A, B>;
    return union_of(lazily_as<T>(setdiff1d(a, b)), lazily_as<T>(setdiff1d(b, a)));
}

}  // namespace detail

using detail::intersect1d;
using detail::isin;
using detail::setdiff1d;
using detail::setxor1d;
using detail::union1d;
using detail::unique;
using detail::unique_all;
using detail::unique_counts;
using detail::unique_inverse;
using detail::unique_values;

}  // namespace ingot
