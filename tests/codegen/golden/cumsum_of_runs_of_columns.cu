// cumsum(x0)
using int32 = int;
using uint32 = unsigned int;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

/// Copies elements [first, end) to shared memory by whole vectors, with a gap after each run.
template <class type, class index>
__device__ __forceinline__ void load_run(type* to, const type* from, index first, index end, unsigned int gap, divisor run) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 256;
    const unsigned int begin = first % each, n = end - first + begin, chunks = n / each;
    const auto padded = [=](unsigned int q) { return q + gap / each * (unsigned int)quotient(q * each, run); };
    to -= begin, from += first - begin;
    for (unsigned int q = threadIdx.x; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + padded(q), reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

/// Stores elements [first, end) from shared memory, where load_run() put them.
template <class type, class index>
__device__ __forceinline__ void store_run(type* to, const type* from, index first, index end, unsigned int gap, divisor run) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 256;
    const unsigned int begin = first % each, n = end - first + begin, chunks = n / each;
    const auto padded = [=](unsigned int q) { return q + gap / each * (unsigned int)quotient(q * each, run); };
    to += first - begin, from -= begin;
    for (unsigned int q = threadIdx.x + (begin > 0); q < chunks; q += threads)
        __stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[padded(q)]);
    const unsigned int i = begin + threadIdx.x, k = max(chunks * each, begin) + threadIdx.x;
    if (i < min(n, begin > 0 ? each : 0)) to[i] = from[i];
    if (k < n) to[k] = from[k];
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Scans n values per thread exclusively down the thread rows of a block; each row has `across` threads.
template <class fold, int threads, class type, int n>
__device__ __forceinline__ void scan_down(type (&v)[n], type* room, uint32 down, uint32 height, uint32 across,
                                          type start) {
    type* const own = room + threadIdx.x;
    for (uint32 far = 1; far < height; far *= 2) {
#pragma unroll
        for (int e = 0; e < n; ++e) own[e * threads] = v[e];
        __syncthreads();
#pragma unroll
        for (int e = 0; e < n; ++e)
            if (down >= far) v[e] = fold::join(own[int(e * threads) - int(far * across)], v[e]);
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < n; ++e) own[e * threads] = v[e];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < n; ++e) v[e] = down == 0 ? start : own[int(e * threads) - int(across)];
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 outers;
    uint32 height;
    uint32 groups;
    divisor by_height;
    uint32 scanned;
    divisor by_cells;
};

extern "C" __global__ void __launch_bounds__(256, 4)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    constexpr uint32 across = 3;
    const uint32 height = p.height, groups = p.groups;
    const uint32 slot = threadIdx.x / across, x = threadIdx.x - slot * across;
    const uint32 group = quotient(slot, p.by_height), down = slot - group * height;
    const uint32 first_outer = blockIdx.x * groups;
    const bool mine = group < groups && first_outer + group < p.outers;
    const uint32 outer = min(first_outer + group, p.outers - 1);
    const uint32 column = x * 1;
    const uint32 gap = p.scanned * 3u % 16 == 0 ? 4 : 0;
    const int32 i0 = int32(outer);
    const uint32 columns = mine ? 1 : 0;
    const int32 i2 = int32(column);
    const uint32 first = down * 17, own_smem_index = group * (p.scanned * across + gap) + first * across + x;
    const uint32 last = p.scanned - 1 - first;
    extern __shared__ uint4 staged[];
    float* x0_staged = reinterpret_cast<float*>(staged);
    const uint32 cells = p.scanned * 3u, first_cell = first_outer * cells;
    const uint32 end_cell = min(first_outer + groups, p.outers) * cells;
    x0_staged += first_cell % 4;
    load_run(x0_staged, p.x0, first_cell, end_cell, gap * 1, p.by_cells);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float part0[1];
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        part0[e] = -0.0f;
    }
    if (mine) {
#pragma unroll 17
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + (u < last ? u : last) * across;
            const int32 i1 = int32(at);
            float x0[1];
            reinterpret_cast<unsigned int&>(x0) = *reinterpret_cast<const unsigned int*>(x0_staged + smem_index);
#pragma unroll
            for (unsigned int e = 0; e < 1; ++e) {
                part0[e] = sum_float::join(part0[e], x0[0]);
            }
        }
    }
    __shared__ float room_sum0[256];
    scan_down<sum_float, 256>(part0, room_sum0, down, height, across, -0.0f);
    float base_sum0[1], sum0[1];
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        if (down < height) base_sum0[e] = part0[e];
        sum0[e] = -0.0f;
    }
    if (mine) {
#pragma unroll 17
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + (u < last ? u : last) * across;
            const int32 i1 = int32(at);
            float x0[1];
            reinterpret_cast<unsigned int&>(x0) = *reinterpret_cast<const unsigned int*>(x0_staged + smem_index);
            float r0[1];
#pragma unroll
            for (unsigned int e = 0; e < 1; ++e) {
                sum0[e] = sum_float::join(sum0[e], x0[0]);
                const float all_sum0 = sum_float::join(base_sum0[e], sum0[e]);
                r0[e] = all_sum0;
            }
            if (at < p.scanned) {
                *reinterpret_cast<unsigned int*>(x0_staged + smem_index) = reinterpret_cast<const unsigned int&>(r0);
            }
        }
    }
    __syncthreads();
    store_run(p.z0, x0_staged, first_cell, end_cell, gap * 1, p.by_cells);
}
