// The members of coo, csr and csc: compositions of array operations, most of them over keys.
#include <algorithm>
#include <string>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/complex_parts.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/core/segments.hpp>
#include <ingot/sorting/searching.hpp>

#include "runtime/sparse/triplets.hpp"

namespace ingot::sparse {

namespace {

/// Throws shape_error unless it is a vector of that length.
template <class V>
void check_vector_of(const char* operation, const char* what, const array<V>& v, index_t length) {
    if (v.ndim() != 1 || v.size() != length)
        throw_unequal(operation, what, v.shape(), "a vector of length " + std::to_string(length) + " is wanted");
}

void check_range(const char* operation, const char* what, index_t least, index_t most, index_t extent) {
    if (least < 0 || most >= extent)
        throw index_error("[" + std::string(operation) + "] " + what + ' ' + std::to_string(least < 0 ? least : most) +
                          " is out of range for a matrix with " + std::to_string(extent) + ' ' + what + 's');
}

/// The first row of a slice, and their number.
struct row_range {
    index_t first, count;
};
row_range rows_within(const slice& s, index_t extent) {
    if (s.step() == 0) throw index_error("[index] a slice has the step 0; a step other than 0 is wanted");
    const bool is_reverse = s.step() < 0;
    const auto clamped = [&](index_t end, index_t open) {
        if (end == detail::open_end) return open;
        if (end < 0) end += extent;
        return is_reverse ? std::clamp<index_t>(end, -1, extent - 1) : std::clamp<index_t>(end, 0, extent);
    };
    const index_t first = clamped(s.start(), is_reverse ? extent - 1 : 0);
    const index_t last = clamped(s.stop(), is_reverse ? -1 : extent);
    const index_t way = is_reverse ? first - last : last - first, step = std::max(s.step(), -s.step());
    return {first, way <= 0 ? 0 : (way - 1) / step + 1};
}

}  // namespace

// ---- coo -----------------------------------------------------------------------------------------------------------

template <sparse_element T, sparse_index I>
coo<T, I>::coo(const shape_like& shape)
    : coo(coo_of<T, I>("sparse::coo", {zeros<T>(0), zeros<index_t>(0), extents_of("sparse::coo", shape)})) {}

template <sparse_element T, sparse_index I>
coo<T, I>::coo(const array<T>& values, const array<index_t>& rows, const array<index_t>& columns,
               const shape_like& shape, const source_place& here) {
    const detail::in_statement of_the_user(here);
    constexpr const char* operation = "sparse::coo";
    const matrix_extents extents = extents_of(operation, shape);
    if (values.ndim() != 1) throw_unequal(operation, "values", values.shape(), "a vector is wanted");
    check_vector_of(operation, "rows", rows, values.size());
    check_vector_of(operation, "columns", columns, values.size());
    check_one_device(operation, values, rows, columns);
    if (values.size() != 0) {
        const auto [least_row, most_row, least_column, most_column] =
            eval(min(rows), max(rows), min(columns), max(columns));
        check_range(operation, "row", least_row.item(), most_row.item(), extents.rows);
        check_range(operation, "column", least_column.item(), most_column.item(), extents.columns);
    }
    *this = coo_of<T, I>(operation, summed(values, keys_of_places(rows, columns, extents), extents));
}

template <sparse_element T, sparse_index I>
coo<T, I>::coo(from_array, const array<T>& dense, const source_place& here) {
    const detail::in_statement of_the_user(here);
    const matrix_extents extents = extents_of("sparse::coo", dense.shape());
    const array<T> flat(ravel(dense));
    const array<index_t> keys = flat.size() == 0 ? zeros<index_t>(0) : flatnonzero(flat);
    *this = coo_of<T, I>("sparse::coo", {elements_at(flat, keys), keys, extents});
}

template <sparse_element T, sparse_index I>
coo<T, I> coo<T, I>::to(ingot::device where) const {
    return coo(sorted{}, values_.to(where), rows_.to(where), columns_.to(where), row_count_, column_count_);
}

template <sparse_element T, sparse_index I>
static triplets<T> triplets_of(const coo<T, I>& a) {
    const matrix_extents extents = extents_of("sparse::coo", a.shape());
    return {a.values(), keys_of_places(array<index_t>(a.rows()), array<index_t>(a.columns()), extents), extents};
}

template <sparse_element T, sparse_index I>
array<T> coo<T, I>::to_dense() const {
    return dense_of(triplets_of(*this));
}

template <sparse_element T, sparse_index I>
csr<T, I> coo<T, I>::to_csr() const {
    return csr_of<T, I>("to_csr", triplets_of(*this));
}

template <sparse_element T, sparse_index I>
coo<T, I> coo<T, I>::transpose() const {
    return coo_of<T, I>("transpose", transposed(triplets_of(*this)));
}

// ---- csr -----------------------------------------------------------------------------------------------------------

template <sparse_element T, sparse_index I>
csr<T, I>::csr(const shape_like& shape)
    : csr(csr_of<T, I>("sparse::csr", {zeros<T>(0), zeros<index_t>(0), extents_of("sparse::csr", shape)})) {}

template <sparse_element T, sparse_index I>
csr<T, I>::csr(const array<T>& values, const array<I>& indices, const array<I>& indptr, const shape_like& shape,
               const source_place& here)
    : values_(values), indices_(indices), indptr_(indptr) {
    const detail::in_statement of_the_user(here);
    constexpr const char* operation = "sparse::csr";
    const matrix_extents extents = extents_of(operation, shape);
    check_width<I>(operation, extents, values.size());
    row_count_ = extents.rows, column_count_ = extents.columns;
    if (values.ndim() != 1) throw_unequal(operation, "values", values.shape(), "a vector is wanted");
    check_vector_of(operation, "indices", indices, values.size());
    check_vector_of(operation, "indptr", indptr, extents.rows + 1);
    check_one_device(operation, values, indices, indptr);
    const auto [falls, first, last] =
        eval(any(indptr(slice(1, none)) < indptr(slice(none, -1))), ingot::min(indptr), ingot::max(indptr));
    if (falls.item() || first.item() != 0 || last.item() != values.size())
        throw index_error("[sparse::csr] indptr " +
                          (falls.item()
                               ? std::string("descends")
                               : "goes from " + std::to_string(first.item()) + " to " + std::to_string(last.item())) +
                          "; it must ascend from 0 to " + std::to_string(values.size()) + ", the number of values");
    if (values.size() == 0) return;
    const auto [least, most] = eval(ingot::min(indices), ingot::max(indices));
    check_range(operation, "column", least.item(), most.item(), extents.columns);
    const array<index_t> keys = keys_of_rows(indptr, indices, extents.columns);
    if (any(keys(slice(1, none)) <= keys(slice(none, -1))).item())
        *this = csr_of<T, I>(operation, summed(values, keys, extents));
}

template <sparse_element T, sparse_index I>
csr<T, I> csr<T, I>::to(ingot::device where) const {
    return csr(sorted{}, values_.to(where), indices_.to(where), indptr_.to(where), row_count_, column_count_);
}

template <sparse_element T, sparse_index I>
array<T> csr<T, I>::to_dense() const {
    return dense_of(triplets_of(*this));
}

template <sparse_element T, sparse_index I>
coo<T, I> csr<T, I>::to_coo() const {
    return coo_of<T, I>("to_coo", triplets_of(*this));
}

template <sparse_element T, sparse_index I>
csc<T, I> csr<T, I>::transpose() const {
    return csc<T, I>(*this);
}

template <sparse_element T, sparse_index I>
array<T> csr<T, I>::diagonal(index_t offset) const {
    const index_t first_row = std::max<index_t>(0, -offset), first_column = std::max<index_t>(0, offset);
    const index_t length = std::max<index_t>(0, std::min(row_count_ - first_row, column_count_ - first_column));
    const with_device there(device());
    if (length == 0 || nnz() == 0) return zeros<T>(length);
    const triplets<T> t = triplets_of(*this);
    const array<index_t> wanted(detail::position_along<T>(length, 0) * (column_count_ + 1) +
                                (first_row * column_count_ + first_column));
    const array<index_t> place(minimum(searchsorted(t.keys, wanted), nnz() - 1));
    return array<T>(where(elements_at(t.keys, place) == wanted, elements_at(t.values, place), T(0)));
}

template <sparse_element T, sparse_index I>
T csr<T, I>::sum() const {
    return ingot::sum(values_).item();
}

template <sparse_element T, sparse_index I>
array<T> csr<T, I>::sum(index_t axis) const {
    const with_device there(device());
    if (detail::checked_axis("sum", axis, 2) == 1) return array<T>(segment_sum(values_, indptr_));
    array<T> sums = zeros<T>(column_count_);
    if (nnz() != 0) scatter_add(sums(indices_), values_);
    return sums;
}

template <class T, class I>
static void check_any_element(const char* operation, const csr<T, I>& a) {
    const shape_like shape = a.shape();
    if (shape[0] * shape[1] == 0)
        throw shape_error("[" + std::string(operation) + "] a sparse matrix of shape " +
                          detail::to_text(shape.values()) + " has no elements; one with elements is wanted");
}
/// The extreme of the values, and of 0 where elements have no entry. NaN is a result.
template <class T, class I>
static T with_zeros(const csr<T, I>& a, T extreme, const T& (*of_two)(const T&, const T&)) {
    const shape_like shape = a.shape();
    return a.nnz() == shape[0] * shape[1] || extreme != extreme ? extreme : of_two(extreme, T(0));
}

template <sparse_element T, sparse_index I>
T csr<T, I>::max() const
    requires(!detail::complex_number<T>)
{
    check_any_element("max", *this);
    return nnz() == 0 ? T(0) : with_zeros<T, I>(*this, ingot::max(values_).item(), std::max<T>);
}

template <sparse_element T, sparse_index I>
T csr<T, I>::min() const
    requires(!detail::complex_number<T>)
{
    check_any_element("min", *this);
    return nnz() == 0 ? T(0) : with_zeros<T, I>(*this, ingot::min(values_).item(), std::min<T>);
}

template <sparse_element T, sparse_index I>
T csr<T, I>::mean() const {
    using part = decltype(std::abs(T()));
    return sum() / (static_cast<part>(row_count_) * static_cast<part>(column_count_));
}

template <sparse_element T, sparse_index I>
csr<T, I> csr<T, I>::eliminate_zeros() const {
    return csr_of<T, I>("eliminate_zeros", without_zeros(triplets_of(*this)));
}

/// The index counted from the start. Throws index_error where there is none.
static index_t checked_index(index_t i, index_t axis, index_t extent) {
    const index_t from_start = i < 0 ? i + extent : i;
    if (from_start < 0 || from_start >= extent)
        throw index_error("[index] " + std::to_string(i) + " is out of range for axis " + std::to_string(axis) +
                          " of extent " + std::to_string(extent));
    return from_start;
}

template <sparse_element T, sparse_index I>
csr<T, I> csr<T, I>::row(index_t i) const {
    const index_t from_start = checked_index(i, 0, row_count_);
    return (*this)(slice(from_start, from_start + 1));
}

template <sparse_element T, sparse_index I>
T csr<T, I>::element(index_t i, index_t j) const {
    const index_t row = checked_index(i, 0, row_count_), column = checked_index(j, 1, column_count_);
    const index_t begin = indptr_(row).item(), end = indptr_(row + 1).item();
    if (begin == end) return T(0);
    const slice entries(begin, end);
    return ingot::sum(where(indices_(entries) == static_cast<I>(column), values_(entries), T(0))).item();
}

template <sparse_element T, sparse_index I>
csr<T, I> csr<T, I>::operator()(const slice& rows) const {
    const auto [first, count] = rows_within(rows, row_count_);
    const with_device there(device());
    if (count == 0) return csr(shape_like{0, column_count_});
    if (rows.step() == 1) {
        const index_t begin = indptr_(first).item(), end = indptr_(first + count).item();
        return csr(sorted{}, array<T>(values_(slice(begin, end))), array<I>(indices_(slice(begin, end))),
                   array<I>(indptr_(slice(first, first + count + 1)) - static_cast<I>(begin)), count, column_count_);
    }
    const array<index_t> row(detail::position_along<T>(count, 0) * rows.step() + first);
    const array<index_t> starts = elements_at(array<index_t>(indptr_), row);
    array<index_t> made = zeros<index_t>(count + 1);
    made(slice(1, none)) = cumsum(elements_at(array<index_t>(indptr_), array<index_t>(row + 1)) - starts);
    const index_t kept = made(count).item();
    if (kept == 0) return csr(shape_like{count, column_count_});
    const array<index_t> entries = numbers_to(kept, device()), number = rows_of_entries(made, kept);
    const array<index_t> from(elements_at(array<index_t>(starts - made(slice(0, count))), number) + entries);
    return csr(sorted{}, elements_at(values_, from), elements_at(indices_, from), array<I>(astype<I>(made)), count,
               column_count_);
}

// ---- csc -----------------------------------------------------------------------------------------------------------

template <sparse_element T, sparse_index I>
array<T> csc<T, I>::to_dense() const {
    return array<T>(ingot::transpose(transposed_.to_dense()));
}

template <sparse_element T, sparse_index I>
csr<T, I> csc<T, I>::to_csr() const {
    if (device().is_host()) return transposed_on_host("to_csr", transposed_);
    return csr_of<T, I>("to_csr", transposed(triplets_of(transposed_)));
}

// The products are instantiated with their own definitions.
#define INGOT_MATRICES(T, I)                                                                                \
    template INGOT_API coo<T, I>::coo(const shape_like&);                                                   \
    template INGOT_API coo<T, I>::coo(const array<T>&, const array<index_t>&, const array<index_t>&,        \
                                      const shape_like&, const source_place&);                              \
    template INGOT_API coo<T, I>::coo(from_array, const array<T>&, const source_place&);                    \
    template INGOT_API coo<T, I> coo<T, I>::to(ingot::device) const;                                        \
    template INGOT_API array<T> coo<T, I>::to_dense() const;                                                \
    template INGOT_API csr<T, I> coo<T, I>::to_csr() const;                                                 \
    template INGOT_API coo<T, I> coo<T, I>::transpose() const;                                              \
    template INGOT_API csr<T, I>::csr(const shape_like&);                                                   \
    template INGOT_API csr<T, I>::csr(const array<T>&, const array<I>&, const array<I>&, const shape_like&, \
                                      const source_place&);                                                 \
    template INGOT_API csr<T, I> csr<T, I>::to(ingot::device) const;                                        \
    template INGOT_API array<T> csr<T, I>::to_dense() const;                                                \
    template INGOT_API coo<T, I> csr<T, I>::to_coo() const;                                                 \
    template INGOT_API csc<T, I> csr<T, I>::transpose() const;                                              \
    template INGOT_API array<T> csr<T, I>::diagonal(index_t) const;                                         \
    template INGOT_API T csr<T, I>::sum() const;                                                            \
    template INGOT_API array<T> csr<T, I>::sum(index_t) const;                                              \
    template INGOT_API csr<T, I> csr<T, I>::eliminate_zeros() const;                                        \
    template INGOT_API csr<T, I> csr<T, I>::row(index_t) const;                                             \
    template INGOT_API T csr<T, I>::element(index_t, index_t) const;                                        \
    template INGOT_API T csr<T, I>::mean() const;                                                           \
    template INGOT_API csr<T, I> csr<T, I>::operator()(const slice&) const;                                 \
    template INGOT_API array<T> csc<T, I>::to_dense() const;                                                \
    template INGOT_API csr<T, I> csc<T, I>::to_csr() const;
INGOT_SPARSE_TYPES(INGOT_MATRICES)

#define INGOT_EXTREMES(T, I)                     \
    template INGOT_API T csr<T, I>::max() const; \
    template INGOT_API T csr<T, I>::min() const;
INGOT_EXTREMES(float, std::int32_t)
INGOT_EXTREMES(double, std::int32_t)
INGOT_EXTREMES(float, std::int64_t)
INGOT_EXTREMES(double, std::int64_t)

}  // namespace ingot::sparse
