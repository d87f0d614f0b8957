// CUB's own radix sort of float32 keys, as its dispatch launches it on sm_90: alone, and with 4-byte values (-DPAIRS).
#include <cub/agent/agent_radix_sort_histogram.cuh>
#include <cub/agent/agent_radix_sort_onesweep.cuh>
#include <cub/device/dispatch/kernels/radix_sort.cuh>
#include <cub/device/dispatch/tuning/tuning_radix_sort.cuh>

#ifdef PAIRS
using value = unsigned;
constexpr int tile_items = 23;
#else
using value = cub::NullType;
constexpr int tile_items = 19;
#endif
using policy = cub::detail::radix::policy_hub<float, value, unsigned>::Policy900;
static_assert(policy::OnesweepPolicy::BLOCK_THREADS == 384 && policy::OnesweepPolicy::ITEMS_PER_THREAD == tile_items);

using histogram_agent =
    cub::detail::radix_sort::AgentRadixSortHistogram<policy::HistogramPolicy, false, float, unsigned>;
using pass_agent =
    cub::detail::radix_sort::AgentRadixSortOnesweep<policy::OnesweepPolicy, false, float, value, unsigned, int>;

extern "C" __global__ void __launch_bounds__(128) cub_histogram(unsigned* bins, const float* keys, unsigned n) {
    __shared__ histogram_agent::TempStorage storage;
    histogram_agent(storage, bins, keys, n, 0, 32).Process();
}

extern "C" __global__ void __launch_bounds__(256) cub_sums(unsigned* bins) {
    using block_scan = cub::BlockScan<unsigned, 256>;
    __shared__ block_scan::TempStorage storage;
    unsigned bin = bins[blockIdx.x * 256 + threadIdx.x];
    block_scan(storage).ExclusiveSum(bin, bin);
    bins[blockIdx.x * 256 + threadIdx.x] = bin;
}

extern "C" __global__ void __launch_bounds__(384)
    cub_pass(int* lookback, int* counters, unsigned* next_bins, const unsigned* bins, float* keys_out,
             const float* keys, value* values_out, const value* values, int n, int bit, int bits) {
    __shared__ pass_agent::TempStorage storage;
    pass_agent(storage, lookback, counters, next_bins, bins, keys_out, keys, values_out, values, n, bit, bits).Process();
}
