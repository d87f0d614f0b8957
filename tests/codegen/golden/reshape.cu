// reshape(sqrt(x0)) + x1
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// divisor, rsqrt_approx, quick_sqrt_float

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    int64 p0_first;
    uint32 n;
    divisor by_n2;
    uint32 n2;
    int32 x0_stride1;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 first = blockIdx.x * 1024u + threadIdx.x;
    if (first >= p.n) return;
    float x0[4];
    float x1[4];
    int32 z0_offset[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const uint32 next = first + e * 256u, q = next < p.n ? next : first;
        const int32 i0 = int32(q);
        const uint32 p0 = uint32(p.p0_first + i0);
        const uint32 q2 = quotient(p0, p.by_n2);
        const int32 i2 = int32(p0 - q2 * p.n2);
        const int32 i1 = int32(q2);
        x0[e] = __ldg(p.x0 + (i1 * p.x0_stride1 + i2));
        x1[e] = __ldg(p.x1 + i0);
        z0_offset[e] = i0;
    }
    float z0[4];
    bool rare = false;
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const float t0 = quick_sqrt_float(x0[e], rare);
        z0[e] = t0 + x1[e];
    }
    if (rare) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float t1 = sqrt(x0[e]);
            z0[e] = t1 + x1[e];
        }
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (first + e * 256u < p.n) {
            __stcs(p.z0 + z0_offset[e], z0[e]);
        }
    }
}
