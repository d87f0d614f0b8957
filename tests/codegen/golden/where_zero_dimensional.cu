// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int32 = int;
using uint32 = unsigned int;

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float s0;
    uint32 n;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    if (threadIdx.x != 0) return;  // there is one element
    const float x0 = __ldg(p.x0);
    const float x1 = __ldg(p.x1);
    const float t0 = x0 - p.s0;
    const bool t1 = t0 > x1;
    const float t2 = x0 * x1;
    const float t3 = x0 + x1;
    const float t4 = t1 ? t2 : t3;
    const uint32 first = blockIdx.x * 256u + threadIdx.x;
    if (first >= p.n) return;
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        const uint32 q = first;
    }
    float z0[1];
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        z0[e] = t4;
    }
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        __stcs(p.z0, z0[e]);
    }
}
