// How a warp stores a run of memory that begins anywhere.

//// store_run
/// Stores a run of memory, of which each lane of the warp has one vector. A lane stores the aligned vector that begins
/// among its elements; the ends of the run go element by element.
template <class word, class type, int n>
__device__ __forceinline__ void store_run(type* to, const type (&from)[n]) {
    constexpr int words = sizeof(word) / 4;
    const unsigned int skipped = -(unsigned int)reinterpret_cast<unsigned long long>(to) % sizeof(word);  // bytes
    alignas(sizeof(word)) unsigned int vector[2 * words];  // the lane's, and the next one's
    reinterpret_cast<word&>(vector) = reinterpret_cast<const word&>(from);
#pragma unroll
    for (int i = 0; i < words; ++i) vector[words + i] = __shfl_down_sync(~0u, vector[i], 1);
#pragma unroll
    for (int by = words / 2; by > 0; by /= 2) {
        if ((skipped / 4 & by) == 0) continue;
#pragma unroll
        for (int i = 0; i < 2 * words - by; ++i) vector[i] = vector[i + by];
    }
    if constexpr (sizeof(type) < 4) {
#pragma unroll
        for (int i = 0; i < words; ++i) vector[i] = __funnelshift_r(vector[i], vector[i + 1], skipped % 4 * 8);
    }
    const unsigned int lane = threadIdx.x % 32, first = skipped / sizeof(type);
    if (lane < 31) __stcs(reinterpret_cast<word*>(to + first), reinterpret_cast<const word&>(vector));
    if (lane != 0 && lane != 31) return;
#pragma unroll
    for (unsigned int e = 0; e < n; ++e)
        if ((e < first) == (lane == 0)) to[e] = from[e];
}
