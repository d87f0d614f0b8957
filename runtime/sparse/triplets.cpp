// Compositions over keys: sorting, adding of values for one place, conversions between keys and formats.
#include "runtime/sparse/triplets.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/complex_parts.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/core/segments.hpp>
#include <ingot/sorting/searching.hpp>
#include <ingot/sorting/sorts.hpp>

namespace ingot::sparse {

namespace {

auto counted(index_t n) { return detail::position_along<index_t>(n, 0); }

}  // namespace

matrix_extents extents_of(const char* operation, const shape_like& shape) {
    detail::check_extents(operation, shape.values());
    if (shape.count() != 2)
        throw shape_error("[" + std::string(operation) + "] shape " + detail::to_text(shape.values()) +
                          " was given; a matrix, with two axes, is wanted");
    return {shape[0], shape[1]};
}

template <class I>
void check_width(const char* operation, const matrix_extents& e, index_t entries) {
    if (std::max({e.rows, e.columns, entries}) > std::numeric_limits<I>::max())
        throw shape_error(
            "[" + std::string(operation) + "] shape " + detail::to_text(std::array{e.rows, e.columns}) + " with " +
            std::to_string(entries) +
            " entries is too large for indices of 32 bits; csr<T, std::int64_t>, with indices of 64 bits, is wanted");
}

void throw_unequal(const char* operation, const char* what, const shape_like& given, const std::string& wanted) {
    throw shape_error("[" + std::string(operation) + "] " + what + " has shape " + detail::to_text(given.values()) +
                      "; " + wanted);
}

array<index_t> numbers_to(index_t n, device where) {
    const with_device there(where);
    return array<index_t>(counted(n));
}

template <class V>
array<V> elements_at(const array<V>& from, const array<index_t>& places) {
    return array<V>(take<detail::unchecked_mode>(from, places, 0));
}

array<index_t> true_places(const array<bool>& flags) { return flatnonzero(flags); }

template <class T>
triplets<T> summed(array<T> values, array<index_t> keys, const matrix_extents& extents) {
    const index_t n = keys.size();
    if (n < 2) return {std::move(values), std::move(keys), extents};
    const with_device there(keys.device());
    const auto before = keys(slice(0, n - 1)), behind = keys(slice(1, n));
    const auto [falls, repeats] = eval(any(behind < before), any(behind == before));
    bool is_repeated = repeats.item();
    if (falls.item()) {
        const array<index_t> order(argsort(keys));
        keys = elements_at(keys, order);
        values = elements_at(values, order);
        is_repeated = any(keys(slice(1, n)) == keys(slice(0, n - 1))).item();
    }
    if (!is_repeated) return {std::move(values), std::move(keys), extents};
    array<bool> begins = ones<bool>(n);
    begins(slice(1, n)) = keys(slice(1, n)) != keys(slice(0, n - 1));
    const array<index_t> starts = true_places(begins);
    array<index_t> offsets = full<index_t>({starts.size() + 1}, n);
    offsets(slice(0, starts.size())) = starts;
    return {array<T>(segment_sum(values, offsets)), elements_at(keys, starts), extents};
}

template <class T>
triplets<T> without_zeros(triplets<T> t) {
    if (t.values.size() == 0) return t;
    const array<index_t> kept = flatnonzero(t.values != T(0));
    if (kept.size() == t.values.size()) return t;
    return {elements_at(t.values, kept), elements_at(t.keys, kept), t.extents};
}

array<index_t> keys_of_places(const array<index_t>& rows, const array<index_t>& columns, const matrix_extents& e) {
    return array<index_t>(rows * e.columns + columns);
}

/// For each entry how many rows but the first begin there. An entry's row is the sum up to it.
template <class I>
static array<index_t> rows_begun(const array<I>& indptr, index_t entries) {
    const index_t rows = indptr.size() - 1;
    array<index_t> begun = zeros<index_t>(entries + 1);
    if (rows > 1) scatter_add(begun(indptr(slice(1, rows))), index_t{1});
    return begun;
}

template <class I>
array<index_t> rows_of_entries(const array<I>& indptr, index_t entries) {
    const with_device there(indptr.device());
    return array<index_t>(cumsum(rows_begun(indptr, entries)(slice(0, entries))));
}

template <class I>
array<index_t> keys_of_rows(const array<I>& indptr, const array<I>& indices, index_t columns) {
    const with_device there(indices.device());
    const index_t entries = indices.size();
    if (entries == 0) return zeros<index_t>(0);
    return array<index_t>(cumsum(rows_begun(indptr, entries)(slice(0, entries))) * columns + indices);
}

template <class T, class I>
triplets<T> triplets_of(const csr<T, I>& a) {
    const shape_like shape = a.shape();
    return {a.values(), keys_of_rows(a.indptr(), a.indices(), shape[1]), {shape[0], shape[1]}};
}

template <class T, class I>
csr<T, I> csr_of(const char* operation, triplets<T> t) {
    const auto [rows, columns] = t.extents;
    check_width<I>(operation, t.extents, t.keys.size());
    const with_device there(t.keys.device());
    array<I> indptr =
        columns == 0 ? zeros<I>(rows + 1) : array<I>(astype<I>(searchsorted(t.keys, counted(rows + 1) * columns)));
    return csr<T, I>(typename csr<T, I>::sorted{}, std::move(t.values), array<I>(astype<I>(remainder(t.keys, columns))),
                     std::move(indptr), rows, columns);
}

template <class T, class I>
coo<T, I> coo_of(const char* operation, triplets<T> t) {
    const auto [rows, columns] = t.extents;
    check_width<I>(operation, t.extents, t.keys.size());
    return coo<T, I>(typename coo<T, I>::sorted{}, std::move(t.values),
                     array<I>(astype<I>(floor_divide(t.keys, columns))),
                     array<I>(astype<I>(remainder(t.keys, columns))), rows, columns);
}

array<index_t> transposed_keys(const array<index_t>& keys, const matrix_extents& e) {
    const auto row = floor_divide(keys, e.columns);
    return array<index_t>((keys - row * e.columns) * e.rows + row);
}

template <class T>
triplets<T> transposed(triplets<T> t) {
    const auto [rows, columns] = t.extents;
    if (t.keys.size() == 0) return {std::move(t.values), std::move(t.keys), {columns, rows}};
    // Entries are in the order of their rows already: a stable sort by columns is enough, of few bits.
    const auto column = remainder(t.keys, columns);
    const array<index_t> order = columns <= std::numeric_limits<std::int32_t>::max()
                                     ? array<index_t>(argsort(array<std::int32_t>(astype<std::int32_t>(column))))
                                     : array<index_t>(argsort(array<index_t>(column)));
    return {elements_at(t.values, order), transposed_keys(elements_at(t.keys, order), t.extents), {columns, rows}};
}

template <class T>
array<T> dense_of(const triplets<T>& t) {
    const auto [rows, columns] = t.extents;
    const with_device there(t.keys.device());
    array<T> flat = zeros<T>(rows * columns);
    if (t.keys.size() != 0) flat(t.keys) = t.values;
    return array<T>(reshape(flat, {rows, columns}));
}

#define INGOT_ELEMENTS(T)                                                         \
    template array<T> elements_at(const array<T>&, const array<index_t>&);        \
    template triplets<T> summed(array<T>, array<index_t>, const matrix_extents&); \
    template triplets<T> without_zeros(triplets<T>);                              \
    template triplets<T> transposed(triplets<T>);                                 \
    template array<T> dense_of(const triplets<T>&);
INGOT_SPARSE_ELEMENTS(INGOT_ELEMENTS)
template array<index_t> elements_at(const array<index_t>&, const array<index_t>&);
template array<std::int32_t> elements_at(const array<std::int32_t>&, const array<index_t>&);

#define INGOT_TYPES(T, I)                                      \
    template triplets<T> triplets_of(const csr<T, I>&);        \
    template csr<T, I> csr_of<T, I>(const char*, triplets<T>); \
    template coo<T, I> coo_of<T, I>(const char*, triplets<T>);
INGOT_SPARSE_TYPES(INGOT_TYPES)
template array<index_t> rows_of_entries(const array<std::int32_t>&, index_t);
template array<index_t> rows_of_entries(const array<std::int64_t>&, index_t);
template array<index_t> keys_of_rows(const array<std::int32_t>&, const array<std::int32_t>&, index_t);
template array<index_t> keys_of_rows(const array<std::int64_t>&, const array<std::int64_t>&, index_t);
template void check_width<std::int32_t>(const char*, const matrix_extents&, index_t);
template void check_width<std::int64_t>(const char*, const matrix_extents&, index_t);

}  // namespace ingot::sparse
