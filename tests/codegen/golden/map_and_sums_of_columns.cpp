// sqrt(x0); sum(x0)
using int32 = int;
using uint32 = unsigned int;
static inline float sqrt(float a) { return __builtin_sqrtf(a); }

//// independent, sum_float, sum_double

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    uint32 n1;
    uint32 folded;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i1 = int32(block * 64);
        const int m = p.n1 - i1 < 64 ? int(p.n1 - i1) : 64;
        alignas(64) double sum0[64];
        for (int j = 0; j < m; ++j) sum0[j] = 0.0;
        {
            for (uint32 group = 0; group < p.folded; group += 64) {
                const uint32 end_of_group = p.folded - group < 64 ? p.folded : group + 64;
                alignas(64) float lanes0[64];
                for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
                for (uint32 k = group; k < end_of_group; ++k) {
                    const int32 i0 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                    }
                }
                for (int j = 0; j < m; ++j) sum0[j] = sum_double::join(sum0[j], lanes0[j]);
            }
        }
        for (uint32 k = 0; k < p.folded; ++k) {
            const int32 i0 = int32(k);
            const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
            float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
            independent
            for (int j = 0; j < m; ++j) {
                z0_strip[j] = sqrt(x0_strip[j]);
            }
        }
        float* const z1_strip = p.z1 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            z1_strip[j] = float(sum0[j]);
        }
    }
}
