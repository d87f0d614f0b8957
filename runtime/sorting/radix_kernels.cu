// CUB's radix sort with one read and one write a digit, over rows. Compiled by NVRTC when Ingot is built, and embedded.
//
// CUB's agents rank and look back. Loads and stores are here, for they do more: keys are mapped to
// unsigned integers where they are first read and back where they are last written, values begin as indices and end as
// int64, and a block belongs to a row, blockIdx.y, of which all pointers are moved to.
#include <cub/agent/agent_radix_sort_histogram.cuh>
#include <cub/agent/agent_radix_sort_onesweep.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/dispatch/tuning/tuning_radix_sort.cuh>
#include <cub/version.cuh>

#include "radix_kernels.hpp"

static_assert(CUB_VERSION == ingot::radix::cub_version);

namespace ingot::radix {

constexpr int architecture = INGOT_ARCHITECTURE;

template <class Key>
__device__ Key into_order(Key key, const key_order& o) {
    using signed_key = ::cuda::std::make_signed_t<Key>;
    if (o.merges) {
        const Key magnitude = key & Key(o.negative);
        if (magnitude > Key(o.infinity)) return Key(~Key(0) ^ Key(o.reverse));
        if (magnitude == 0) key = 0;
    }
    key ^= Key(o.flip) ^ (Key(signed_key(key) >> (8 * sizeof(Key) - 1)) & Key(o.negative));
    return Key(Key(key - Key(o.least)) ^ Key(o.reverse));
}
template <class Key>
__device__ Key out_of_order(Key key, const key_order& o) {
    using signed_key = ::cuda::std::make_signed_t<Key>;
    key = Key((key ^ Key(o.reverse)) + Key(o.least));
    return Key(key ^ Key(o.flip) ^ (Key(~Key(signed_key(key) >> (8 * sizeof(Key) - 1))) & Key(o.negative)));
}
/// A key that is behind all others, for what a tile lacks.
template <class Key>
__device__ Key last_key(const key_order& o) {
    return out_of_order(Key(~Key(0)), o);
}

template <class Key, class Offset>
using histogram_agent = cub::detail::radix_sort::AgentRadixSortHistogram<
    cub::AgentRadixSortHistogramPolicy<histogram_threads, histogram_items, 1, Key, digit_bits>, false, Key, Offset>;

template <class Key, class Offset>
struct row_histogram : histogram_agent<Key, Offset> {
    using base = histogram_agent<Key, Offset>;
    const key_order& order;

    __device__ row_histogram(typename base::TempStorage& s, const histogram_arguments& a, Offset* bins, const Key* keys)
        : base(s, bins, keys, Offset(a.length), 0, a.bits), order(a.order) {}

