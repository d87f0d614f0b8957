// Products of a csr on the host. Rows are computed in blocks by the host's threads, each row in the order of its
// entries. A transposed product goes through the rows on one thread, and adds to the elements that the columns name.
#include <algorithm>
#include <complex>
#include <cstdint>

#include "runtime/device/host_workers.hpp"
#include "runtime/sparse/product.hpp"

namespace ingot::runtime {

namespace {

using detail::index_t;

/// The product without C++'s checks for infinities.
template <class T>
T times(T a, T b) {
    return a * b;
}
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T, class I>
struct typed_product {
    const sparse_product& of;
    const T* values = static_cast<const T*>(of.values);
    const I* indices = static_cast<const I*>(of.indices);
    const I* indptr = static_cast<const I*>(of.indptr);
    const T* x = static_cast<const T*>(of.x);
    T* y = static_cast<T*>(of.y);

    void rows_times_vector(index_t begin, index_t end) const {
        for (index_t row = begin; row < end; ++row) {
            T sum{};
            for (I e = indptr[row]; e < indptr[row + 1]; ++e) sum += times(values[e], x[indices[e]]);
            y[row] = sum;
        }
    }
    void rows_times_matrix(index_t begin, index_t end) const {
        const index_t k = of.width;
        for (index_t row = begin; row < end; ++row) {
            T* const to = y + row * k;
            std::fill_n(to, k, T{});
            for (I e = indptr[row]; e < indptr[row + 1]; ++e) {
                const T v = values[e];
                const T* const from = x + static_cast<index_t>(indices[e]) * k;
                for (index_t j = 0; j < k; ++j) to[j] += times(v, from[j]);
            }
        }
    }
    void columns() const {
        const index_t k = of.width;
        std::fill_n(y, of.columns * k, T{});
        for (index_t row = 0; row < of.rows; ++row)
            for (I e = indptr[row]; e < indptr[row + 1]; ++e) {
                const T v = values[e];
                T* const to = y + static_cast<index_t>(indices[e]) * k;
                for (index_t j = 0; j < k; ++j) to[j] += times(v, x[row * k + j]);
            }
    }

    void run() const {
        if (of.is_transposed) return columns();
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

template <class T>
void run_with_elements(const sparse_product& p) {
    if (p.index_type == dtype::i4)
        typed_product<T, std::int32_t>{p}.run();
    else
        typed_product<T, std::int64_t>{p}.run();
}

}  // namespace

void sparse_product_on_host(const sparse_product& p) {
    switch (p.type) {
        case dtype::f4:
            return run_with_elements<float>(p);
        case dtype::f8:
            return run_with_elements<double>(p);
        case dtype::c8:
            return run_with_elements<std::complex<float>>(p);
        default:
            return run_with_elements<std::complex<double>>(p);
    }
}

}  // namespace ingot::runtime
