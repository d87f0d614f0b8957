// Bitonic sorting of rows: of complex numbers, and of others where neither a block (short_rows.cpp) nor CUB's kernels
// (radix_sort.cpp) sort them. Tiles are sorted in shared memory; steps over longer distances work in global memory. The
// first step of a merge compares i with its mirror, so every comparison moves the greater element up: elements missing
// above a row's end count as greater than all and are never touched.
#include <algorithm>
#include <bit>
#include <string>

#include <ingot/core/buffer.hpp>
#include <ingot/core/error.hpp>

#include "runtime/device/ordering.hpp"
#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sorting/bitonic_kernels.cuh.hpp"
#include "runtime/sorting/radix_sort.hpp"

#ifdef INGOT_HAS_CUDA_HEADERS

namespace ingot::runtime {

namespace {

constexpr std::uint32_t tile = 2048, threads = 512;

struct arguments {
    const void* from;
    void *elements, *indices;  // the elements being sorted, and where their indices go in the end
    long long length, from_stride, stride, indices_stride, rows, tiles;
    long long size, distance;  // of a merge, and of its step (0: the first, which compares mirrors)
    long long last;
};

constexpr std::string_view declarations = R"(typedef long long int64;
struct arguments {
    const value* from;
    element* elements;
    int64* indices;
    int64 length, from_stride, stride, indices_stride, rows, tiles, size, distance, last;
};
)";

constexpr std::string_view of_values = R"(__device__ element load(const arguments& a, int64 row, int64 at) {
    return a.size == 0 ? a.from[row * a.from_stride + at] : a.elements[row * a.stride + at];
}
__device__ void store(const arguments& a, int64 row, int64 at, const element& e) { a.elements[row * a.stride + at] = e; }
)";
constexpr std::string_view of_numbers =
    "__device__ bool before(value a, value b) { return a < b || (b != b && a == a); }\n";
// Halves as ordered integers: both zeros are 0, and NaN is the greatest.
constexpr std::string_view of_halves = R"(__device__ int rank(value v) {
    const int magnitude = v & 0x7fff;
    return magnitude > infinity ? 0x8000 : v & 0x8000 ? -magnitude : magnitude;
}
__device__ bool before(value a, value b) { return rank(a) < rank(b); }
)";
constexpr std::string_view of_complex = R"(__device__ bool before(number a, number b) {
    return a < b || (b != b && a == a);
}
__device__ int nan_parts(const value& z) { return 2 * (z.re != z.re) + (z.im != z.im); }
__device__ bool before(const value& a, const value& b) {
    if (nan_parts(a) != nan_parts(b)) return nan_parts(a) < nan_parts(b);
    return before(a.re, b.re) || (!before(b.re, a.re) && before(a.im, b.im));
}
)";
// A key and its index, which is unique, so that equal keys stay in order.
constexpr std::string_view of_indices = R"(__device__ bool before(const element& a, const element& b) {
    return before(a.key, b.key) || (!before(b.key, a.key) && a.index < b.index);
}
__device__ element load(const arguments& a, int64 row, int64 at) {
    if (a.size != 0) return a.elements[row * a.stride + at];
    const element e = {a.from[row * a.from_stride + at], at};
    return e;
}
__device__ void store(const arguments& a, int64 row, int64 at, const element& e) {
    if (a.last)
        a.indices[row * a.indices_stride + at] = e.index;
    else
        a.elements[row * a.stride + at] = e;
}
)";

std::string value_text(dtype type) {
    switch (type) {
        case dtype::i1:
            return "typedef signed char value;\n";
        case dtype::b1:
        case dtype::u1:
            return "typedef unsigned char value;\n";
        case dtype::f2:
            return "typedef unsigned short value;\nconstexpr int infinity = 0x7c00;\n";
        case dtype::bf:
            return "typedef unsigned short value;\nconstexpr int infinity = 0x7f80;\n";
        case dtype::i2:
            return "typedef short value;\n";
        case dtype::u2:
            return "typedef unsigned short value;\n";
        case dtype::i4:
            return "typedef int value;\n";
        case dtype::u4:
            return "typedef unsigned value;\n";
        case dtype::i8:
            return "typedef long long value;\n";
        case dtype::u8:
            return "typedef unsigned long long value;\n";
        case dtype::f4:
            return "typedef float value;\n";
        case dtype::f8:
            return "typedef double value;\n";
        case dtype::c8:
            return "typedef float number;\nstruct value { number re, im; };\n";
        case dtype::c16:
            return "typedef double number;\nstruct value { number re, im; };\n";
        default:
            throw library_error("[sort] nothing sorts " + std::string(name(type)) + " on a GPU");
    }
}

