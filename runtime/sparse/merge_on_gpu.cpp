// The merge of two csr matrices on a GPU, by kernels of Ingot's own.
#include <string>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sparse/element_text.hpp"
#include "runtime/sparse/merge.hpp"
#include "runtime/sparse/merge_kernels.cuh.hpp"
#include "runtime/sparse/merge_walk.cuh.hpp"

namespace ingot::runtime {

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

struct merge_arguments {
    csr_parts a, b;
    long long rows, items;
    void *counts, *values, *indices, *indptr;
};
struct merge_kernels {
    loaded_kernel count, write;
};

/// In the order of the enumerators.
constexpr const char* real_rules[] = {"x + y", "x - y", "x * y", "x != y", "x < y", "x > y"};
constexpr const char* complex_rules[] = {"sum_of(x, y)", "value{x.re - y.re, x.im - y.im}", "with_product({}, x, y)",
                                         "x.re != y.re || x.im != y.im"};

std::string merge_text(const sparse_merge& m) {
    const bool is_complex = m.type == dtype::c8 || m.type == dtype::c16;
    std::string text = element_text(m.type, m.index_type, 1);
    text += m.rule < merge_rule::not_equal ? "typedef value made;\n" : "typedef float made;\n";
    text += std::string("__device__ made merged(value x, value y) { return ") +
            (is_complex ? complex_rules : real_rules)[static_cast<int>(m.rule)] + "; }\n";
    text += "__device__ bool is_kept(part v) { return v != 0; }\n";
    if (is_complex) text += "__device__ bool is_kept(value v) { return v.re != 0 || v.im != 0; }\n";
    text +=
        "constexpr int64 piece = " + std::to_string(items_of_piece(true)) + ";\n#define INGOT_ANYWHERE __device__\n";
    text += embedded::merge_walk;
    return text += embedded::merge_kernels;
}

void launch_merge(const sparse_merge& m, loaded_kernel merge_kernels::*kernel, stream_state& stream) {
    stream.backend->bind_thread();
    const merge_kernels& kernels = own_kernels<merge_kernels>(
        stream.device, {"count_merged", "write_merged"}, {m.type, m.index_type, m.rule}, [&] { return merge_text(m); });
    constexpr unsigned threads = 256;
    const detail::index_t of_block = threads * items_of_piece(true), blocks = (m.items + of_block - 1) / of_block;
    launch_kernel("a merge of sparse matrices", kernels.*kernel,
                  merge_arguments{m.a, m.b, m.rows, m.items, m.counts, m.values, m.indices, m.indptr},
                  static_cast<unsigned>(blocks), 1, threads, stream);
}

}  // namespace

void count_merged_on_gpu(const sparse_merge& m, stream_state& stream) {
    launch_merge(m, &merge_kernels::count, stream);
}
void write_merged_on_gpu(const sparse_merge& m, stream_state& stream) {
    launch_merge(m, &merge_kernels::write, stream);
}

#else

void count_merged_on_gpu(const sparse_merge&, stream_state&) {}
void write_merged_on_gpu(const sparse_merge&, stream_state&) {}

#endif

}  // namespace ingot::runtime
