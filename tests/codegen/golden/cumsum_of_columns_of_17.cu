// cumsum(x0)
using int32 = int;
using uint32 = unsigned int;

//// sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint32 scanned;
    uint32 rows;
    int32 x0_stride2;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x * 256u + threadIdx.x;
    if (row >= p.rows) return;
    const int32 i1 = int32(row);
    double sum0 = -0.0;
    uint32 first = 0;
    for (; first + 8 <= p.scanned; first += 8) {
        float x0[8];
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            const int32 i0 = int32(first + u);
            x0[u] = __ldg(p.x0 + (i1 + i0 * p.x0_stride2));
        }
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            const int32 i0 = int32(first + u);
            sum0 = sum_double::join(sum0, x0[u]);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), float(sum0));
        }
    }
    for (; first < p.scanned; ++first) {
        float x0[1];
#pragma unroll
        for (unsigned int u = 0; u < 1; ++u) {
            const int32 i0 = int32(first + u);
            x0[u] = __ldg(p.x0 + (i1 + i0 * p.x0_stride2));
        }
#pragma unroll
        for (unsigned int u = 0; u < 1; ++u) {
            const int32 i0 = int32(first + u);
            sum0 = sum_double::join(sum0, x0[u]);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), float(sum0));
        }
    }
}
