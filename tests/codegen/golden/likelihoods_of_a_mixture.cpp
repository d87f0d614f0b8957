// log(sum(exp(square(x0 - x1) * x2)))
using int32 = int;
using uint32 = unsigned int;

//// independent, bits_of, from_bits, exp_float, sum_float, sum_double, log_float

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    float* z0;
    uint32 n0;
    uint32 folded;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 256);
        const int m = p.n0 - i0 < 256 ? int(p.n0 - i0) : 256;
        const float* const x0_strip = p.x0 + i0;
        alignas(64) double sum0[256];
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i1 = int32(k);
                const float x1 = *(p.x1 + i1);
                const float x2 = *(p.x2 + i1);
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0_strip[j] - x1;
                    const float t1 = t0 * t0;
                    const float t2 = t1 * x2;
                    lanes0[j] = sum_float::join(lanes0[j], exp_float(t2));
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
