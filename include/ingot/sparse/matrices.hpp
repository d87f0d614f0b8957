// Sparse matrices in the formats of scipy.sparse: coo is a list of entries, csr and csc are compressed by rows and by
// columns. A matrix is a value, as an array is. Its entries are always sorted by row and then by column (csc: by column
// and then by row), and no two of them have the same place. All its arrays lie on the device of its values.
//
// Indices have 32 bits, or 64 by the second template argument, csr<float, std::int64_t>, for matrices of 2^31 entries,
// rows or columns and more. The width is a part of the type so that indices() has a type, and a product one kernel.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include <ingot/core/array.hpp>

namespace ingot::sparse {

/// The element types of sparse matrices: float32, float64, complex64 and complex128.
template <class T>
concept sparse_element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::complex<float>> ||
                         std::same_as<T, std::complex<double>>;
/// The types of their indices.
template <class I>
concept sparse_index = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

template <sparse_element T, sparse_index I = std::int32_t>
class coo;
template <sparse_element T, sparse_index I = std::int32_t>
class csr;
template <sparse_element T, sparse_index I = std::int32_t>
class csc;

// Inner
template <class A>
inline constexpr bool is_sparse = false;
template <class T, class I>
inline constexpr bool is_sparse<coo<T, I>> = true;
template <class T, class I>
inline constexpr bool is_sparse<csr<T, I>> = true;
template <class T, class I>
inline constexpr bool is_sparse<csc<T, I>> = true;

/// A sparse matrix of any format.
template <class A>
concept sparse_matrix = is_sparse<A>;

// Inner: the element type of a result of both, by NumPy's promotion. Operators meet operands that have no element type.
template <class A, class B>
    requires element_type<typename A::value_type> && element_type<typename B::value_type>
using promoted = detail::type_of<detail::promote(detail::dtype_of<typename A::value_type>,
                                                 detail::dtype_of<typename B::value_type>)>;

// Inner: two matrices that have to become csr of one type first. Their indices are of one width.
template <class A, class B>
concept unlike_matrices =
    sparse_matrix<A> && sparse_matrix<B> && std::same_as<typename A::index_type, typename B::index_type> &&
    !(std::same_as<A, B> && std::same_as<A, csr<typename A::value_type, typename A::index_type>>);

// Inner: the csr of a matrix, with values of type R.
template <sparse_element R, sparse_matrix A>
csr<R, typename A::index_type> as_csr(const A& a) {
    using T = typename A::value_type;
    if constexpr (!std::same_as<A, csr<T, typename A::index_type>>)
        return as_csr<R>(a.to_csr());
    else if constexpr (std::same_as<T, R>)
        return a;
    else
        return a.map_values([](const array<T>& values) { return array<R>(values); });
}

/// A list of entries: a value, a row and a column for each. It is made from triplets, and becomes a csr for all else.
///
///     sparse::coo<double> a({1, 2, 3, 4}, {1, 0, 1, 1}, {2, 1, 2, 0}, {2, 3});
///     std::cout << a.values() << ' ' << a.rows() << ' ' << a.columns() << ' ' << a.shape() << a.nnz() << '\n';
///     std::cout << a.to_dense() << ' ' << a.to_csr().indptr() << ' ' << a.transpose().rows();
///     // prints: [2. 4. 4.] [0 1 1] [1 0 2] (2, 3)3
///     //         [[0. 2. 0.]
///     //          [4. 0. 4.]] [0 1 3] [0 1 2]
template <sparse_element T, sparse_index I>
class coo {
public:
    using value_type = T;
    using index_type = I;

    /// No entries. Throws shape_error unless the shape has two extents.
    INGOT_API explicit coo(const shape_like& shape = {0, 0});
    /// Entries in any order; values for the same place are added. Waits. Throws shape_error unless the three are
    /// vectors of one length, index_error where a row or a column is outside the shape.
    INGOT_API coo(const array<T>& values, const array<index_t>& rows, const array<index_t>& columns,
                  const shape_like& shape, const source_place& here = source_place::current());
    /// The elements of a dense matrix that are not 0. Waits for their number. Throws shape_error unless it has two
    /// axes.
    template <array_expression E>
        requires std::same_as<typename E::value_type, T>
    explicit coo(const E& dense, const source_place& here = source_place::current())
        : coo(from_array{}, array<T>(dense), here) {}

