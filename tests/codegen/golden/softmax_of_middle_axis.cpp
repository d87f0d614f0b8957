// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

//// packing, independent, max_float, bits_of, from_bits, exp_float, sum_float, sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint32 n2;
    uint32 n0;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 rows;
    uint32 folded;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const packing strips = pack(256, 16, p.n2, p.n0);
    int32 x0_at[256];
    int32 z0_at[256];
    {
        int32 i0 = 0, i2 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_at[j] = int32(i0 * p.x0_stride0 + i2);
            z0_at[j] = int32(i0 * p.z0_stride0 + i2);
            ++i2;
            if (i2 < int32(p.n2)) continue;
            i2 = 0;
            ++i0;
        }
    }
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 from = block * 256;
        const uint32 to = p.rows - from < 256 ? p.rows : from + 256;
        for (uint32 start = strips.first(from); start < to; start += strips.length(start)) {
            const int m = strips.length(start);
            uint32 rest = start;
            const int32 i2 = int32(rest % p.n2);
            rest /= p.n2;
            const int32 i0 = int32(rest);
            alignas(64) float cached0[17408];
            alignas(64) float max0[256];
            {
                alignas(64) float lanes0[256];
                for (int j = 0; j < m; ++j) lanes0[j] = -__builtin_inff();
                for (uint32 k = 0; k < p.folded; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 * 2 + i2;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = max_float::join(lanes0[j], x0_strip[x0_at[j]]);
                    }
                }
                for (int j = 0; j < m; ++j) max0[j] = lanes0[j];
            }
            alignas(64) double sum1[256];
            {
                alignas(64) float lanes1[256];
                for (int j = 0; j < m; ++j) lanes1[j] = 0.0f;
                for (uint32 k = 0; k < p.folded; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 * 2 + i2;
                    float* const cached0_strip = cached0 + k * 272;
                    independent
                    for (int j = 0; j < m; ++j) {
                        const float t0 = x0_strip[x0_at[j]] - max0[j];
                        const float t1 = exp_float(t0);
                        lanes1[j] = sum_float::join(lanes1[j], t1);
                        cached0_strip[j] = t1;
                    }
                }
                for (int j = 0; j < m; ++j) sum1[j] = lanes1[j];
            }
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i1 = int32(k);
                const float* const cached0_strip = cached0 + k * 272;
                alignas(64) float z0_strip[256];
                independent
                for (int j = 0; j < m; ++j) {
                    z0_strip[j] = cached0_strip[j] / float(sum1[j]);
                }
                for (int j = 0; j < m; ++j) (p.z0 + i0 * p.z0_stride0 + i1 * 2 + i2)[z0_at[j]] = z0_strip[j];
            }
        }
    }
}
