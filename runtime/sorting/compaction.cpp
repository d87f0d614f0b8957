// Keeps some of many elements, in order: the distinct ones of sorted elements, or those with a flag. Elements are
// counted tile by tile, the counts are summed, and each tile writes its elements behind those of earlier tiles. On a
// GPU the count stores a bit for each element, so that the deciding data is read once; no position is written to
// memory.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <ingot/core/error.hpp>

#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/kernels/own_kernels.hpp"
#include "runtime/sorting/compaction_kernels.cuh.hpp"
#include "runtime/sorting/key_order.hpp"

namespace ingot::runtime {

namespace {

/// A block or a worker counts the kept elements of a tile, and then writes them.
constexpr index_t compaction_tile = 8192;

index_t tiles_of(index_t n) { return (n + compaction_tile - 1) / compaction_tile; }
const std::byte* first_of(const detail::elements_at& e) {
    return static_cast<const std::byte*>(e.memory->data) + e.where->offset * static_cast<index_t>(e.bytes);
}

#ifdef INGOT_HAS_CUDA_HEADERS

constexpr int threads = 256, sum_threads = 1024;
static_assert(compaction_tile == 32 * threads);

struct arguments {
    const void* from;
    const void* flags;
    void* to;
    long long* starts;
    unsigned* bits;  // the kept elements
    long long length, tiles;
};

constexpr std::string_view arguments_text = R"(typedef long long int64;
struct arguments {
    const value* from;
    const unsigned char* flags;
    value* to;
    int64* starts;
    unsigned* bits;
    int64 length, tiles;
};
)";

/// Reads flags as bits: 16 of a lane at once where they are whole and aligned to 16 bytes.
constexpr std::string_view flags_text =
    R"(__device__ bool is_kept(const arguments& a, int64 i) { return a.flags[i] != 0; }
struct alignas(16) flags { unsigned words[4]; };
__device__ unsigned bits_of(const flags& f) {
    unsigned bits = 0;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        // A byte's highest bit is set where the byte is not 0; then the four are brought side by side.
        const unsigned set = ((f.words[k] & 0x7f7f7f7fu) + 0x7f7f7f7fu | f.words[k]) & 0x80808080u;
        bits |= (set >> 7) * 0x10204080u >> 28 << 4 * k;
    }
    return bits;
}
__device__ bool reads_words(const arguments& a, int64 first) {
    return first + 1024 <= a.length && (unsigned long long)(a.flags + first) % 16 == 0;
}
__device__ unsigned kept_by_words(const arguments& a, int64 first) {
    const int lane = threadIdx.x % 32, even = 2 * lane % 32;
    const flags* const from = (const flags*)(a.flags + first) + lane;
    const flags low = from[0], high = from[32];
    const unsigned bits = bits_of(low) | bits_of(high) << 16;
    const unsigned one = __shfl_sync(0xffffffffu, bits, even), next = __shfl_sync(0xffffffffu, bits, even + 1);
    return lane < 16 ? one & 0xffffu | next << 16 : one >> 16 | next & 0xffff0000u;
}
)";

constexpr std::string_view distinct_text = R"(__device__ bool is_kept(const arguments& a, int64 i) {
    return i == 0 || into_order(a.from[i]) != into_order(a.from[i - 1]);
}
__device__ bool reads_words(const arguments&, int64) { return false; }
__device__ unsigned kept_by_words(const arguments&, int64) { return 0; }
)";

/// A lane's group: adjacent elements that it loads and stages together.
constexpr std::string_view group_text = R"(constexpr int group = sizeof(value) <= 4 ? 4 : 16 / sizeof(value);
struct alignas(group * sizeof(value)) values { value v[group]; };
)";

constexpr std::string_view values_text =
    R"(__device__ bool reads_groups(const arguments& a, int64 first) {
    return first + 1024 <= a.length && (unsigned long long)(a.from + first) % sizeof(values) == 0;
}
__device__ values group_at(const arguments& a, int64 i) { return *(const values*)(a.from + i); }
__device__ value element_at(const arguments& a, int64 i) { return a.from[i]; }
)";

