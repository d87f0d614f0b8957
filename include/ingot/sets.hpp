// Arrays as sets: their different elements, in order, and what of them is in others. How many there are depends on the
// elements, so all of these wait for it.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include <ingot/compaction.hpp>
#include <ingot/creation.hpp>
#include <ingot/joins.hpp>
#include <ingot/reductions.hpp>
#include <ingot/reshape.hpp>
#include <ingot/scans.hpp>
#include <ingot/searching.hpp>
#include <ingot/sorting.hpp>

namespace ingot {

/// The different elements of an array in order, where each is first, how often it is there, and which of them each
/// element of the array is, in the array's shape.
template <class T>
struct unique_elements {
    array<T> values;
    array<std::int64_t> indices, counts, inverse_indices;
};

namespace detail {

template <class E>
concept ordered_array =
    array_expression<E> && kind_of(dtype_of<typename std::remove_cvref_t<E>::value_type>) != kind::complex;

/// Whether an element of sorted ones is another than the one before; all NaN are one.
template <class T>
array<bool> begins(const array<T>& sorted) {
    const index_t n = sorted.size();
    array<deferred<bool, T>> first = ones<bool>({n});
    if (n < 2) return first;
    const auto before = sorted(slice(0, n - 1)), behind = sorted(slice(1, n));
    if constexpr (kind_of(dtype_of<T>) == kind::floating)
        first(slice(1, n)) = before != behind && !(isnan(before) && isnan(behind));
    else
        first(slice(1, n)) = before != behind;
    return first;
}
/// How often there is what begins at these of n sorted elements.
INGOT_API array<index_t> counts_of_starts(const array<index_t>& starts, index_t n);
/// Which of the different ones, that `first` begins, each element is that sorting ordered so.
INGOT_API array<index_t> numbers_of_sorted(const array<index_t>& order, const array<bool>& first);

/// Of sorted elements the different ones.
template <class T>
array<T> unique_of_sorted(const array<T>& sorted) {
    const leaf<T>& from = sorted.as_leaf();
    if (!sorted.device().is_cuda() || sorted.size() == 0 || from.where().strides()[0] != 1)
        return array<T>(sorted(begins(sorted)));
    return compact<T>("unique", {kept::distinct, elements_of(from), {}});
}

/// The different elements in order; all NaN are one, the last. One-dimensional, of e's type. Waits for their number.
///
///     std::cout << unique(array<int>{{3, 1}, {1, 2}});
///     // prints: [1 2 3]
template <ordered_array E>
auto unique(const E& e) {
    using T = typename E::value_type;
    return unique_of_sorted(array<T>(sort(ravel(e))));
}

/// The different elements with where they are first, how often they are there, and which of them each element is.
///
///     array<int> x{5, 3, 5, 9, 3, 5};
///     const auto u = unique_all(x);
///     std::cout << u.values << u.indices << u.counts << u.inverse_indices << all(u.values(u.inverse_indices) == x);
///     // prints: [3 5 9][1 0 3][2 3 1][1 0 1 2 0 1]True
template <ordered_array E>
auto unique_all(const E& e) {
    using T = typename E::value_type;
    const array<T> flat(ravel(e));
    const index_t n = flat.size();
    const array<deferred<index_t, T>> order = argsort(flat);
    const array<T> sorted = take<index_mode::unchecked>(flat, order, 0);
    const array<deferred<bool, T>> first = begins(sorted);
    const array<deferred<index_t, T>> starts = flatnonzero(first);
    return unique_elements<T>{take<index_mode::unchecked>(sorted, starts, 0),
                              take<index_mode::unchecked>(order, starts, 0), counts_of_starts(starts, n),
                              array<index_t>(reshape(numbers_of_sorted(order, first), e.shape()))};
}

/// Whether each element is one of `test`'s, bool, of e's shape; NaN is not. Both are compared in the type that they
/// promote to.
///
///     std::cout << isin(array<int>{{1, 2}, {3, 4}}, array<int>{2, 4, 8});
///     // prints: [[False  True]
///     //          [False  True]]
template <ordered_array E, ordered_array S>
array<bool> isin(const E& e, const S& test) {
    using T = type_of<compared_in<E, S>()>;
    const array<T> values(as_values<T>(ravel(e)));
    const auto given = unique_all(values);
    const array<T> own = given.values, wanted = unique(as_values<T>(test));
    if (own.size() == 0 || wanted.size() == 0) return zeros<bool>(e.shape());
    // Sorted together, what both have stands twice in a row, the values' own first.
    const array<T> both = concatenate(std::vector<array<T>>{own, wanted});
    const array<deferred<index_t, T>> order = argsort(both);
    const array<T> sorted = take<index_mode::unchecked>(both, order, 0);
    const index_t n = both.size();
    array<deferred<bool, T>> there = zeros<bool>({n});
    there(order(slice(0, n - 1))) = sorted(slice(0, n - 1)) == sorted(slice(1, n));
    return array<bool>(reshape(take<index_mode::unchecked>(there, given.inverse_indices, 0), e.shape()));
}

template <class A, class B>
using common_type = type_of<promote(dtype_of<typename A::value_type>, dtype_of<typename B::value_type>)>;

/// The different elements of both, in order, in the type that they promote to.
///
///     std::cout << union1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [1 2 3 4]
template <ordered_array A, ordered_array B>
auto union1d(const A& a, const B& b) {
    using T = common_type<A, B>;
    return unique(
        concatenate(std::vector<array<T>>{array<T>(as_values<T>(ravel(a))), array<T>(as_values<T>(ravel(b)))}));
}

/// The different elements that both have, in order, in the type that they promote to.
///
///     std::cout << intersect1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [2]
template <ordered_array A, ordered_array B>
auto intersect1d(const A& a, const B& b) {
    using T = common_type<A, B>;
    const array<T> mine = unique(as_values<T>(a));
    return array<T>(mine(isin(mine, b)));
}

/// The different elements of `a` that `b` does not have, in order and in the type of `a`.
///
///     std::cout << setdiff1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [1 4]
template <ordered_array A, ordered_array B>
auto setdiff1d(const A& a, const B& b) {
    const auto mine = unique(a);
    return array<typename A::value_type>(mine(!isin(mine, b)));
}

/// The different elements that one of the two has and the other has not, in order.
///
///     std::cout << setxor1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [1 3 4]
template <ordered_array A, ordered_array B>
auto setxor1d(const A& a, const B& b) {
    using T = common_type<A, B>;
    return union1d(array<T>(as_values<T>(setdiff1d(a, b))), array<T>(as_values<T>(setdiff1d(b, a))));
}

}  // namespace detail

using detail::intersect1d;
using detail::isin;
using detail::setdiff1d;
using detail::setxor1d;
using detail::union1d;
using detail::unique;
using detail::unique_all;

}  // namespace ingot
