// take(x0, x1)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// error_record, outside_index, checked_index

struct arguments {
    const float* x0;
    const int32* x1;
    float* z0;
    error_record* errors;
    uint64 statement;
    uint32 n;
    uint32 n1;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    outside_index outside1 = {};
    const uint32 first = blockIdx.x * 1024u + threadIdx.x;
    if (first >= p.n) return;
    float x0[4];
    int32 x1[4];
    int32 z0_offset[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const uint32 next = first + e * 256u, q = next < p.n ? next : first;
        const int32 i0 = int32(q);
        x1[e] = __ldg(p.x1 + i0);
        const int32 i1 = checked_index(int32(x1[e]), int32(p.n1), outside1);
        x0[e] = __ldg(p.x0 + i1);
        z0_offset[e] = i0;
    }
    float z0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        z0[e] = x0[e];
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (first + e * 256u < p.n) {
            __stcs(p.z0 + z0_offset[e], z0[e]);
        }
    }
    if (outside1.found) report_error(p.errors, p.statement, 1, -1, outside1.index, p.n1);
}
