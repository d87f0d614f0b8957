#include "runtime/sorting/sampled_filter.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sorting/key_order.hpp"
#include "runtime/sorting/sampled_filter_kernels.cuh.hpp"
#include "runtime/sorting/sum_before.cuh.hpp"

namespace ingot::runtime {

selection_limits& limits_of_selection() {
    static selection_limits limits;
    return limits;
}

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

constexpr unsigned threads = 256;

struct arguments {
    const void* from;
    void *samples, *bounds;
    filter_counts* counts;
    void* aside;
    long long* indices;
    long long length, room, spacing;
    int samples_each, high_rank, low_rank;
};

struct filter_kernels {
    loaded_kernel maxima, elements, choose, filter;
};
const filter_kernels& kernels_for(dtype type, bool as_indices, bool largest, device_id device) {
    return own_kernels<filter_kernels>(
        device, {"sample_maxima", "sample_elements", "choose_bounds", "filter_elements"}, {type, as_indices, largest},
        [&] {
            std::string text = key_order_text(type, true);
            text += largest ? "constexpr bool largest = true;\n" : "constexpr bool largest = false;\n";
            text += as_indices ? "constexpr bool keeps_indices = true;\ntypedef key aside_element;\n"
                               : "constexpr bool keeps_indices = false;\ntypedef value aside_element;\n";
            text += embedded::sum_before;
            return text += embedded::sampled_filter_kernels;
        });
}

std::size_t key_bytes_of(dtype type) { return std::max<std::size_t>(detail::size_of(type), 4); }
std::size_t sample_bytes(index_t rows, dtype type) {
    return static_cast<std::size_t>(rows * samples_of_row) * key_bytes_of(type);
}

arguments arguments_of(const filtered_rows& r) {
    return {r.from,   r.scratch, r.scratch + sample_bytes(r.rows, r.type),
            r.counts, r.aside,   r.indices,
            r.length, r.room,    0,
            0,        0,         0};
}
void set_aside(const filter_kernels& kernels, const filtered_rows& r, const arguments& a, const char* what,
               const stream_state& stream) {
    const auto rows = static_cast<unsigned>(r.rows);
    const index_t tile = threads * (detail::size_of(r.type) == 8 ? 8 : 16);
    launch_kernel(what, kernels.choose, a, 1, rows, threads, stream);
    launch_kernel(what, kernels.filter, a, static_cast<unsigned>((r.length + tile - 1) / tile), rows, threads, stream);
}

}  // namespace

std::size_t filter_scratch(index_t rows, dtype type) {
    return sample_bytes(rows, type) + static_cast<std::size_t>(2 * rows) * key_bytes_of(type);
}

void set_greatest_aside(const filtered_rows& r, bool largest, index_t rank, stream_state& stream) {
    constexpr index_t blocks = 128, lanes_of_group = 4, most_each = 32, part = 16;  // samples: at most a 16th
    static_assert(blocks * threads / lanes_of_group == samples_of_row);
    const filter_kernels& kernels = kernels_for(r.type, r.indices != nullptr, largest, stream.device);
    arguments a = arguments_of(r);
    a.samples_each = static_cast<int>(std::clamp<index_t>(r.length / (part * blocks * index_t{threads}), 1, most_each));
    a.spacing = r.length / (blocks * a.samples_each);
    a.low_rank = static_cast<int>(rank);
    launch_kernel("topk", kernels.maxima, a, static_cast<unsigned>(blocks), static_cast<unsigned>(r.rows), threads,
                  stream);
    set_aside(kernels, r, a, "topk", stream);
}

void set_quantile_aside(const filtered_rows& r, double q, stream_state& stream) {
    const filter_kernels& kernels = kernels_for(r.type, r.indices != nullptr, true, stream.device);
    arguments a = arguments_of(r);
    a.spacing = r.length / samples_of_row;
    // Five deviations to either side, and a margin for the ends, where the normal approximation fails.
    constexpr auto all = static_cast<double>(samples_of_row);
    const double about = all * (1 - q), beside = 5 * std::sqrt(all * q * (1 - q)) + 8;
    a.high_rank = static_cast<int>(std::floor(about - beside));
    a.low_rank = static_cast<int>(std::ceil(about + beside));
    launch_kernel("quantile", kernels.elements, a, static_cast<unsigned>(samples_of_row / threads),
                  static_cast<unsigned>(r.rows), threads, stream);
    set_aside(kernels, r, a, "quantile", stream);
}

#endif

}  // namespace ingot::runtime
