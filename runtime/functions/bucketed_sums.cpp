// Exact sums of float32 numbers scattered over indices, on a GPU. Indices lie in buckets of up to 2048 adjacent ones;
// shared memory holds a number of 320 bits for each index of a bucket, which represents any sum of float32 exactly, in
// whatever order it is added. (1) The numbers are brought together by bucket, in no order. (2) Blocks add each bucket's
// numbers, one block for a part of them. (3) Where a bucket has several blocks, their sums are added in memory. With a
// single bucket the numbers are read in place.
#include <algorithm>
#include <bit>
#include <string>

#include <ingot/core/scatter.hpp>

#include "runtime/device/device_facts.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/functions/bucketed_sums_kernels.cuh.hpp"
#include "runtime/kernels/own_kernels.hpp"

namespace ingot::runtime {

#ifdef INGOT_HAS_CUDA_HEADERS

namespace {

constexpr int log_bins = 11, bins = 1 << log_bins;  // at most, for each bucket
constexpr index_t most_buckets = 2048, most_bins = most_buckets * bins;
constexpr int tile_length = 8192, threads = 512, scan_threads = 1024;
constexpr int digits = 10;  // of 32 bits; another word records what is not finite
constexpr unsigned partition_bytes = tile_length * 8 + 2 * most_buckets * 4, sum_bytes = (digits + 1) * bins * 4;

struct arguments {
    const long long* at;
    const float* weights;
    double* sums;
    unsigned *counts, *cursors;  // for each bucket
    long long* begins;           // where each bucket begins among the pairs, and their total number
    unsigned *parts, *slots;     // before each bucket: number of parts, and of those of buckets with several
    void* pairs;                 // null with a single bucket
    unsigned long long* digits;  // for each bucket of several parts
    long long length, bins, part;
    int shift, buckets;
};

struct sum_kernels {
    loaded_kernel count, sum, partition, parts, finish;
};
const sum_kernels& kernels_for(device_id device) {
    return own_kernels<sum_kernels>(device, {"count_buckets", "sum_counts", "partition", "sum_parts", "finish_sums"},
                                    {}, [] { return std::string(embedded::bucketed_sums_kernels); });
}

constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// Gives some 512 buckets, so that few numbers of a warp fall into the same one.
int shift_for(index_t n) {
    constexpr int log_buckets = 9, least = 5;
    if (n <= bins) return log_bins;
    return std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))) - log_buckets, least,
                      log_bins);
}

template <class T>
T* of(const buffer_ref& memory) {
    return static_cast<T*>(memory->data);
}

}  // namespace

#endif

}  // namespace ingot::runtime

namespace ingot::detail {

array<double> exact_sums_of_singles(const char* operation, const array<index_t>& at, const array<float>& weights,
                                    index_t n) {
    using namespace runtime;
#ifdef INGOT_HAS_CUDA_HEADERS
    const index_t length = weights.size();
    constexpr std::uint32_t least_architecture = 80;  // the oldest whose blocks may have so much shared memory
    if (weights.device().is_cuda() && at.device() == weights.device() && n != 0 && length != 0 && n <= most_bins &&
        length < INT32_MAX && architecture_of(weights.device()) >= least_architecture) {
        array<double> sums = zeroed<double>(operation, std::span<const index_t>(&n, 1), weights.device());
        const leaf<index_t>& indices = at.as_leaf();
        const leaf<float>& from = weights.as_leaf();
        const buffer_ref& to = access::target(sums).memory();
        stream_state& stream = *context_on(to->device).stream;
        stream.backend->bind_thread();
        const sum_kernels& kernels = kernels_for(stream.device);
        const auto launch_of = [&](const loaded_kernel& kernel, const arguments& a, index_t blocks, index_t rows,
                                   unsigned size, unsigned bytes) {
            launch_kernel(operation, kernel, a, static_cast<unsigned>(blocks), static_cast<unsigned>(rows), size,
                          stream, bytes);
        };
        const auto room_of = [&](std::size_t bytes) {
            buffer_ref room = allocate_buffer(bytes, stream.device, stream);
            order_write(*room, stream);
            return room;
        };

        arguments a{};
        a.shift = shift_for(n);
        a.buckets = static_cast<int>(ceil_div(n, index_t{1} << a.shift));
        const bool is_one = a.buckets == 1;
        a.part = is_one ? std::max<index_t>(tile_length, ceil_div(length, 512))
                        : std::max<index_t>(8 * tile_length, ceil_div(length, 256));
        a.length = length, a.bins = n;
        const index_t most_slots = is_one ? 1 : length / a.part;
        const auto buckets = static_cast<std::size_t>(a.buckets);
        const auto counters = room_of((4 * buckets + 2) * sizeof(unsigned));
        a.counts = of<unsigned>(counters), a.cursors = a.counts + buckets, a.parts = a.cursors + buckets;
        a.slots = a.parts + buckets + 1;
        const auto sums_of_digits =
            room_of(static_cast<std::size_t>(most_slots) * (digits + 1) * bins * sizeof(std::uint64_t));
        a.digits = of<unsigned long long>(sums_of_digits);
        array<index_t> begins =
            zeroed<index_t>(operation, std::array{static_cast<index_t>(a.buckets) + 1}, weights.device());
        order_read(*indices.memory(), stream);
        order_read(*from.memory(), stream);
        order_write(*to, stream);
        order_write(*access::target(begins).memory(), stream);
        a.at = of<const long long>(indices.memory()) + indices.where().offset;
        a.weights = of<const float>(from.memory()) + from.where().offset;
        a.sums = of<double>(to);
        a.begins = of<long long>(access::target(begins).memory());

        stream.backend->fill(a.counts, 0, buckets * sizeof(unsigned), stream.native);
        if (most_slots != 0) stream.backend->fill(a.digits, 0, sums_of_digits->bytes, stream.native);
        const index_t tiles = ceil_div(length, tile_length);
        if (!is_one)
            launch_of(kernels.count, a, std::min<index_t>(tiles, 4 * processors_of(stream.device)), 1, threads, 0);
        launch_of(kernels.sum, a, 1, 1, scan_threads, 0);
        // Throws where an index was out of range.
        if (begins(a.buckets).item() == 0) return sums;
        buffer_ref pairs;
        if (!is_one) {
            pairs = room_of(static_cast<std::size_t>(length) * 8);
            a.pairs = pairs->data;
            launch_of(kernels.partition, a, tiles, 1, threads, partition_bytes);
        }
        launch_of(kernels.parts, a, a.buckets + ceil_div(length, a.part), 1, threads, sum_bytes);
        if (most_slots != 0) launch_of(kernels.finish, a, ceil_div(index_t{1} << a.shift, 256), most_slots, 256, 0);
        return sums;
    }
#endif
    return exact_sums(operation, at, array<double>(astype<double>(weights)), n);
}

}  // namespace ingot::detail
