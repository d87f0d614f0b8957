// Printed before the kernels of select_kernels.cuh and sampled_filter_kernels.cuh.

typedef long long int64;
typedef unsigned long long uint64;

/// The sum of `mine` of the threads before this one, in a block of 256; `total` becomes that of all threads.
__device__ uint64 sum_before(uint64 mine, uint64* room, uint64& total) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint64 sum = mine;
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint64 lower = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += lower;
    }
    __syncthreads();
    if (lane == 31) room[warp] = sum;
    __syncthreads();
    uint64 before = sum - mine;
    total = 0;
    #pragma unroll
    for (int w = 0; w < 8; ++w) {
        const uint64 of_warp = room[w];
        if (w < warp) before += of_warp;
        total += of_warp;
    }
    return before;
}
