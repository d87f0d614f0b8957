// log(sum(exp(x0)))
using int32 = int;
using uint32 = unsigned int;

//// independent, bits_of, from_bits, exp_float, sum_float, sum_double, log_float

struct arguments {
    const float* x0;
    float* z0;
    uint32 n0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 256);
        const int m = p.n0 - i0 < 256 ? int(p.n0 - i0) : 256;
        alignas(64) float x0[8704];
        for (int j = 0; j < m; ++j)
            for (int k = 0; k < int(p.folded); ++k) x0[k * 272 + j] = (p.x0 + i0 * p.x0_stride0)[j * p.x0_stride0 + k];
        alignas(64) double sum0[256];
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const float* const x0_strip = x0 + k * 272;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], exp_float(x0_strip[j]));
                }
            }
            for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
        }
        float* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = log_float(float(sum0[j]));
        }
    }
}
