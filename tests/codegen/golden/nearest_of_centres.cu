// argmin(sum(square(x0 - x1)))
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// indexed_float, sum_float, argmin_float

struct arguments {
    const float* x0;
    const float* x1;
    int64* z0;
    uint32 n;
    uint32 n2;
    uint32 n1;
    int32 x0_stride0;
    int32 x1_stride2;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 first = blockIdx.x * 256u + threadIdx.x;
    if (first >= p.n) return;
    int32 z0_offset[1];
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        const uint32 q = first;
        const int32 i0 = int32(q);
        z0_offset[e] = i0;
    }
    int64 z0[1];
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        const uint32 q = first + e * 256u;
        if (q >= p.n) continue;
        const int32 i0 = int32(q);
        indexed_float argmin5 = indexed_float{__int_as_float(0x7f800000), int64(0)};
        for (int32 i2 = 0; i2 < int32(p.n2); ++i2) {
            float sum4 = 0.0f;
            for (int32 i1 = 0; i1 < int32(p.n1); ++i1) {
                const float v0 = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                const float v1 = __ldg(p.x1 + (i1 + i2 * p.x1_stride2));
                const float t2 = v0 - v1;
                sum4 = sum_float::join(sum4, t2 * t2);
            }
            argmin5 = argmin_float::join(argmin5, indexed_float{sum4, int64(i2)});
        }
        z0[e] = argmin5.at;
    }
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        __stcs(p.z0 + z0_offset[e], z0[e]);
    }
}
