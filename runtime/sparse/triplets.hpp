// Sparse matrices as values and keys, in which the compositions of this folder compute. A key is row * columns +
// column, so that the order by row and then by column is the order of numbers, whatever the format.
#pragma once

#include <array>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/sparse/matrices.hpp>

namespace ingot::sparse {

struct matrix_extents {
    index_t rows, columns;
};

template <class T>
struct triplets {
    array<T> values;
    array<index_t> keys;  // which ascend, each once
    matrix_extents extents;
};

/// Throws shape_error unless the shape is that of a matrix whose places can be counted.
matrix_extents extents_of(const char* operation, const shape_like& shape);
/// Throws shape_error where indices of I are too narrow.
template <class I>
void check_width(const char* operation, const matrix_extents&, index_t entries);
/// Throws shape_error unless both have this many elements along one axis.
[[noreturn]] void throw_unequal(const char* operation, const char* what, const shape_like& given,
                                const std::string& wanted);

/// Throws device_error where arrays lie on different devices.
template <class... V>
void check_one_device(const char* operation, const array<V>&... arrays) {
    detail::device_id seen = detail::no_device;
    for (const detail::device_id d : {arrays.as_leaf().on_device()...}) {
        if (seen != detail::no_device && d != detail::no_device && d != seen)
            detail::throw_two_devices(operation, seen, d);
        if (seen == detail::no_device) seen = d;
    }
}

/// The numbers 0 to n - 1 on a device.
array<index_t> numbers_to(index_t n, device where);
/// Elements with these numbers, which exist.
template <class V>
array<V> elements_at(const array<V>& from, const array<index_t>& places);
/// The numbers of the true elements.
array<index_t> true_places(const array<bool>& flags);

/// Entries in any order: they are sorted, and values of one key added. Waits.
template <class T>
triplets<T> summed(array<T> values, array<index_t> keys, const matrix_extents&);
/// Without entries of value 0. Waits.
template <class T>
triplets<T> without_zeros(triplets<T>);

/// The keys of entries by their rows and columns.
array<index_t> keys_of_places(const array<index_t>& rows, const array<index_t>& columns, const matrix_extents&);
/// The row of each entry.
template <class I>
array<index_t> rows_of_entries(const array<I>& indptr, index_t entries);
template <class I>
array<index_t> keys_of_rows(const array<I>& indptr, const array<I>& indices, index_t columns);

template <class T, class I>
triplets<T> triplets_of(const csr<T, I>& a);
template <class T, class I>
csr<T, I> csr_of(const char* operation, triplets<T>);
template <class T, class I>
coo<T, I> coo_of(const char* operation, triplets<T>);

/// The key at which the transposed matrix has the element.
array<index_t> transposed_keys(const array<index_t>& keys, const matrix_extents&);
template <class T>
triplets<T> transposed(triplets<T>);
template <class T>
array<T> dense_of(const triplets<T>&);

/// The csr of the transposed matrix, of a matrix on the host.
template <class T, class I>
csr<T, I> transposed_on_host(const char* operation, const csr<T, I>& a);
/// The product of two matrices on the host, which have entries, with a row of as many elements as b has columns for
/// each thread. Throws shape_error where indices of I are too narrow.
template <class T, class I>
csr<T, I> multiplied_on_host(const char* operation, const csr<T, I>& a, const csr<T, I>& b);

/// Calls the macro for each element type; and for each with both widths of indices.
#define INGOT_SPARSE_ELEMENTS(M) \
    M(float)                     \
    M(double)                    \
    M(std::complex<float>)       \
    M(std::complex<double>)
#define INGOT_SPARSE_TYPES(M)             \
    M(float, std::int32_t)                \
    M(double, std::int32_t)               \
    M(std::complex<float>, std::int32_t)  \
    M(std::complex<double>, std::int32_t) \
    M(float, std::int64_t)                \
    M(double, std::int64_t)               \
    M(std::complex<float>, std::int64_t)  \
    M(std::complex<double>, std::int64_t)

}  // namespace ingot::sparse