constexpr std::string_view places_text =
    R"(__device__ bool reads_groups(const arguments& a, int64 first) { return first + 1024 <= a.length; }
__device__ value element_at(const arguments&, int64 i) { return i; }
__device__ values group_at(const arguments&, int64 i) {
    values all;
    #pragma unroll
    for (int k = 0; k < group; ++k) all.v[k] = i + k;
    return all;
}
)";

/// The texts for the elements' type, for the decision, and for the written value.
std::string text_of(const detail::compacted& what) {
    using detail::kept;
    std::string text;
    if (what.by == kept::distinct) {
        text = key_order_text(what.values.type, true);
    } else if (what.by == kept::places) {
        text = "typedef long long value;\n";
    } else {
        const std::size_t bytes = what.values.bytes;
        text = bytes == 16  ? "struct value { unsigned long long a, b; };\n"
               : bytes == 8 ? "typedef unsigned long long value;\n"
               : bytes == 4 ? "typedef unsigned int value;\n"
               : bytes == 2 ? "typedef unsigned short value;\n"
                            : "typedef unsigned char value;\n";
    }
    text += arguments_text;
    text += what.by == kept::distinct ? distinct_text : flags_text;
    text += group_text;
    text += what.by == kept::places ? places_text : values_text;
    text += '\n';
    text += embedded::compaction_kernels;
    return text;
}

struct compaction_kernels {
    loaded_kernel count, sum, write;
};
const compaction_kernels& kernels_for(const detail::compacted& what, device_id device) {
    const std::size_t element =
        what.by == detail::kept::distinct ? static_cast<std::size_t>(what.values.type) : what.values.bytes;
    return own_kernels<compaction_kernels>(device, {"count_kept", "sum_counts", "write_kept"}, {what.by, element},
                                           [&] { return text_of(what); });
}

arguments arguments_of(const compaction& c) {
    const detail::compacted& what = c.what;
    auto* const sums = static_cast<long long*>(c.starts);
    const index_t tiles = tiles_of(what.length());
    return {what.values.memory ? first_of(what.values) : nullptr,
            what.flags.memory ? first_of(what.flags) : nullptr,
            c.to,
            sums,
            reinterpret_cast<unsigned*>(sums + tiles + 1),
            what.length(),
            tiles};
}

void launch(const loaded_kernel& kernel, const arguments& a, index_t blocks, unsigned size,
            const stream_state& stream) {
    launch_kernel("compaction", kernel, a, static_cast<unsigned>(blocks), 1, size, stream);
}

#endif

}  // namespace

/// On the host a tile's flags are summed as bytes, and its elements are stored to a buffer without a branch: the next
/// store overwrites an element that is not kept.
void count_on_host(const compaction& c) {
    const auto* const flags = reinterpret_cast<const unsigned char*>(first_of(c.what.flags));
    auto* const starts = static_cast<index_t*>(c.starts);
    const index_t n = c.what.length(), tiles = tiles_of(n);
    run_on_workers(static_cast<std::size_t>(tiles), [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) {
            const index_t first = static_cast<index_t>(t) * compaction_tile;
            const index_t last = std::min(n, first + compaction_tile);
            int sum = 0;
            for (index_t i = first; i < last; ++i) sum += flags[i] != 0;
            starts[t] = sum;
        }
    });
    index_t before = 0;
    for (index_t t = 0; t < tiles; ++t) before += std::exchange(starts[t], before);
    starts[tiles] = before;
}

