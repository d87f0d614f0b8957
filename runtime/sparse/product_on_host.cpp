// Products of a csr on the host. Rows are computed in blocks by the host's threads, each row in the order of its
// entries. A transposed product goes through the rows on one thread, and adds to the elements that the columns name.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "runtime/device/host_workers.hpp"
#include "runtime/sparse/host_types.hpp"
#include "runtime/sparse/product.hpp"
#include "runtime/sparse/short_row_sums.hpp"

namespace ingot::runtime {

namespace {

using detail::index_t;

constexpr int column_block = 8;

template <class T, class I>
struct typed_product {
    const sparse_product& of;
    const T* values = static_cast<const T*>(of.values);
    const I* indices = static_cast<const I*>(of.indices);
    const I* indptr = static_cast<const I*>(of.indptr);
    const T* x = static_cast<const T*>(of.x);
    T* y = static_cast<T*>(of.y);

    void rows_times_vector(index_t begin, index_t end) const {
        if constexpr (std::is_floating_point_v<T> && sizeof(I) == 4)
            if (sum_short_rows<T>({values, indices, indptr, x, y}, begin, end)) return;
        for (index_t row = begin; row < end; ++row) {
            T sum{};
            for (I e = indptr[row]; e < indptr[row + 1]; ++e) sum += times(values[e], x[indices[e]]);
            y[row] = sum;
        }
    }
    /// `Width` columns of the result from column j on, whose sums are in registers; 0: the last `width`.
    template <int Width>
    void columns_of_row(index_t row, index_t j, index_t width = Width) const {
        const index_t k = of.width;
        T sums[Width != 0 ? Width : column_block]{};
        for (I e = indptr[row]; e < indptr[row + 1]; ++e) {
            const T v = values[e];
            const T* const from = x + static_cast<index_t>(indices[e]) * k + j;
            for (index_t c = 0; c < (Width != 0 ? Width : width); ++c) sums[c] += times(v, from[c]);
        }
        std::copy_n(sums, width, y + row * k + j);
    }
    void rows_times_matrix(index_t begin, index_t end) const {
        for (index_t row = begin; row < end; ++row) {
            index_t j = 0;
            for (; j + column_block <= of.width; j += column_block) columns_of_row<column_block>(row, j);
            if (j + 4 <= of.width) columns_of_row<4>(row, std::exchange(j, j + 4));
            if (j < of.width) columns_of_row<0>(row, j, of.width - j);
        }
    }
    void transposed_times_vector() const {
        for (index_t row = 0; row < of.rows; ++row) {
            const T factor = x[row];
            for (I e = indptr[row]; e < indptr[row + 1]; ++e) y[indices[e]] += times(values[e], factor);
        }
    }
    void transposed_times_matrix() const {
        const index_t k = of.width;
        for (index_t row = 0; row < of.rows; ++row)
            for (I e = indptr[row]; e < indptr[row + 1]; ++e) {
                const T v = values[e];
                T* const to = y + static_cast<index_t>(indices[e]) * k;
                for (index_t j = 0; j < k; ++j) to[j] += times(v, x[row * k + j]);
            }
    }

    void run() const {
        if (of.is_transposed) {
            std::fill_n(y, of.columns * of.width, T{});
            return of.width == 1 ? transposed_times_vector() : transposed_times_matrix();
        }
        constexpr index_t block = 512;
        const index_t blocks = (of.rows + block - 1) / block;
        run_on_workers(static_cast<std::size_t>(blocks), [&](std::size_t begin, std::size_t end) {
            const index_t first = static_cast<index_t>(begin) * block;
            const index_t last = std::min(static_cast<index_t>(end) * block, of.rows);
            if (of.width == 1)
                rows_times_vector(first, last);
            else
                rows_times_matrix(first, last);
        });
    }
};

}  // namespace

void sparse_product_on_host(const sparse_product& p) {
    with_types(p.type, p.index_type, [&]<class T, class I>() { typed_product<T, I>{p}.run(); });
}

}  // namespace ingot::runtime
