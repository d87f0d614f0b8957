// floor_divide(x0, x1) + remainder(x0, x1)
using int32 = int;
using uint32 = unsigned int;

template <class word>
__device__ word stream(const word* from);

template <>
__device__ __forceinline__ uint4 stream(const uint4* from) {
    uint4 w;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(from));
    return w;
}

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

__device__ __forceinline__ int32 floor_divide_int32(int32 a, int32 b) {
    if (b == 0) return int32(0);
    if (int32(-1) < 0 && b == int32(-1)) return int32(uint32(0) - uint32(a));
    return a % b != 0 && (a < 0) != (b < 0) ? int32(a / b - 1) : int32(a / b);
}

__device__ __forceinline__ int32 remainder_int32(int32 a, int32 b) {
    if (b == 0 || (int32(-1) < 0 && b == int32(-1))) return int32(0);
    int32 m = int32(a % b);
    return m != 0 && (m < 0) != (b < 0) ? int32(m + b) : m;
}

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const int32* x0;
    const int32* x1;
    int32* z0;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 4;
    if (i0 >= p.n0) return;
    const int32* const x0_at = p.x0 + i0;
    const int32* const x1_at = p.x1 + i0;
    int32* const z0_at = p.z0 + i0;
    if (p.n0 - i0 >= 4) {
        alignas(16) int32 x0[4];
        load_stream<uint4>(x0, x0_at);
        alignas(16) int32 x1[4];
        load_stream<uint4>(x1, x1_at);
        alignas(16) int32 z0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const int32 t0 = floor_divide_int32(x0[e], x1[e]);
            const int32 t1 = remainder_int32(x0[e], x1[e]);
            z0[e] = int32(uint32(t0) + uint32(t1));
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(4), p.n0 - i0); ++e) {
        const int32 x0 = x0_at[e];
        const int32 x1 = x1_at[e];
        const int32 t2 = floor_divide_int32(x0, x1);
        const int32 t3 = remainder_int32(x0, x1);
        const int32 z0 = int32(uint32(t2) + uint32(t3));
        z0_at[e] = z0;
    }
}