    __device__ void count() {
        constexpr Offset portion_size = 1 << 30;  // counters have 32 bits
        for (long long portion = 0; portion < static_cast<long long>(this->num_items); portion += portion_size) {
            this->Init();
            const Offset size = ::cuda::std::min(portion_size, Offset(this->num_items - Offset(portion)));
            for (Offset at = blockIdx.x * base::TILE_ITEMS; at < size; at += base::TILE_ITEMS * gridDim.x) {
                Key keys[base::ITEMS_PER_THREAD];
                const Offset left = size - at;
                if (left >= base::TILE_ITEMS)
                    cub::LoadDirectStriped<base::BLOCK_THREADS>(threadIdx.x, this->d_keys_in + portion + at, keys);
                else
                    cub::LoadDirectStriped<base::BLOCK_THREADS>(threadIdx.x, this->d_keys_in + portion + at, keys,
                                                                int(left), last_key<Key>(order));
#pragma unroll
                for (int u = 0; u < base::ITEMS_PER_THREAD; ++u) keys[u] = into_order(keys[u], order);
                this->AccumulateSharedHistograms(at, keys);
            }
            __syncthreads();
            this->AccumulateGlobalHistograms();
            __syncthreads();
        }
    }
};

template <class Key, class Offset>
__device__ void histogram(const histogram_arguments& a) {
    using agent = row_histogram<Key, Offset>;
    __shared__ typename agent::base::TempStorage storage;
    const long long row = blockIdx.y;
    const int passes = (a.bits + digit_bits - 1) / digit_bits;
    agent(storage, a, static_cast<Offset*>(a.bins) + row * passes * digits,
          static_cast<const Key*>(a.keys) + row * a.stride)
        .count();
}

template <class Offset>
__device__ void exclusive_sum(Offset* bins) {
    using block_scan = cub::BlockScan<Offset, digits>;
    __shared__ typename block_scan::TempStorage storage;
    Offset* const mine = bins + blockIdx.x * static_cast<long long>(digits) + threadIdx.x;
    Offset begin = *mine;
    block_scan(storage).ExclusiveSum(begin, begin);
    *mine = begin;
}

constexpr int bytes_of(cub::NullType*) { return 0; }
template <class Value>
constexpr int bytes_of(Value*) {
    return sizeof(Value);
}

/// A tile of the size that tile_of says, which is CUB's.
template <class Key, class Value, class Offset>
struct tile_policy {
    static constexpr int value_bytes = bytes_of(static_cast<Value*>(nullptr));
    static constexpr tile_shape shape = tile_of(architecture, sizeof(Key), value_bytes, sizeof(Offset));
    struct scaling {
        static constexpr int BLOCK_THREADS = shape.threads, ITEMS_PER_THREAD = shape.items;
    };
    using dominant = ::cuda::std::conditional_t<(value_bytes > int(sizeof(Key))), Value, Key>;
    using type = cub::AgentRadixSortOnesweepPolicy<1, 1, dominant, 1, cub::RADIX_RANK_MATCH_EARLY_COUNTS_ANY,
                                                   cub::BLOCK_SCAN_RAKING_MEMOIZE, cub::RADIX_SORT_STORE_DIRECT,
                                                   digit_bits, scaling>;

    using hub = cub::detail::radix::policy_hub<Key, Value, Offset>;
    // CUB sorts small keys in another way on sm_80; what it does with them on sm_90 runs there too.
    using tuned = ::cuda::std::conditional_t<
        (architecture >= 100), typename hub::Policy1000,
        ::cuda::std::conditional_t<(architecture >= 90 || sizeof(Key) < 4), typename hub::Policy900,
                                   typename hub::Policy800>>;
    static_assert(int(tuned::OnesweepPolicy::BLOCK_THREADS) == shape.threads &&
                  int(tuned::OnesweepPolicy::ITEMS_PER_THREAD) == shape.items);
};

template <class Key, class Value, class Offset>
using pass_agent =
    cub::detail::radix_sort::AgentRadixSortOnesweep<typename tile_policy<Key, Value, Offset>::type, false, Key, Value,
                                                    Offset, int>;

template <class Key, class Value, class Offset>
struct row_pass : pass_agent<Key, Value, Offset> {
    using base = pass_agent<Key, Value, Offset>;
    static constexpr int items = base::ITEMS_PER_THREAD, bins_of_thread = base::BINS_PER_THREAD;
    static constexpr bool has_values = !base::KEYS_ONLY;
    const pass_arguments& a;

    __device__ row_pass(typename base::TempStorage& s, const pass_arguments& given, long long row)
        : base(s, given.lookback + row * given.lookback_stride, given.counters + row * given.counters_stride,
               given.next_bins == nullptr ? nullptr : static_cast<Offset*>(given.next_bins) + row * given.bins_stride,
               static_cast<const Offset*>(given.bins) + row * given.bins_stride,
               static_cast<Key*>(given.sorted_keys) + row * given.sorted_key_stride,
               static_cast<const Key*>(given.keys) + row * given.key_stride + given.first, nullptr, nullptr,
               given.length, given.bit, given.bits),
          a(given) {
        if constexpr (has_values) {
            this->d_values_in = static_cast<const Value*>(a.values) + row * a.value_stride + a.first;
            this->d_values_out = static_cast<Value*>(a.sorted_values) + row * a.sorted_value_stride;
            wide_values_ = static_cast<long long*>(a.sorted_values) + row * a.sorted_value_stride;
        }
    }

