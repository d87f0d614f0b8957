// exp(x0) * s0 + tanh(x1)
using uint32 = unsigned int;
using uint64 = unsigned long long;

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

__device__ __forceinline__ uint64 bits_of(double a) { return uint64(__double_as_longlong(a)); }

__device__ __forceinline__ double from_bits(uint64 a) { return __longlong_as_double((long long)a); }

__device__ __forceinline__ double quick_exp_double(double a, bool& rare) {
    double shifted = fma(a, 1.4426950408889634, 6755399441055744.0);
    double n = shifted - 6755399441055744.0;
    double r = fma(n, -0.6931471805599453, a);
    r = fma(n, -2.3190468138462996e-17, r);
    double p = 2.502232253650299e-08;
    p = fma(p, r, 2.763090348817311e-07);
    p = fma(p, r, 2.755751454588244e-06);
    p = fma(p, r, 2.4801491039099165e-05);
    p = fma(p, r, 0.00019841269589115497);
    p = fma(p, r, 0.001388888894591638);
    p = fma(p, r, 0.008333333333455043);
    p = fma(p, r, 0.041666666666519754);
    p = fma(p, r, 0.16666666666666477);
    p = fma(p, r, 0.5000000000000012);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    rare |= uint64(bits_of(a) >> 32 & 0x7fffffff) >= 0x40862000;
    return from_bits(bits_of(p) + (bits_of(shifted) << 52));
}

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

__device__ __forceinline__ double exp_double(double a) {
    double y = ::exp(a);
    return bits_of(a) - uint64(0xc087480000000000) <= uint64(0x110d52d3051) ? from_bits(uint64(1)) : y;
}

struct arguments {
    const double* x0;
    const double* x1;
    double* z0;
    double s0;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 2;
    if (i0 >= p.n0) return;
    const double* const x0_at = p.x0 + i0;
    const double* const x1_at = p.x1 + i0;
    double* const z0_at = p.z0 + i0;
    if (p.n0 - i0 >= 2) {
        alignas(16) double x0[2];
        load_stream<uint4>(x0, x0_at);
        alignas(16) double x1[2];
        load_stream<uint4>(x1, x1_at);
        alignas(16) double z0[2];
        bool rare = false;
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            const double t0 = quick_exp_double(x0[e], rare);
            const double t1 = t0 * p.s0;
            const double t2 = tanh(x1[e]);
            z0[e] = t1 + t2;
        }
        if (!rare) {
            store<uint4>(z0_at, z0);
            return;
        }
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(2), p.n0 - i0); ++e) {
        const double x0 = x0_at[e];
        const double x1 = x1_at[e];
        const double t3 = exp_double(x0);
        const double t4 = t3 * p.s0;
        const double t5 = tanh(x1);
        const double z0 = t4 + t5;
        z0_at[e] = z0;
    }
}
