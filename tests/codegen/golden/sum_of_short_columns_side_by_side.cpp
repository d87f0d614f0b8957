// sum(astype<int64>(x0))
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// packing, independent, sum_int64

struct arguments {
    const int32* x0;
    int64* z0;
    uint32 n1;
    uint32 n0;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 rows;
    uint32 folded;
    int32 x0_stride2;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const packing strips = pack(256, 16, p.n1, p.n0);
    int32 x0_at[256];
    int32 z0_at[256];
    {
        int32 i0 = 0, i1 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_at[j] = int32(i0 * p.x0_stride0 + i1);
            z0_at[j] = int32(i0 * p.z0_stride0 + i1);
            ++i1;
            if (i1 < int32(p.n1)) continue;
            i1 = 0;
            ++i0;
        }
    }
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 from = block * 256;
        const uint32 to = p.rows - from < 256 ? p.rows : from + 256;
        for (uint32 start = strips.first(from); start < to; start += strips.length(start)) {
            const int m = strips.length(start);
            uint32 rest = start;
            const int32 i1 = int32(rest % p.n1);
            rest /= p.n1;
            const int32 i0 = int32(rest);
            alignas(64) int64 sum0[256];
            {
                alignas(64) int64 lanes0[256];
                for (int j = 0; j < m; ++j) lanes0[j] = int64(0);
                for (uint32 k = 0; k < p.folded; ++k) {
                    const int32 i2 = int32(k);
                    const int32* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_int64::join(lanes0[j], int64(x0_strip[x0_at[j]]));
                    }
                }
                for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
            }
            alignas(64) int64 z0_strip[256];
            independent
            for (int j = 0; j < m; ++j) {
                z0_strip[j] = sum0[j];
            }
            for (int j = 0; j < m; ++j) (p.z0 + i0 * p.z0_stride0 + i1)[z0_at[j]] = z0_strip[j];
        }
    }
}