    /// The values of the entries.
    const array<T>& values() const noexcept { return values_; }
    /// Their rows, which ascend.
    const array<I>& rows() const noexcept { return rows_; }
    /// Their columns, which ascend within each row.
    const array<I>& columns() const noexcept { return columns_; }
    /// The numbers of rows and columns.
    shape_like shape() const { return {row_count_, column_count_}; }
    /// The number of entries, among them those of value 0.
    index_t nnz() const { return values_.size(); }
    /// The device of its arrays.
    ///
    ///     std::cout << sparse::coo<float>({2, 2}).to(device::host()).device();
    ///     // prints: host:0
    ingot::device device() const { return values_.device(); }
    /// A copy on another device.
    INGOT_API coo to(ingot::device where) const;

    /// The matrix as an array.
    INGOT_API array<T> to_dense() const;
    /// The matrix compressed by rows.
    INGOT_API csr<T, I> to_csr() const;
    /// The transposed matrix, sorted again.
    INGOT_API coo transpose() const;

    // Inner: entries that are sorted already.
    struct sorted {};
    coo(sorted, array<T> values, array<I> rows, array<I> columns, index_t row_count, index_t column_count)
        : values_(std::move(values)),
          rows_(std::move(rows)),
          columns_(std::move(columns)),
          row_count_(row_count),
          column_count_(column_count) {}

private:
    struct from_array {};
    INGOT_API coo(from_array, const array<T>& dense, const source_place&);

    array<T> values_;
    array<I> rows_, columns_;
    index_t row_count_, column_count_;
};

/// A matrix compressed by rows: the entries of row i have the numbers indptr[i] to indptr[i + 1]. Products, slices of
/// rows and elementwise functions are of this format.
///
///     sparse::csr<double> a({1, 2, 3}, {2, 0, 1}, {0, 1, 1, 3}, {3, 3});
///     std::cout << a.values() << ' ' << a.indices() << ' ' << a.indptr() << ' ' << a.shape() << a.nnz() << '\n';
///     std::cout << a.to_dense() << ' ' << a.diagonal() << ' ' << a.sum() << ' ' << a.sum(0) << ' ' << a.sum(1);
///     std::cout << '\n' << a(-1).to_dense() << ' ' << a(slice(0, 2)).nnz();
///     std::cout << ' ' << a.dot(array<double>{1, 10, 100}) << '\n';
///     std::cout << a.to_coo().rows() << ' ' << a.transpose().indptr() << ' ' << a.device();
///     std::cout << a.to(device::host()).map_values([](const auto& v) { return v * 2; }).values();
///     // prints: [1. 2. 3.] [2 0 1] [0 1 1 3] (3, 3)3
///     //         [[0. 0. 1.]
///     //          [0. 0. 0.]
///     //          [2. 3. 0.]] [0. 0. 0.] 6 [2. 3. 1.] [1. 0. 5.]
///     //         [[2. 3. 0.]] 1 [100.   0.  32.]
///     //         [0 2 2] [0 1 1 3] ...[2. 4. 6.]
template <sparse_element T, sparse_index I>
class csr {
public:
    using value_type = T;
    using index_type = I;

    /// No entries. Throws shape_error unless the shape has two extents.
    INGOT_API explicit csr(const shape_like& shape = {0, 0});
    /// From arrays of one's own. Columns that do not ascend in a row are sorted, and values for the same place added.
    /// Waits. Throws shape_error where the arrays are no vectors of the lengths that belong together, index_error where
    /// a column is outside the shape or indptr does not ascend from 0 to the number of values.
    INGOT_API csr(const array<T>& values, const array<I>& indices, const array<I>& indptr, const shape_like& shape,
                  const source_place& here = source_place::current());
    /// The elements of a dense matrix that are not 0. Waits for their number. Throws shape_error unless it has two
    /// axes.
    template <array_expression E>
        requires std::same_as<typename E::value_type, T>
    explicit csr(const E& dense, const source_place& here = source_place::current())
        : csr(coo<T, I>(dense, here).to_csr()) {}

