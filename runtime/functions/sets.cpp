#include <ingot/sorting/sets.hpp>

#include <vector>

#include <ingot/core/compaction.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/functions/every_dtype.hpp"

namespace ingot::detail {

namespace {

/// Whether each sorted element differs from the one before; all NaN are equal, or each is distinct.
template <class T>
array<bool> begins(const array<T>& sorted, bool nan_is_one) {
    const index_t n = sorted.size();
    array<bool> first = ones<bool>({n});
    if (n < 2) return first;
    const auto before = sorted(slice(0, n - 1)), behind = sorted(slice(1, n));
    if constexpr (kind_of(dtype_of<T>) == kind::floating)
        first(slice(1, n)) = before != behind && !(nan_is_one && isnan(before) && isnan(behind));
    else
        first(slice(1, n)) = before != behind;
    return first;
}

/// The lengths of the runs that begin at these of n sorted elements.
array<index_t> counts_of_starts(const array<index_t>& starts, index_t n) {
    const index_t different = starts.size();
    array<index_t> counts = zeros<index_t>({different});
    if (different != 0) {
        counts(slice(0, different - 1)) = starts(slice(1, different)) - starts(slice(0, different - 1));
        counts(different - 1) = n - starts(different - 1);
    }
    return counts;
}

/// For each element, by its index in `order`, the number of its run; `first` marks the first elements of runs.
array<index_t> numbers_of_sorted(const array<index_t>& order, const array<bool>& first) {
    array<index_t> numbers = zeros<index_t>({order.size()});
    if (order.size() != 0) numbers(order) = cumsum(astype<index_t>(first)) - 1;
    return numbers;
}

}  // namespace

template <class T>
array<T> distinct_elements(const lazy<T>& e, bool nan_is_one) {
    const array<T> sorted = sort(ravel(e));
    const leaf<T>& from = sorted.as_leaf();
    const bool compacts = nan_is_one || kind_of(dtype_of<T>) != kind::floating;
    if (!compacts || !sorted.device().is_cuda() || sorted.size() == 0 || from.where().strides()[0] != 1)
        return array<T>(sorted(begins(sorted, nan_is_one)));
    return compact<T>("unique", {kept::distinct, elements_of(from), {}});
}

template <class T>
unique_elements<T> number_elements(const lazy<T>& e, distinct_parts parts) {
    const array<T> flat = ravel(e);
    const array<index_t> order = argsort(flat);
    const array<T> sorted = take<unchecked_mode>(flat, order, 0);
    const array<bool> first = begins(sorted, false);
    const array<index_t> starts = flatnonzero(first);
    unique_elements<T> u{
        .values = take<unchecked_mode>(sorted, starts, 0), .indices = {}, .counts = {}, .inverse_indices = {}};
    if (parts.indices) u.indices = take<unchecked_mode>(order, starts, 0);
    if (parts.counts) u.counts = counts_of_starts(starts, flat.size());
    if (parts.inverse) u.inverse_indices = reshape(numbers_of_sorted(order, first), shape_of_expression(e));
    return u;
}

template <class T>
array<bool> is_among(const lazy<T>& e, const lazy<T>& test) {
    const unique_elements<T> given = number_elements(e, {.inverse = true});
    const array<T>& own = given.values;
    const array<T> requested = distinct_elements(test, true);
    if (own.size() == 0 || requested.size() == 0) return zeros<bool>(shape_of_expression(e));
    // In the sorted concatenation common elements occur twice in a row, the values' own first.
    const array<T> both = concatenate(std::vector<array<T>>{own, requested});
    const array<index_t> order = argsort(both);
    const array<T> sorted = take<unchecked_mode>(both, order, 0);
    const index_t n = both.size();
    array<bool> found = zeros<bool>({n});
    found(order(slice(0, n - 1))) = sorted(slice(0, n - 1)) == sorted(slice(1, n));
    return take<unchecked_mode>(found, given.inverse_indices, 0);
}

template <class T>
array<T> union_of(const lazy<T>& a, const lazy<T>& b) {
    return distinct_elements(lazy<T>(concatenate(std::vector<array<T>>{array<T>(ravel(a)), array<T>(ravel(b))})), true);
}

#define INGOT_SETS(T)                                                                      \
    template INGOT_API array<T> distinct_elements(const lazy<T>&, bool);                   \
    template INGOT_API unique_elements<T> number_elements(const lazy<T>&, distinct_parts); \
    template INGOT_API array<bool> is_among(const lazy<T>&, const lazy<T>&);               \
    template INGOT_API array<T> union_of(const lazy<T>&, const lazy<T>&);
INGOT_FOR_EVERY_REAL_DTYPE(INGOT_SETS)

}  // namespace ingot::detail
