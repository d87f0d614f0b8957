// Finds the greatest or the least elements of long rows by selecting digit by digit, from the highest, without sorting.
//
// A pass counts the digits of the undecided elements, and the last block to end finds the digit at which the wanted
// number is reached. Elements are ordered by their keys and then by their indices, so that no two are equal and earlier
// ones win. After the first pass the elements with that digit are copied aside if they are few, so the whole is read
// twice. If all elements with a digit are wanted, later passes do nothing. For few elements of a very long row a sample
// gives the candidates (sampled_filter.hpp), and the passes read only these; in rows with too many of them, for example
// because most elements are equal, they read everything.
#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sorting/key_order.hpp"
#include "runtime/sorting/row_order.hpp"
#include "runtime/sorting/sampled_filter.hpp"
#include "runtime/sorting/select_kernels.cuh.hpp"
#include "runtime/sorting/sum_before.cuh.hpp"

namespace ingot::runtime {

namespace {

/// The few indices of a row that win, in any order: a heap of those found so far, with the worst one on top.
template <class Wins>
void select_few(std::vector<index_t>& chosen, index_t length, index_t count, const Wins& wins) {
    chosen.resize(static_cast<std::size_t>(count));
    std::iota(chosen.begin(), chosen.end(), index_t{0});
    std::make_heap(chosen.begin(), chosen.end(), wins);
    for (index_t i = count; i < length; ++i) {
        if (!wins(i, chosen.front())) continue;
        std::pop_heap(chosen.begin(), chosen.end(), wins);
        chosen.back() = i;
        std::push_heap(chosen.begin(), chosen.end(), wins);
    }
}

template <class T>
void select_as(const row_selection& s) {
    run_on_workers(static_cast<std::size_t>(s.rows), [&](std::size_t begin, std::size_t end) {
        std::vector<index_t> indices;
        for (std::size_t i = begin; i < end; ++i) {
            const T* const row = reinterpret_cast<const T*>(s.from) + static_cast<index_t>(i) * s.length;
            const in_order before;
            const auto wins = [&](index_t a, index_t b) {
                const T &x = row[a], &y = row[b];
                if (s.largest ? before(y, x) : before(x, y)) return true;
                return a < b && !(s.largest ? before(x, y) : before(y, x));
            };
            if (s.count <= s.length / 64) {
                select_few(indices, s.length, s.count, wins);
            } else {
                indices.resize(static_cast<std::size_t>(s.length));
                std::iota(indices.begin(), indices.end(), index_t{0});
                std::ranges::nth_element(indices, indices.begin() + (s.count - 1), wins);
            }
            std::sort(indices.begin(), indices.begin() + s.count, wins);
            std::copy_n(indices.begin(), s.count, s.to + static_cast<index_t>(i) * s.count);
        }
    });
}

#ifdef INGOT_HAS_CUDA_HEADERS

constexpr int threads = 256, tile = 2048, digit_bits = 11, digits = 1 << digit_bits;

/// The decisions of the passes so far for a row. A pass reads one state and writes the other of two.
struct row_state {
    unsigned long long key_prefix, index_prefix, remaining, candidates;
    int passes, done, aside, filtered;  // filtered: candidates were set aside before any pass
};
struct row_counters {
    unsigned long long taken, copied, ended;  // blocks that have ended
};
struct arguments {
    const void* from;
    long long* to;
    const void* state;
    void* next_state;
    void* counters;
    unsigned long long* counts;
    void* keys;  // of the elements copied aside
    long long* indices;
    long long length, requested, room;
    const filter_counts* filtered;  // for each row, or null
    int index_bits, pass;
};

struct select_kernels {
    loaded_kernel count, take;
};
const select_kernels& kernels_for(dtype type, bool largest, device_id device) {
    return own_kernels<select_kernels>(device, {"count_digits", "take_elements"}, {type, largest}, [&] {
        std::string text = key_order_text(type, true);
        text += largest ? "constexpr bool largest = true;\n" : "constexpr bool largest = false;\n";
        text += embedded::sum_before;
        return text += embedded::select_kernels;
    });
}

}  // namespace

void select_on_gpu(const row_selection& s, stream_state& stream) {
    const dtype type = s.type;
    if (s.length <= longest_short_row(type, true)) {
        const sorted_rows all{s.from, reinterpret_cast<std::byte*>(s.to), s.rows, s.length, s.length, s.count};
        return argsort_first_of_short_rows(all, type, s.largest, s.count, stream);
    }
    const select_kernels& kernels = kernels_for(type, s.largest, stream.device);
    const auto key_bytes = std::max<std::size_t>(detail::size_of(type), 4);
    const bool filters =
        s.count <= samples_of_row / 8 && s.length >= std::max(limits_of_selection().least_length, index_t{1} << 15);
    const int key_bits = 8 * static_cast<int>(detail::size_of(type)),
              index_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(s.length - 1)));
    const int passes = (key_bits + digit_bits - 1) / digit_bits + (index_bits + digit_bits - 1) / digit_bits;
    constexpr index_t rows_at_once = 1024;
    const index_t rows = std::min(s.rows, rows_at_once), room = std::max<index_t>(s.length / 8, 1);
    const auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const auto n = static_cast<std::size_t>(rows);
    const std::size_t states = aligned(n * sizeof(row_state)),
                      filtered = 2 * states + aligned(n * sizeof(row_counters)),
                      counters = filtered + aligned(n * sizeof(filter_counts)),
                      counts = n * digits * sizeof(std::uint64_t), copied = n * static_cast<std::size_t>(room),
                      indices = counters + counts, keys = indices + copied * sizeof(std::int64_t),
                      of_filter = aligned(keys + copied * key_bytes);
    const buffer_ref scratch =
        allocate_buffer(of_filter + (filters ? filter_scratch(rows, type) : 0), stream.device, stream);
    order_write(*scratch, stream);
    std::byte* const begin = static_cast<std::byte*>(scratch->data);

    // As many blocks as the processors run at once (__launch_bounds__).
    const index_t blocks_at_once = index_t{5} * processors_of(stream.device), tiles = (s.length + tile - 1) / tile;
    for (index_t first = 0; first < s.rows; first += rows) {
        const index_t now = std::min(rows, s.rows - first);
        arguments a{s.from + static_cast<std::size_t>(first * s.length) * detail::size_of(type),
                    reinterpret_cast<long long*>(s.to) + first * s.count,
                    nullptr,
                    nullptr,
                    begin + 2 * states,
                    reinterpret_cast<unsigned long long*>(begin + counters),
                    begin + keys,
                    reinterpret_cast<long long*>(begin + indices),
                    s.length,
                    s.count,
                    room,
                    filters ? reinterpret_cast<const filter_counts*>(begin + filtered) : nullptr,
                    index_bits,
                    0};
        const auto blocks = static_cast<unsigned>(std::clamp<index_t>(blocks_at_once / now, 1, tiles));
        const auto launch = [&](const loaded_kernel& kernel, int pass) {
            a.pass = pass;
            a.state = begin + (pass % 2 == 0 ? 0 : states);
            a.next_state = begin + (pass % 2 == 0 ? states : 0);
            launch_kernel("topk", kernel, a, blocks, static_cast<unsigned>(now), threads, stream);
        };
        stream.backend->fill(begin, 0, counters + counts, stream.native);
        if (filters)
            set_greatest_aside({static_cast<const std::byte*>(a.from), now, s.length, type, a.keys, room, a.indices,
                                reinterpret_cast<filter_counts*>(begin + filtered), begin + of_filter},
                               s.largest, s.count, stream);
        launch(kernels.count, 0);
        launch(kernels.take, 1);
        for (int pass = 1; pass < passes; ++pass) launch(kernels.count, pass);
        launch(kernels.take, passes);
    }
}