    /// The values of the entries.
    const array<T>& values() const noexcept { return values_; }
    /// Their columns, which ascend within each row.
    const array<I>& indices() const noexcept { return indices_; }
    /// The number of the first entry of each row, and the number of all.
    const array<I>& indptr() const noexcept { return indptr_; }
    /// The numbers of rows and columns.
    shape_like shape() const { return {row_count_, column_count_}; }
    /// The number of entries, among them those of value 0.
    index_t nnz() const { return values_.size(); }
    /// The device of its arrays.
    ingot::device device() const { return values_.device(); }
    /// A copy on another device.
    INGOT_API csr to(ingot::device where) const;

    /// The matrix as an array.
    INGOT_API array<T> to_dense() const;
    /// The matrix as a list of entries.
    INGOT_API coo<T, I> to_coo() const;
    /// The transposed matrix, compressed by columns, which has the same arrays: nothing is computed.
    INGOT_API csc<T, I> transpose() const;
    /// The elements on the diagonal `offset` columns right of the main one; none where it is outside.
    INGOT_API array<T> diagonal(index_t offset = 0) const;
    /// The sum of all elements.
    INGOT_API T sum() const;
    /// The sum of each column (axis 0) or each row (axis 1). Throws shape_error where there is no such axis.
    INGOT_API array<T> sum(index_t axis) const;
    /// The greatest element; elements without an entry are 0, and NaN is above all. Waits. For real types. Throws
    /// shape_error where the matrix has no element.
    ///
    ///     const sparse::csr<double> a(array<double>{{0, -1}, {-2, -3}});
    ///     std::cout << a.max() << ' ' << a.min() << ' ' << a.mean() << ' ' << a(1, 0) << ' ' << a(0, 0) << ' ' <<
    ///     a(-1, -1);
    ///     // prints: 0 -3 -1.5 -2 0 -3
    INGOT_API T max() const
        requires(!detail::complex_number<T>);
    /// The least element, in the same way.
    INGOT_API T min() const
        requires(!detail::complex_number<T>);
    /// The mean of all elements, with those that have no entry; NaN where there are none. Waits.
    INGOT_API T mean() const;
    /// The matrix without entries of value 0. Waits for their number.
    ///
    ///     sparse::csr<double> a({0, 2}, {0, 1}, {0, 1, 2}, {2, 2});
    ///     std::cout << a.nnz() << a.eliminate_zeros().nnz();
    ///     // prints: 21
    INGOT_API csr eliminate_zeros() const;

    /// Row i as a matrix of one row; negative i counts from the end. Throws index_error where there is none.
    template <std::integral J>
    csr operator()(J i) const {
        return row(static_cast<index_t>(i));
    }
    /// The rows of a slice. Waits for the number of their entries.
    INGOT_API csr operator()(const slice& rows) const;
    /// The element in row i and column j, 0 where there is no entry; negative numbers count from the end. Waits. Throws
    /// index_error where there is no such row or column.
    template <std::integral J, std::integral K>
    T operator()(J i, K j) const {
        return element(static_cast<index_t>(i), static_cast<index_t>(j));
    }

    /// The product with a vector or a matrix (see `sparse::matmul`).
    template <array_expression E>
    array<promoted<csr, E>> dot(const E& x, const source_place& here = source_place::current()) const {
        const detail::in_statement of_the_user(here);
        using R = promoted<csr, E>;
        return as_csr<R>(*this).product(array<R>(x));
    }

    /// The matrix with f(values()) for its values, an expression of as many elements: a function that keeps zeros.
    template <class F>
    auto map_values(const F& f) const {
        const auto mapped = f(values_);
        using R = typename std::remove_cvref_t<decltype(mapped)>::value_type;
        return csr<R, I>(typename csr<R, I>::sorted{}, array<R>(mapped), indices_, indptr_, row_count_, column_count_);
    }

