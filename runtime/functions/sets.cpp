#include <ingot/sorting/sets.hpp>

#include <concepts>
#include <type_traits>
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

namespace {

/// Whether values are among integers from `least` to `greatest`, by a table with an entry for each.
template <class T>
array<bool> is_in_table(const array<T>& values, const array<T>& test, T least, T greatest) {
    // Differences wrap, so they are right in unsigned integers whatever the range of T.
    using U = std::make_unsigned_t<T>;
    const auto distance = [&](const auto& e) { return astype<U>(e) - static_cast<U>(least); };
    const U last = static_cast<U>(static_cast<U>(greatest) - static_cast<U>(least));
    const index_t entries = static_cast<index_t>(last) + 1;
    array<bool> table = zeroed<bool>("isin", std::span(&entries, 1), values.device());
    table(array<index_t>(astype<index_t>(distance(test)))) = true;
    const auto inside = astype<index_t>(minimum(distance(values), last));
    return values >= least && values <= greatest && take<unchecked_mode>(table, inside, 0);
}

/// Whether values are among sorted elements.
template <class T>
auto is_in_sorted(const array<T>& values, const array<T>& sorted) {
    return take<unchecked_mode>(sorted, minimum(searchsorted(sorted, values), sorted.size() - 1), 0) == values;
}

}  // namespace

template <class T>
array<bool> is_among(const lazy<T>& e, const lazy<T>& test) {
    constexpr index_t few = 32, in_cache = 1 << 13, entries_of_element = 6;
    const array<T> values = e, others = ravel(test);
    if (values.size() == 0 || others.size() == 0) return zeros_like<bool>(values);
    if (others.size() <= few) return any(expand_dims(values, -1) == others, -1);
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
        const auto [low, high] = eval(min(others), max(others));
        const T least = low.item(), greatest = high.item();
        const auto range = static_cast<double>(greatest) - static_cast<double>(least);
        if (range <= static_cast<double>(entries_of_element * (values.size() + others.size())))
            return is_in_table(values, others, least, greatest);
    }
    const array<T> sorted = sort(others);
    if (sorted.size() <= in_cache) return is_in_sorted(values, sorted);
    // Ascending values find what they search in the cache.
    const array<T> flat = ravel(values);
    const array<index_t> order = argsort(flat);
    array<bool> found = zeros_like<bool>(flat);
    found(order) = is_in_sorted(array<T>(take<unchecked_mode>(flat, order, 0)), sorted);
    return reshape(found, values.shape());
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
