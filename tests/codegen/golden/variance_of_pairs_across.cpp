// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, sum_double

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    float s1;
    uint32 n1;
    uint32 tiles;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride3;
    int32 z0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const float s1 = given->s1;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i1 = int32(block % p.tiles * 256);
        const int m = p.n1 - i1 < 256 ? int(p.n1 - i1) : 256;
        const uint32 row = block / p.tiles;
        const int32 i0 = int32(row);
        alignas(64) double sum0[256];
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i2 = int32(k);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride3;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                }
            }
            for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
        }
        alignas(64) double sum1[256];
        {
            alignas(64) float lanes1[256];
            for (int j = 0; j < m; ++j) lanes1[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i2 = int32(k);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride3;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = float(sum0[j]) / s0;
                    const float t1 = x0_strip[j] - t0;
                    lanes1[j] = sum_float::join(lanes1[j], t1 * t1);
                }
            }
            for (int j = 0; j < m; ++j) sum1[j] = lanes1[j];
        }
        float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = float(sum1[j]) / s1;
        }
    }
}
