// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

//// independent, max_float, bits_of, from_bits, exp_float, sum_float, sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint32 n1;
    uint32 folded;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i1 = int32(block * 256);
        const int m = p.n1 - i1 < 256 ? int(p.n1 - i1) : 256;
        alignas(64) float max0[256];
        for (int j = 0; j < m; ++j) max0[j] = -__builtin_inff();
        {
            for (uint32 group = 0; group < p.folded; group += 64) {
                const uint32 end_of_group = p.folded - group < 64 ? p.folded : group + 64;
                alignas(64) float lanes0[256];
                for (int j = 0; j < m; ++j) lanes0[j] = -__builtin_inff();
                for (uint32 k = group; k < end_of_group; ++k) {
                    const int32 i0 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = max_float::join(lanes0[j], x0_strip[j]);
                    }
                }
                for (int j = 0; j < m; ++j) max0[j] = max_float::join(max0[j], lanes0[j]);
            }
        }
        alignas(64) double sum1[256];
        for (int j = 0; j < m; ++j) sum1[j] = 0.0;
        {
            for (uint32 group = 0; group < p.folded; group += 64) {
                const uint32 end_of_group = p.folded - group < 64 ? p.folded : group + 64;
                alignas(64) float lanes1[256];
                for (int j = 0; j < m; ++j) lanes1[j] = 0.0f;
                for (uint32 k = group; k < end_of_group; ++k) {
                    const int32 i0 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        const float t0 = x0_strip[j] - max0[j];
                        const float t1 = exp_float(t0);
                        lanes1[j] = sum_float::join(lanes1[j], t1);
                    }
                }
                for (int j = 0; j < m; ++j) sum1[j] = sum_double::join(sum1[j], lanes1[j]);
            }
        }
        for (uint32 k = 0; k < p.folded; ++k) {
            const int32 i0 = int32(k);
            const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
            float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
            independent
            for (int j = 0; j < m; ++j) {
                const float t2 = x0_strip[j] - max0[j];
                const float t3 = exp_float(t2);
                z0_strip[j] = t3 / float(sum1[j]);
            }
        }
    }
}
