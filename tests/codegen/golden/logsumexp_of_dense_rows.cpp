// log(sum(exp(x0 - where(isfinite(max(x0)), max(x0), s0))))
using int32 = int;
using uint32 = unsigned int;

//// independent, max_float, bits_of, from_bits, exp_float, sum_float, sum_double, log_float

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    uint32 n0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 256);
        const int m = p.n0 - i0 < 256 ? int(p.n0 - i0) : 256;
        alignas(64) float x0[8704];
        for (int j = 0; j < m; ++j)
            for (int k = 0; k < int(p.folded); ++k) x0[k * 272 + j] = (p.x0 + i0 * p.x0_stride0)[j * p.x0_stride0 + k];
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
                independent
                for (int j = 0; j < m; ++j) {
                    const float e0 = x0_strip[j];
                    const bool t0 = max0[j] - max0[j] == 0;
                    const float t1 = t0 ? max0[j] : s0;
                    const float t2 = e0 - t1;
                    lanes1[j] = sum_float::join(lanes1[j], exp_float(t2));
                }
            }
            for (int j = 0; j < m; ++j) sum1[j] = lanes1[j];
        }
        float* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = log_float(float(sum1[j]));
        }
    }
}