namespace {

template <class T, class Taken>
void write_tiles(const unsigned char* flags, index_t n, const index_t* starts, T* to, Taken taken) {
    constexpr index_t part = 1024;
    run_on_workers(static_cast<std::size_t>(tiles_of(n)), [&](std::size_t begin, std::size_t end) {
        T copy[part + 1];
        for (std::size_t t = begin; t < end; ++t) {
            T* at = to + starts[t];
            const index_t last = std::min(n, (static_cast<index_t>(t) + 1) * compaction_tile);
            for (index_t first = static_cast<index_t>(t) * compaction_tile; first < last; first += part) {
                std::size_t count = 0;
                for (index_t i = first; i < std::min(last, first + part); ++i) {
                    copy[count] = taken(i);
                    count += flags[i] != 0;
                }
                std::memcpy(at, copy, count * sizeof(T));
                at += count;
            }
        }
    });
}

template <class T>
void write_values(const unsigned char* flags, index_t n, const index_t* starts, const void* from, void* to) {
    const T* const values = static_cast<const T*>(from);
    write_tiles(flags, n, starts, static_cast<T*>(to), [values](index_t i) { return values[i]; });
}

struct sixteen_bytes {
    std::uint64_t a, b;
};

}  // namespace

void write_on_host(const compaction& c) {
    const detail::compacted& what = c.what;
    const auto* const flags = reinterpret_cast<const unsigned char*>(first_of(what.flags));
    const index_t* const starts = static_cast<const index_t*>(c.starts);
    void* const to = c.to;
    const index_t n = what.length();
    if (what.by == detail::kept::places)
        return write_tiles(flags, n, starts, static_cast<index_t*>(to), [](index_t i) { return i; });
    const void* const from = first_of(what.values);
    switch (what.values.bytes) {
        case 1:
            return write_values<std::uint8_t>(flags, n, starts, from, to);
        case 2:
            return write_values<std::uint16_t>(flags, n, starts, from, to);
        case 4:
            return write_values<std::uint32_t>(flags, n, starts, from, to);
        case 8:
            return write_values<std::uint64_t>(flags, n, starts, from, to);
        default:
            return write_values<sixteen_bytes>(flags, n, starts, from, to);
    }
}

#ifdef INGOT_HAS_CUDA_HEADERS

void count_on_gpu(const compaction& c, stream_state& stream) {
    const compaction_kernels& kernels = kernels_for(c.what, stream.device);
    const arguments a = arguments_of(c);
    launch(kernels.count, a, a.tiles, threads, stream);
    launch(kernels.sum, a, 1, sum_threads, stream);
}
void write_on_gpu(const compaction& c, stream_state& stream) {
    const arguments a = arguments_of(c);
    launch(kernels_for(c.what, stream.device).write, a, a.tiles, threads, stream);
}

#else

void count_on_gpu(const compaction&, stream_state&) {}
void write_on_gpu(const compaction&, stream_state&) {}

#endif

}  // namespace ingot::runtime

namespace ingot::detail {

void compact(const char* operation, const compacted& what, destination to) {
    const buffer_ref& given = what.deciding().memory;
    const device_id on = given ? given->device : current_place();
    const auto allocate = [&](index_t n, destination d) { allocate_array(operation, d, std::span(&n, 1), on); };
    const index_t length = what.length();
    if (length == 0) return allocate(0, to);
    runtime::stream_state& stream = *runtime::context_on(on).stream;
    stream.backend->bind_thread();
    const auto order_reads = [&] {
        for (const elements_at* e : {&what.values, &what.flags})
            if (e->memory) runtime::order_read(*e->memory, stream);
    };
    // On a GPU a bit for each element follows the tiles' counts.
    const index_t tiles = runtime::tiles_of(length), bits_of_word = 64;
    leaf<index_t> starts;
    allocate(tiles + 1 + (on.is_cuda() ? tiles * (runtime::compaction_tile / bits_of_word) : 0),
             {dtype::i8, starts.memory(), starts.where()});
    order_reads();
    runtime::order_write(*starts.memory(), stream);
    runtime::libraries::counts({what, starts.memory()->data, nullptr}, stream);
    const index_t kept = array<index_t>(adopted{}, leaf<index_t>(starts))(tiles).item();
    allocate(kept, to);
    if (kept == 0) return;
    order_reads();
    runtime::order_read(*starts.memory(), stream);
    runtime::order_write(*to.memory, stream);
    runtime::libraries::compactions({what, starts.memory()->data, to.memory->data}, stream);
}

}  // namespace ingot::detail
