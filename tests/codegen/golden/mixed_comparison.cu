// x0 < x1
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// stream, stream.2, load_stream, store

struct arguments {
    const int64* x0;
    const uint64* x1;
    bool* z0;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 2;
    if (i0 >= p.n0) return;
    const int64* const x0_at = p.x0 + i0;
    const uint64* const x1_at = p.x1 + i0;
    bool* const z0_at = p.z0 + i0;
    if (p.n0 - i0 >= 2) {
        alignas(16) int64 x0[2];
        load_stream<uint4>(x0, x0_at);
        alignas(16) uint64 x1[2];
        load_stream<uint4>(x1, x1_at);
        alignas(2) bool z0[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            z0[e] = x0[e] < 0 || (x1[e] >= 0 && uint64(x0[e]) < uint64(x1[e]));
        }
        store<unsigned short>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(2), p.n0 - i0); ++e) {
        const int64 x0 = x0_at[e];
        const uint64 x1 = x1_at[e];
        const bool z0 = x0 < 0 || (x1 >= 0 && uint64(x0) < uint64(x1));
        z0_at[e] = z0;
    }
}
