// scatter(x0, x1)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// scatter_add_float32

struct arguments {
    const float* x0;
    const int64* x1;
    float* z0;
    uint32 n;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 first = blockIdx.x * 1024u + threadIdx.x;
    if (first >= p.n) return;
    float x0[4];
    int64 x1[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const uint32 next = first + e * 256u, q = next < p.n ? next : first;
        const int32 i0 = int32(q);
        x0[e] = __ldg(p.x0 + i0);
        x1[e] = __ldg(p.x1 + i0);
    }
    float z0[4];
    int64 z0_at[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        z0[e] = x0[e];
        z0_at[e] = x1[e];
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (first + e * 256u < p.n) {
            if (z0_at[e] >= 0) scatter_add_float32(&p.z0[z0_at[e]], z0[e]);
        }
    }
}