#else

}  // namespace

void select_on_gpu(const row_selection&, stream_state&) {
    throw library_error("[topk] Ingot was built without CUDA's headers");
}

#endif

void select_on_host(const row_selection& s) {
    in_ordered_type(s.type, [&]<class T>(std::type_identity<T>) {
        if constexpr (requires(T complex) { complex.real(); })
            throw library_error("[topk] nothing selects from " + std::string(name(s.type)));
        else
            select_as<T>(s);
    });
}

}  // namespace ingot::runtime

namespace ingot::detail {

bool select_elements(const buffer_ref& from, const layout& where, dtype type, index_t count, bool largest,
                     const buffer_ref& to) {
    runtime::stream_state& stream = *runtime::context_on(from->device).stream;
    const index_t length = where.shape()[where.rank() - 1];
    const runtime::row_selection rows{
        static_cast<const std::byte*>(from->data) + where.offset * static_cast<index_t>(size_of(type)),
        static_cast<index_t*>(to->data),
        where.size() / length,
        length,
        count,
        largest,
        type};
    runtime::order_read(*from, stream);
    runtime::order_write(*to, stream);
    stream.backend->bind_thread();
    const bool in_order = !stream.device.is_cuda() || length <= runtime::longest_short_row(type, true);
    if (runtime::graph_capture* const capture = stream.capture.load(std::memory_order_relaxed);
        capture != nullptr && stream.synchronous)
        capture->record([rows, &stream] { runtime::libraries::selections(rows, stream); });
    else
        runtime::libraries::selections(rows, stream);
    return in_order;
}

}  // namespace ingot::detail
