// Arrays as sets: their distinct elements in order, and set operations on them. The number of results depends on the
// elements, so all functions wait for it.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include <ingot/core/compaction.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/sorting/searching.hpp>
#include <ingot/sorting/sorts.hpp>

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

/// Whether each sorted element differs from the one before; all NaN are equal, or each is distinct.
template <class T>
array<bool> begins(const array<T>& sorted, bool nan_is_one = true) {
    const index_t n = sorted.size();
    array<deferred<bool, T>> first = ones<bool>({n});
    if (n < 2) return first;
    const auto before = sorted(slice(0, n - 1)), behind = sorted(slice(1, n));
    if constexpr (kind_of(dtype_of<T>) == kind::floating)
        first(slice(1, n)) = before != behind && !(nan_is_one && isnan(before) && isnan(behind));
    else
        first(slice(1, n)) = before != behind;
    return first;
}
/// The lengths of the runs that begin at these of n sorted elements.
INGOT_API array<index_t> counts_of_starts(const array<index_t>& starts, index_t n);
/// For each element, by its index in `order`, the number of its run; `first` marks the runs' first elements.
INGOT_API array<index_t> numbers_of_sorted(const array<index_t>& order, const array<bool>& first);

/// The distinct ones of sorted elements.
template <class T>
array<T> unique_of_sorted(const array<T>& sorted) {
    const leaf<T>& from = sorted.as_leaf();
    if (!sorted.device().is_cuda() || sorted.size() == 0 || from.where().strides()[0] != 1)
        return array<T>(sorted(begins(sorted)));
    return compact<T>("unique", {kept::distinct, elements_of(from), {}});
}

/// The distinct elements in order, along one axis and in e's type; all NaN are one, the last. Waits for their number.
///
///     std::cout << unique(array<int>{{3, 1}, {1, 2}});
///     // prints: [1 2 3]
template <ordered_array E>
auto unique(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename E::value_type;
    return unique_of_sorted(array<T>(sort(ravel(e))));
}

/// Sorted elements; `first` marks the first of each run of equal ones. Each NaN is its own run.
template <class T>
struct sorted_elements {
    using number = deferred<index_t, T>;
    array<T> flat;
    array<number> order;
    array<T> sorted;
    array<deferred<bool, T>> first;
    array<number> starts;

    template <class E>
    explicit sorted_elements(const E& e)
        : flat(ravel(e)),
          order(argsort(flat)),
          sorted(take<index_mode::unchecked>(flat, order, 0)),
          first(begins(sorted, false)),
          starts(flatnonzero(first)) {}
    array<T> values() const { return take<index_mode::unchecked>(sorted, starts, 0); }
    array<number> counts() const { return counts_of_starts(starts, flat.size()); }
    array<number> inverse(const shape_like& shape) const {
        return array<number>(reshape(numbers_of_sorted(order, first), shape));
    }
};

/// The distinct elements in order, as `unique`, but each NaN is distinct, as in the array API.
///
///     std::cout << unique_values(array<double>{2, NAN, 1, NAN, 2});
///     // prints: [ 1.  2. nan nan]
template <ordered_array E>
auto unique_values(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename E::value_type;
    if constexpr (kind_of(dtype_of<T>) == kind::floating) {
        const array<T> sorted(sort(ravel(e)));
        return array<T>(sorted(begins(sorted, false)));
    } else {
        return unique(e);
    }
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
    const sorted_elements<T> s(e);
    return counted_elements<T>{s.values(), s.counts()};
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
    const sorted_elements<T> s(e);
    return numbered_elements<T>{s.values(), s.inverse(shape_of_expression(e))};
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
    using T = typename E::value_type;
    const sorted_elements<T> s(e);
    return unique_elements<T>{s.values(), take<index_mode::unchecked>(s.order, s.starts, 0), s.counts(),
                              s.inverse(shape_of_expression(e))};
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
    const array<T> values(as_values<T>(ravel(e)));
    const auto given = unique_all(values);
    const array<T> own = given.values, wanted = unique(as_values<T>(test));
    if (own.size() == 0 || wanted.size() == 0) return zeros<bool>(e.shape());
    // In the sorted concatenation common elements occur twice in a row, the values' own first.
    const array<T> both = concatenate(std::vector<array<T>>{own, wanted});
    const array<deferred<index_t, T>> order = argsort(both);
    const array<T> sorted = take<index_mode::unchecked>(both, order, 0);
    const index_t n = both.size();
    array<deferred<bool, T>> there = zeros<bool>({n});
    there(order(slice(0, n - 1))) = sorted(slice(0, n - 1)) == sorted(slice(1, n));
    return array<bool>(reshape(take<index_mode::unchecked>(there, given.inverse_indices, 0), e.shape()));
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
    return unique(
        concatenate(std::vector<array<T>>{array<T>(as_values<T>(ravel(a))), array<T>(as_values<T>(ravel(b)))}));
}

/// The distinct elements that both have, in order, in the type to which they promote.
///
///     std::cout << intersect1d(array<int>{4, 1, 2}, array<int>{2, 2, 3});
///     // prints: [2]
template <ordered_array A, ordered_array B>
auto intersect1d(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = common_type<A, B>;
    const array<T> mine = unique(as_values<T>(a));
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
using detail::unique_counts;
using detail::unique_inverse;
using detail::unique_values;

}  // namespace ingot
