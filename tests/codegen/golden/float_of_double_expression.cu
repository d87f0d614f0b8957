// astype<float64>(exp(x0) + x1)
using uint32 = unsigned int;

__device__ __forceinline__ uint2 stream(const uint2* from) {
    uint2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(from));
    return w;
}

/// Elements that nobody reads again: past the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

__device__ __forceinline__ float exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(a, 1.92596303e-8f, fma(a, 1.44269502f, -h));
    l = l == l ? l * 0.693147182f : 1.0f;
    float y = exp2(h);
    return fma(y, l, y);
}

/// Elements that are not read soon: first out of the caches.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    const float* x1;
    double* z0;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 2;
    if (i0 >= p.n0) return;
    const float* const x0_at = p.x0 + i0;
    alignas(8) float x0[2];
    const float* const x1_at = p.x1 + i0;
    alignas(8) float x1[2];
    const bool whole = p.n0 - i0 >= 2;
    if (whole) {
        load_stream<uint2>(x0, x0_at);
        load_stream<uint2>(x1, x1_at);
    } else {
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            if (e < p.n0 - i0) x0[e] = x0_at[e];
            if (e < p.n0 - i0) x1[e] = x1_at[e];
        }
    }
    alignas(16) double z0[2];
#pragma unroll
    for (unsigned int e = 0; e < 2; ++e) {
        const float t0 = exp_float(x0[e]);
        const float t1 = t0 + x1[e];
        z0[e] = double(t1);
    }
    double* const z0_at = p.z0 + i0;
    if (whole) {
        store<uint4>(z0_at, z0);
    } else {
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            if (e < p.n0 - i0) z0_at[e] = z0[e];
        }
    }
}