std::string sort_text(dtype type, bool as_indices) {
    std::string text = value_text(type);
    text += as_indices ? "struct element { value key; long long index; };\n" : "typedef value element;\n";
    text += declarations;
    text += detail::kind_of(type) == detail::kind::complex ? of_complex
            : type == dtype::f2 || type == dtype::bf       ? of_halves
                                                           : of_numbers;
    text += as_indices ? of_indices : of_values;
    text += '\n';
    text += embedded::bitonic_kernels;
    return text;
}

struct sort_kernels {
    loaded_kernel tiles, across;
};
const sort_kernels& kernels_for(dtype type, bool as_indices, device_id device) {
    return own_kernels<sort_kernels>(device, {"sort_tiles", "sort_across"}, {type, as_indices},
                                     [&] { return sort_text(type, as_indices); });
}

void launch(const loaded_kernel& kernel, arguments a, long long blocks, const stream_state& stream) {
    constexpr long long most = 0x7fffffff;
    if (blocks > most)
        throw library_error("[sort] " + std::to_string(a.rows) + " rows of " + std::to_string(a.length) +
                            " are more blocks than a GPU's grid has");
    launch_kernel("sort", kernel, a, static_cast<unsigned>(blocks), 1, threads, stream);
}

}  // namespace

void sort_on_gpu(const row_sort& r, stream_state& stream) {
    const dtype type = r.type;
    const bool as_indices = r.as_indices;
    if (detail::kind_of(type) != detail::kind::complex) {
        if (r.length <= longest_short_row(type, as_indices)) return sort_short_rows(r, type, as_indices, stream);
        if (has_radix_sort(stream.device)) return radix_sort_rows(r, type, as_indices, stream);
    }
    const sort_kernels& kernels = kernels_for(type, as_indices, stream.device);
    const long long tiles = (r.length + tile - 1) / tile;
    arguments a{r.from, r.to, nullptr, r.length, r.from_stride, r.to_stride, r.to_stride, r.rows, tiles, 0, 0, 0};
    buffer_ref pairs;
    if (as_indices) {
        a.elements = nullptr, a.indices = r.to, a.stride = r.length, a.last = tiles == 1;
        if (tiles > 1) {
            const std::size_t each = std::max(detail::size_of(type), sizeof(index_t)) + sizeof(index_t);
            pairs = allocate_buffer(static_cast<std::size_t>(r.rows * r.length) * each, stream.device, stream);
            order_write(*pairs, stream);
            a.elements = pairs->data;
        }
    }
    index_t room = tile;
    while (room / 2 >= r.length) room /= 2;
    const long long rows_of_a_block = tile / room;
    launch(kernels.tiles, a, tiles > 1 ? tiles * r.rows : (r.rows + rows_of_a_block - 1) / rows_of_a_block, stream);
    for (a.size = 2 * tile; a.size / 2 < r.length; a.size *= 2) {
        for (long long distance = 0; distance == 0 || distance >= tile;
             distance = distance == 0 ? a.size / 4 : distance / 2) {
            const long long half = distance == 0 ? a.size / 2 : distance;
            arguments step = a;
            step.distance = distance;
            step.tiles = (r.length + 2 * half - 1) / (2 * half) * half;  // the comparisons of a row
            launch(kernels.across, step, (step.tiles * r.rows + threads - 1) / threads, stream);
        }
        a.last = as_indices && a.size >= r.length;
        launch(kernels.tiles, a, tiles * r.rows, stream);
    }
}

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

void sort_on_gpu(const row_sort&, stream_state&) {
    throw library_error("[sort] Ingot was built without CUDA's headers");
}

}  // namespace ingot::runtime

#endif