    // Inner: entries that are sorted already.
    struct sorted {};
    csr(sorted, array<T> values, array<I> indices, array<I> indptr, index_t row_count, index_t column_count)
        : values_(std::move(values)),
          indices_(std::move(indices)),
          indptr_(std::move(indptr)),
          row_count_(row_count),
          column_count_(column_count) {}
    // Inner
    INGOT_API array<T> product(const array<T>& x) const;
    // Inner: of the transposed matrix with x.
    INGOT_API array<T> transposed_product(const array<T>& x) const;
    // Inner: of x with the matrix.
    INGOT_API array<T> product_from_left(const array<T>& x) const;

private:
    INGOT_API csr row(index_t i) const;
    INGOT_API T element(index_t i, index_t j) const;

    array<T> values_;
    array<I> indices_, indptr_;
    index_t row_count_, column_count_;
};

/// A matrix compressed by columns: the csr of its transposed matrix, seen from the other side. The transpose of a csr
/// is one, of the same arrays; its products need no conversion.
///
///     sparse::csr<double> a(array<double>{{0, 1}, {2, 3}, {0, 4}});
///     const sparse::csc<double> t = a.transpose();
///     std::cout << t.values() << ' ' << t.indices() << ' ' << t.indptr() << ' ' << t.shape() << t.nnz() << '\n';
///     std::cout << t.to_dense() << ' ' << t.dot(array<double>{1, 10, 100}) << ' ' << t.transpose().shape() << '\n';
///     std::cout << t.to_csr().indices() << ' ' << (t.device() == a.device());
///     // prints: [1. 2. 3. 4.] [1 0 1 1] [0 1 3 4] (2, 3)4
///     //         [[0. 2. 0.]
///     //          [1. 3. 4.]] [ 20. 431.] (3, 2)
///     //         [1 0 1 2] 1
template <sparse_element T, sparse_index I>
class csc {
public:
    using value_type = T;
    using index_type = I;

    /// The transposed matrix of a csr.
    explicit csc(csr<T, I> transposed) : transposed_(std::move(transposed)) {}

    /// The values of the entries.
    const array<T>& values() const noexcept { return transposed_.values(); }
    /// Their rows, which ascend within each column.
    const array<I>& indices() const noexcept { return transposed_.indices(); }
    /// The number of the first entry of each column, and the number of all.
    const array<I>& indptr() const noexcept { return transposed_.indptr(); }
    /// The numbers of rows and columns.
    shape_like shape() const {
        const shape_like own = transposed_.shape();
        return {own[1], own[0]};
    }
    /// The number of entries, among them those of value 0.
    index_t nnz() const { return transposed_.nnz(); }
    /// The device of its arrays.
    ingot::device device() const { return transposed_.device(); }

    /// The matrix as an array.
    INGOT_API array<T> to_dense() const;
    /// The matrix compressed by rows: its entries are sorted.
    INGOT_API csr<T, I> to_csr() const;
    /// The transposed matrix, of the same arrays.
    const csr<T, I>& transpose() const noexcept { return transposed_; }
    /// The product with a vector or a matrix (see `sparse::matmul`).
    template <array_expression E>
    array<promoted<csc, E>> dot(const E& x, const source_place& here = source_place::current()) const {
        const detail::in_statement of_the_user(here);
        using R = promoted<csc, E>;
        return as_csr<R>(transposed_).transposed_product(array<R>(x));
    }

private:
    csr<T, I> transposed_;
};

/// The matrix of a .npz file that scipy.sparse.save_npz has written, in the format csr, csc or coo, on the current
/// device. Throws file_error where there is no such file or it holds another format, dtype_error where its values are
/// of another dtype.
///
///     sparse::save_npz("a.npz", sparse::csr<float>(array<float>{{0, 1}, {2, 0}}));
///     std::cout << sparse::load_npz<float>("a.npz").to_dense();
///     // prints: [[0. 1.]
///     //          [2. 0.]]
template <sparse_element T, sparse_index I = std::int32_t>
INGOT_API csr<T, I> load_npz(const std::string& path, const source_place& here = source_place::current());

/// Writes a .npz file that scipy.sparse.load_npz reads. Throws file_error.
///
///     sparse::save_npz("empty.npz", sparse::csr<double>({2, 3}));
///     std::cout << sparse::load_npz<double>("empty.npz").shape();
///     // prints: (2, 3)
template <sparse_element T, sparse_index I>
INGOT_API void save_npz(const std::string& path, const csr<T, I>& a,
                        const source_place& here = source_place::current());

}  // namespace ingot::sparse