    __device__ void sort_tile() {
        Key keys[items];
        load_keys(keys);
        int ranks[items], before[bins_of_thread], bins[bins_of_thread];
        typename base::BlockRadixRankT(this->s.rank_temp_storage)
            .RankKeys(keys, ranks, this->digit_extractor(), before, on_counts{*this, bins, keys});
        __syncthreads();
        this->ScatterKeysShared(keys, ranks);
        this->LoadBinsToOffsetsGlobal(before);
        this->LookbackGlobal(bins);
        this->UpdateBinsGlobal(bins, before);
        __syncthreads();
        if (this->full_block)
            store_tile<true>(ranks);
        else
            store_tile<false>(ranks);
    }

private:
    /// Called when the counts of a tile's digits are known.
    struct on_counts {
        row_pass& pass;
        int (&bins)[bins_of_thread];
        Key (&keys)[items];
        static constexpr bool EMPTY = false;
        __device__ void operator()(int (&counts)[bins_of_thread]) {
#pragma unroll
            for (int u = 0; u < bins_of_thread; ++u) bins[u] = counts[u];
            pass.LookbackPartial(bins);
            pass.copy_equal_digits(keys, bins);
        }
    };

    __device__ int tile_begin() const { return this->block_idx * base::TILE_ITEMS; }
    __device__ int tile_items() const { return this->full_block ? base::TILE_ITEMS : this->num_items - tile_begin(); }
    /// The place of the thread's item 0 in the tile as it is loaded; the others follow 32 apart.
    __device__ int first_place() const { return this->warp * 32 * items + this->lane; }

    __device__ void load_keys(Key (&keys)[items]) {
        const Key* const from = this->d_keys_in + tile_begin();
        if (this->full_block)
            cub::LoadDirectWarpStriped(threadIdx.x, from, keys);
        else
            cub::LoadDirectWarpStriped(threadIdx.x, from, keys, tile_items(),
                                       a.maps_in ? last_key<Key>(a.order) : Key(~Key(0)));
        if (a.maps_in) {
#pragma unroll
            for (int u = 0; u < items; ++u) keys[u] = into_order(keys[u], a.order);
        }
    }
    __device__ void load_values(Value (&values)[items]) {
        if (a.values == nullptr) {
#pragma unroll
            for (int u = 0; u < items; ++u) values[u] = Value(a.first + tile_begin() + first_place() + u * 32);
        } else if (this->full_block) {
            cub::LoadDirectWarpStriped(threadIdx.x, this->d_values_in + tile_begin(), values);
        } else {
            cub::LoadDirectWarpStriped(threadIdx.x, this->d_values_in + tile_begin(), values, tile_items());
        }
    }

    /// Whole tiles want no comparison of an element.
    template <bool Whole>
    __device__ void store_tile(int (&ranks)[items]) {
        if (a.sorted_keys != nullptr) {
            if (a.maps_out)
                store_keys<Whole, true>();
            else
                store_keys<Whole, false>();
        }
        if constexpr (has_values) move_values<Whole>(ranks);
    }
    template <bool Whole, bool Maps>
    __device__ void store_keys() {
        const int count = tile_items();
#pragma unroll
        for (int u = 0; u < items; ++u) {
            const int i = threadIdx.x + u * base::BLOCK_THREADS;
            const Key key = this->s.keys_out[i];
            const Offset to = i + this->s.global_offsets[this->Digit(key)];
            if (Whole || i < count) this->d_keys_out[to] = Maps ? out_of_order(key, a.order) : key;
            __syncwarp(base::WARP_MASK);
        }
    }
    template <bool Whole>
    __device__ void move_values(int (&ranks)[items]) {
        int of_digit[items];
        this->ComputeKeyDigits(of_digit);
        Value values[items];
        load_values(values);
        __syncthreads();
        this->ScatterValuesShared(values, ranks);
        __syncthreads();
        if (a.wide)
            store_values<Whole>(wide_values_, of_digit);
        else
            store_values<Whole>(this->d_values_out, of_digit);
    }
    template <bool Whole, class Stored>
    __device__ void store_values(Stored* out, const int (&of_digit)[items]) {
        const int count = tile_items();
#pragma unroll
        for (int u = 0; u < items; ++u) {
            const int i = threadIdx.x + u * base::BLOCK_THREADS;
            const Offset to = i + this->s.global_offsets[of_digit[u]];
            if (Whole || i < count) out[to] = static_cast<Stored>(this->s.values_out[i]);
            __syncwarp(base::WARP_MASK);
        }
    }

