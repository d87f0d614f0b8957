// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

//// independent, max_float, bits_of, from_bits, exp_float, sum_float, sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint32 n0;
    uint32 folded;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 256);
        const int m = p.n0 - i0 < 256 ? int(p.n0 - i0) : 256;
        alignas(64) float x0[8704];
        for (int j = 0; j < m; ++j)
            for (int k = 0; k < int(p.folded); ++k) x0[k * 272 + j] = (p.x0 + i0 * p.x0_stride0)[j * p.x0_stride0 + k];
        alignas(64) float z0[8704];
        alignas(64) float cached0[17408];
        alignas(64) float max0[256];
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = -__builtin_inff();
            for (uint32 k = 0; k < p.folded; ++k) {
                const float* const x0_strip = x0 + k * 272;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = max_float::join(lanes0[j], x0_strip[j]);
                }
            }
            for (int j = 0; j < m; ++j) max0[j] = lanes0[j];
        }
        alignas(64) double sum1[256];
        {
            alignas(64) float lanes1[256];
            for (int j = 0; j < m; ++j) lanes1[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const float* const x0_strip = x0 + k * 272;
                float* const cached0_strip = cached0 + k * 272;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0_strip[j] - max0[j];
                    const float t1 = exp_float(t0);
                    lanes1[j] = sum_float::join(lanes1[j], t1);
                    cached0_strip[j] = t1;
                }
            }
            for (int j = 0; j < m; ++j) sum1[j] = lanes1[j];
        }
        for (uint32 k = 0; k < p.folded; ++k) {
            const float* const cached0_strip = cached0 + k * 272;
            float* const z0_strip = z0 + k * 272;
            independent
            for (int j = 0; j < m; ++j) {
                z0_strip[j] = cached0_strip[j] / float(sum1[j]);
            }
        }
        for (int j = 0; j < m; ++j)
            for (int k = 0; k < int(p.folded); ++k) (p.z0 + i0 * p.z0_stride0)[j * p.z0_stride0 + k] = z0[k * 272 + j];
    }
}
