// Bitonic sorting of rows that fit a block, in registers: a thread holds eight elements, neighbouring threads exchange
// theirs by shuffles, and threads of other warps through shared memory. Several short rows share a block.
//
// The first step of a merge compares i with its mirror, so that every comparison moves the greater element up; elements
// missing above a row's end count as greater than all.
#include <algorithm>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sorting/key_order.hpp"
#include "runtime/sorting/short_rows_kernel.cuh.hpp"
#include "runtime/sorting/sort_rows.hpp"

#ifdef INGOT_HAS_CUDA_HEADERS

namespace ingot::runtime {

namespace {

constexpr int elements_of_thread = 8;

struct arguments {
    const void* from;
    void* to;
    long long length, from_stride, to_stride, rows;
    long long count;     // sorted elements to write for each row
    int threads_of_row;  // a power of two; a thread has eight elements
};

// A key; or, for indices, a number of the key and the index, which is unique, so that equal keys stay in order. Keys of
// 64 bits have the index beside them.
constexpr std::string_view of_values = R"(typedef key element;
typedef value result;
__device__ bool before(element a, element b) { return a < b; }
__device__ element element_of(value v, int) { return into_order(v); }
__device__ result result_of(element e) { return out_of_order(e); }
__device__ element last() { return value(-1); }
__device__ element exchange(element e, int mask) { return __shfl_xor_sync(0xffffffffu, e, mask); }
)";
constexpr std::string_view of_narrow_indices = R"(typedef unsigned long long element;
typedef long long result;
__device__ bool before(element a, element b) { return a < b; }
__device__ element element_of(value v, int index) { return element(ordered(v)) << 32 | unsigned(index); }
__device__ result result_of(element e) { return result(e & 0xffffffffu); }
__device__ element last() { return element(-1); }
__device__ element exchange(element e, int mask) { return __shfl_xor_sync(0xffffffffu, e, mask); }
)";
constexpr std::string_view of_wide_indices = R"(struct element {
    key order;
    unsigned index;
};
typedef long long result;
__device__ bool before(const element& a, const element& b) {
    return a.order < b.order || (a.order == b.order && a.index < b.index);
}
__device__ element element_of(value v, int index) { return {ordered(v), unsigned(index)}; }
__device__ result result_of(const element& e) { return result(e.index); }
__device__ element last() { return {key(-1), 0xffffffffu}; }
__device__ element exchange(const element& e, int mask) {
    return {__shfl_xor_sync(0xffffffffu, e.order, mask), __shfl_xor_sync(0xffffffffu, e.index, mask)};
}
)";

std::string text_of_short_rows(dtype type, bool as_indices, bool descending, int threads) {
    std::string text = "constexpr int block = " + std::to_string(threads) + ";\n" + key_order_text(type, as_indices);
    if (as_indices)
        text += descending ? "__device__ key ordered(value v) { return value(~into_order(v)); }\n"
                           : "__device__ key ordered(value v) { return into_order(v); }\n";
    text += !as_indices ? of_values : detail::size_of(type) < 8 ? of_narrow_indices : of_wide_indices;
    text += embedded::short_rows_kernel;
    return text;
}

struct short_row_kernel {
    loaded_kernel sort;
};
const loaded_kernel& kernel_for(dtype type, bool as_indices, bool descending, int threads, device_id device) {
    return own_kernels<short_row_kernel>(device, {"sort_short_rows"}, {type, as_indices, descending, threads},
                                         [&] { return text_of_short_rows(type, as_indices, descending, threads); })
        .sort;
}

void sort(const sorted_rows& r, dtype type, bool as_indices, bool descending, index_t count, stream_state& stream) {
    arguments a{r.from, r.to, r.length, r.from_stride, r.to_stride, r.rows, count, 1};
    while (a.threads_of_row * elements_of_thread < r.length) a.threads_of_row *= 2;
    const int threads = std::max(a.threads_of_row, 256);
    const loaded_kernel& kernel = kernel_for(type, as_indices, descending, threads, stream.device);
    const index_t rows_of_block = threads / a.threads_of_row, blocks = (r.rows + rows_of_block - 1) / rows_of_block;
    if (blocks > 0x7fffffff)
        throw library_error("[sort] " + std::to_string(r.rows) + " rows are more blocks than a GPU's grid has");
    launch_kernel("sort", kernel, a, static_cast<unsigned>(blocks), 1, static_cast<unsigned>(threads), stream);
}

}  // namespace

void sort_short_rows(const sorted_rows& r, dtype type, bool as_indices, stream_state& stream) {
    sort(r, type, as_indices, false, r.length, stream);
}
void argsort_first_of_short_rows(const sorted_rows& r, dtype type, bool descending, index_t count,
                                 stream_state& stream) {
    sort(r, type, true, descending, count, stream);
}

}  // namespace ingot::runtime

#endif
