// x0 + x1
using int32 = int;
using uint32 = unsigned int;

//// packing, gather_lanes, independent, scatter_lanes

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 n1;
    uint32 n0;
    int32 x0_stride0;
    int32 x1_stride1;
    int32 z0_stride0;
    uint32 size;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    alignas(64) float x0_copy[512];
    alignas(64) float x1_copy[512];
    alignas(64) float z0_copy[512];
    const packing strips = pack(512, 16, p.n1, p.n0);
    int32 x0_at[512];
    bool x0_dense = true;
    int32 x1_at[512];
    bool x1_dense = true;
    int32 z0_at[512];
    bool z0_dense = true;
    {
        int32 i0 = 0, i1 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_at[j] = int32(i0 * p.x0_stride0 + i1);
            x0_dense &= x0_at[j] == j;
            x1_at[j] = int32(i0 + i1 * p.x1_stride1);
            x1_dense &= x1_at[j] == j;
            z0_at[j] = int32(i0 * p.z0_stride0 + i1);
            z0_dense &= z0_at[j] == j;
            ++i1;
            if (i1 < int32(p.n1)) continue;
            i1 = 0;
            ++i0;
        }
    }
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 from = block * 32768;
        const uint32 to = p.size - from < 32768 ? p.size : from + 32768;
        for (uint32 start = strips.first(from); start < to; start += strips.length(start)) {
            const int m = strips.length(start);
            uint32 rest = start;
            const int32 i1 = int32(rest % p.n1);
            rest /= p.n1;
            const int32 i0 = int32(rest);
            const float* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
            const float* const x1_row = p.x1 + i0 + i1 * p.x1_stride1;
            float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
            const float* const x0_strip = x0_dense ? x0_row : x0_copy;
            const float* const x1_strip = x1_dense ? x1_row : x1_copy;
            float* const z0_strip = z0_dense ? z0_row : z0_copy;
            if (x0_strip == x0_copy) gather_lanes(x0_copy, x0_row, x0_at, x0_dense, m);
            if (x1_strip == x1_copy) gather_lanes(x1_copy, x1_row, x1_at, x1_dense, m);
            independent
            for (int j = 0; j < m; ++j) {
                const float x0 = x0_strip[j];
                const float x1 = x1_strip[j];
                z0_strip[j] = x0 + x1;
            }
            if (z0_strip == z0_copy) scatter_lanes(z0_copy, z0_row, z0_at, z0_dense, m);
        }
    }
}
