// CBLAS as a typed table: OpenBLAS, or any other library with that interface that the loader finds.
#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/half.hpp>

#include "runtime/linalg/matrix_product.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

// The interface's constants and functions, as its standard defines them.
constexpr int by_columns = 102, as_it_is = 111, transposed = 112;
struct cblas_api : api_table {
    using api_table::api_table;
    static library_files files() {
        return {{"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libblis.so.4", "libcblas.so.3"},
                "no library of BLAS is here: libopenblas.so.0 is wanted (Debian: libopenblas0)"};
    }

    void (*cblas_sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                        int) = function("cblas_sgemm");
    void (*cblas_dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                        int) = function("cblas_dgemm");
    void (*cblas_cgemm)(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                        void*, int) = function("cblas_cgemm");
    void (*cblas_zgemm)(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                        void*, int) = function("cblas_zgemm");
};

int as_int(index_t n) {
    if (n > std::numeric_limits<int>::max())
        throw library_error("[matmul] an extent or stride of " + std::to_string(n) + " is too large for CBLAS");
    return static_cast<int>(n);
}

template <class T, class F, class S>
void multiply(const product_call& c, F gemm, S one, S zero) {
    for (index_t i = 0; i < c.batch; ++i)
        gemm(by_columns, c.transposed[0] ? transposed : as_it_is, c.transposed[1] ? transposed : as_it_is, as_int(c.m),
             as_int(c.n), as_int(c.k), one, static_cast<const T*>(c.operands[0]) + i * c.strides[0],
             as_int(c.leading[0]), static_cast<const T*>(c.operands[1]) + i * c.strides[1], as_int(c.leading[1]), zero,
             static_cast<T*>(c.result) + i * c.strides[2], as_int(c.leading_of_result));
}

/// Converts to float32, in which the sums are computed.
template <class H>
void multiply_halves(product_call c, const cblas_api& api) {
    const index_t lines[2] = {c.transposed[0] ? c.m : c.k, c.transposed[1] ? c.k : c.n};
    const index_t length[2] = {c.transposed[0] ? c.k : c.m, c.transposed[1] ? c.n : c.k};
    const product_call given = c;
    std::vector<float> wide[2], sums(static_cast<std::size_t>(c.m * c.n));
    c.batch = 1;
    for (index_t i = 0; i < given.batch; ++i) {
        for (int o = 0; o < 2; ++o) {
            const H* const from = static_cast<const H*>(given.operands[o]) + i * given.strides[o];
            wide[o].clear();
            for (index_t line = 0; line < lines[o]; ++line)
                for (index_t j = 0; j < length[o]; ++j)
                    wide[o].push_back(static_cast<float>(from[line * given.leading[o] + j]));
            c.operands[o] = wide[o].data();
            c.leading[o] = std::max<index_t>(length[o], 1);
        }
        c.result = sums.data(), c.leading_of_result = c.m;
        multiply<float>(c, api.cblas_sgemm, 1.0f, 0.0f);
        H* const to = static_cast<H*>(given.result) + i * given.strides[2];
        for (index_t row = 0; row < c.n; ++row)
            for (index_t j = 0; j < c.m; ++j)
                to[row * given.leading_of_result + j] = H(sums[static_cast<std::size_t>(row * c.m + j)]);
    }
}

}  // namespace

void call_cblas(const product_call& c) {
    const cblas_api& api = opened_library<cblas_api>::get("matmul");
    const std::complex<double> one(1), zero(0);
    const std::complex<float> one_f(1), zero_f(0);
    switch (c.type) {
        case dtype::f4:
            return multiply<float>(c, api.cblas_sgemm, 1.0f, 0.0f);
        case dtype::f8:
            return multiply<double>(c, api.cblas_dgemm, 1.0, 0.0);
        case dtype::c8:
            return multiply<std::complex<float>>(c, api.cblas_cgemm, static_cast<const void*>(&one_f),
                                                 static_cast<const void*>(&zero_f));
        case dtype::c16:
            return multiply<std::complex<double>>(c, api.cblas_zgemm, static_cast<const void*>(&one),
                                                  static_cast<const void*>(&zero));
        case dtype::f2:
            return multiply_halves<float16>(c, api);
        case dtype::bf:
            return multiply_halves<bfloat16>(c, api);
        default:
            throw library_error("[matmul] CBLAS multiplies no " + std::string(name(c.type)));
    }
}

}  // namespace ingot::runtime
