// Products of a csr on a GPU, by kernels of Ingot's own. A row is a group's of 1 to 32 lanes: for a vector by the mean
// number of entries in a row, for a matrix by its number of columns. Each sum is added in one order, so that bits are
// the same in every run.
#include <algorithm>
#include <bit>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sparse/element_text.hpp"
#include "runtime/sparse/lanes.cuh.hpp"
#include "runtime/sparse/product.hpp"
#include "runtime/sparse/product_kernels.cuh.hpp"

namespace ingot::runtime {

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

struct product_arguments {
    const void *values, *indices, *starts, *x;
    void* y;
    long long rows, columns, width;
};
struct product_kernels {
    loaded_kernel times_vector, times_matrix;
};

constexpr std::string_view real_text = R"(
__device__ value with_product(value sum, value a, value b) { return sum + a * b; }
__device__ value sum_of(value a, value b) { return a + b; }
)";
constexpr std::string_view complex_text = R"(struct alignas(2 * sizeof(part)) value { part re, im; };
__device__ value with_product(value sum, value a, value b) {
    return {sum.re + (a.re * b.re - a.im * b.im), sum.im + (a.re * b.im + a.im * b.re)};
}
__device__ value sum_of(value a, value b) { return {a.re + b.re, a.im + b.im}; }
)";

}  // namespace

std::string element_text(dtype type, dtype index_type, unsigned lanes) {
    const bool is_complex = type == dtype::c8 || type == dtype::c16;
    const bool is_single = type == dtype::f4 || type == dtype::c8;
    std::string text = is_single ? "typedef float part;\n" : "typedef double part;\n";
    text += index_type == dtype::i4 ? "typedef int index;\n" : "typedef long long index;\n";
    text += "constexpr int lanes = " + std::to_string(lanes) + ";\n";
    if (!is_complex) text += "typedef part value;\n";
    text += is_complex ? complex_text : real_text;
    text += embedded::lanes;
    return text;
}

void sparse_product_on_gpu(const sparse_product& p, stream_state& stream) {
    stream.backend->bind_thread();
    const bool is_vector = p.width == 1;
    const detail::index_t wanted = is_vector ? p.entries / std::max<detail::index_t>(p.rows, 1) / 2 : p.width;
    const unsigned lanes = std::bit_ceil(static_cast<unsigned>(std::clamp<detail::index_t>(wanted, 1, 32)));
    const product_kernels& kernels = own_kernels<product_kernels>(
        stream.device, {"times_vector", "times_matrix"}, {p.type, p.index_type, lanes},
        [&] { return element_text(p.type, p.index_type, lanes).append(embedded::product_kernels); });
    const detail::index_t rows_of_block = 256 / lanes, blocks = (p.rows + rows_of_block - 1) / rows_of_block;
    launch_kernel("a sparse product", is_vector ? kernels.times_vector : kernels.times_matrix,
                  product_arguments{p.values, p.indices, p.indptr, p.x, p.y, p.rows, p.columns, p.width},
                  static_cast<unsigned>(blocks), 1, 256, stream);
}

#else

void sparse_product_on_gpu(const sparse_product&, stream_state&) {}

#endif

}  // namespace ingot::runtime
