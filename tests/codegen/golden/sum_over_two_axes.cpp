// sum(x0)
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, join_lanes

struct arguments {
    const float* x0;
    float* z0;
    uint32 folded;
    uint32 n2;
    int32 x0_stride0;
    int32 x0_stride1;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        float sum0;
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            alignas(64) float x0_copy[256] = {};
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                {
                    uint32 rest = first;
                    int32 i2 = int32(rest % p.n2);
                    rest /= p.n2;
                    int32 i1 = int32(rest);
                    for (int filled = 0, run; filled < m; filled += run) {
                        const int left = m - filled;
                        run = int(p.n2 - i2) < left ? int(p.n2 - i2) : left;
                        for (int j = 0; j < run; ++j) x0_copy[filled + j] = (p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2)[j];
                        i2 += run;
                        if (i2 < int32(p.n2)) continue;
                        i2 = 0;
                        ++i1;
                    }
                }
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x0_copy[j]);
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
        }
        *(p.z0 + i0) = sum0;
    }
}