    /// Where all keys of a tile have one digit, the tile is copied as it is.
    __device__ void copy_equal_digits(Key (&keys)[items], int (&bins)[bins_of_thread]) {
        bool one_digit = false;
#pragma unroll
        for (int u = 0; u < bins_of_thread; ++u)
            if (base::FULL_BINS || this->ThreadBin(u) < digits) one_digit = one_digit || bins[u] == base::TILE_ITEMS;
        if (!__syncthreads_or(one_digit)) return;

        const unsigned digit = this->Digit(keys[0]);
        int before[bins_of_thread];
#pragma unroll
        for (int u = 0; u < bins_of_thread; ++u)
            before[u] = unsigned(this->ThreadBin(u)) > digit ? int(base::TILE_ITEMS) : 0;
        this->LoadBinsToOffsetsGlobal(before);
        this->LookbackGlobal(bins);
        this->UpdateBinsGlobal(bins, before);
        __syncthreads();
        const Offset begin = this->s.global_offsets[digit];
        const int count = tile_items(), place = first_place();
        if (a.sorted_keys != nullptr) {
#pragma unroll
            for (int u = 0; u < items; ++u)
                if (place + u * 32 < count)
                    this->d_keys_out[begin + place + u * 32] = a.maps_out ? out_of_order(keys[u], a.order) : keys[u];
        }
        if constexpr (has_values) {
            Value values[items];
            load_values(values);
#pragma unroll
            for (int u = 0; u < items; ++u) {
                if (place + u * 32 >= count) continue;
                if (a.wide)
                    wide_values_[begin + place + u * 32] = static_cast<long long>(values[u]);
                else
                    this->d_values_out[begin + place + u * 32] = values[u];
            }
        }
        cub::ThreadExit();
    }

    long long* wide_values_ = nullptr;
};

template <class Key, class Value, class Offset>
__device__ void sort_by_digit(const pass_arguments& a) {
    using pass = row_pass<Key, Value, Offset>;
    __shared__ typename pass::base::TempStorage storage;
    pass(storage, a, blockIdx.y).sort_tile();
}

}  // namespace ingot::radix

#define INGOT_SUMS(offset_bytes, offset)                                                                  \
    extern "C" __global__ void __launch_bounds__(ingot::radix::digits) exclusive_sum_##offset_bytes(void* bins) { \
        ingot::radix::exclusive_sum(static_cast<offset*>(bins));                                          \
    }
#define INGOT_HISTOGRAM(key_bytes, key, offset_bytes, offset)                             \
    extern "C" __global__ void __launch_bounds__(ingot::radix::histogram_threads)         \
        histogram_##key_bytes##_##offset_bytes(                                           \
            const __grid_constant__ ingot::radix::histogram_arguments a) {                \
        ingot::radix::histogram<key, offset>(a);                                          \
    }
// Two blocks of each pass are on a processor at once, as of CUB's own kernels.
#define INGOT_PASS(key_bytes, key, value_bytes, value, offset_bytes, offset)              \
    extern "C" __global__ void __launch_bounds__(                                         \
        ingot::radix::tile_of(INGOT_ARCHITECTURE, key_bytes, value_bytes, offset_bytes).threads, 2) \
        pass_##key_bytes##_##value_bytes##_##offset_bytes(                                \
            const __grid_constant__ ingot::radix::pass_arguments a) {                     \
        ingot::radix::sort_by_digit<key, value, offset>(a);                               \
    }
#define INGOT_KEYS(key_bytes, key)                                                        \
    INGOT_HISTOGRAM(key_bytes, key, 4, unsigned)                                          \
    INGOT_HISTOGRAM(key_bytes, key, 8, unsigned long long)                                \
    INGOT_PASS(key_bytes, key, 0, cub::NullType, 4, unsigned)                             \
    INGOT_PASS(key_bytes, key, 4, unsigned, 4, unsigned)                                  \
    INGOT_PASS(key_bytes, key, 0, cub::NullType, 8, unsigned long long)                   \
    INGOT_PASS(key_bytes, key, 8, unsigned long long, 8, unsigned long long)

INGOT_SUMS(4, unsigned)
INGOT_SUMS(8, unsigned long long)
INGOT_KEYS(1, unsigned char)
INGOT_KEYS(2, unsigned short)
INGOT_KEYS(4, unsigned)
INGOT_KEYS(8, unsigned long long)
