// x0 * x1
using int64 = long long;
using uint64 = unsigned long long;

//// divisor.2, stream, stream.2, load_stream, load_cached, store

struct arguments {
    const double* x0;
    const double* x1;
    double* z0;
    uint64 n1;
    uint64 vectors;
    divisor by_row;
    uint64 row_vectors;
    int64 x0_stride0;
    int64 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint64 q = uint64(blockIdx.x) * 256u + threadIdx.x;
    if (q >= p.vectors) return;
    const uint64 row = quotient(q, p.by_row);
    const uint64 i = (q - row * p.row_vectors) * 2;
    const int64 i1 = int64(i);
    const int64 i0 = int64(row);
    const double* const x0_at = p.x0 + (i0 * p.x0_stride0 + i1);
    const double* const x1_at = p.x1 + i1;
    double* const z0_at = p.z0 + (i0 * p.z0_stride0 + i1);
    if (p.n1 - i >= 2) {
        alignas(16) double x0[2];
        load_stream<uint4>(x0, x0_at);
        alignas(16) double x1[2];
        load_cached<uint4>(x1, x1_at);
        alignas(16) double z0[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            z0[e] = x0[e] * x1[e];
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (int e = 0; e < min(uint64(2), p.n1 - i); ++e) {
        const double x0 = x0_at[e];
        const double x1 = x1_at[e];
        const double z0 = x0 * x1;
        z0_at[e] = z0;
    }
}
