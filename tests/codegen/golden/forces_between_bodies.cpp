namespace step1 {
// reciprocal(sum(square(x0 - x1)) + s0)
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, sum_double

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float s0;
    uint32 n1;
    uint32 tiles;
    uint32 folded;
    int32 x0_stride1;
    int32 x1_stride0;
    int32 z0_stride0;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
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
                const float* const x0_strip = p.x0 + i1 * p.x0_stride1 + i2;
                const float x1 = *(p.x1 + i0 * p.x1_stride0 + i2);
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0_strip[j * p.x0_stride1] - x1;
                    lanes0[j] = sum_float::join(lanes0[j], t0 * t0);
                }
            }
            for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
        }
        float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            const float t1 = float(sum0[j]) + s0;
            z0_strip[j] = float(1) / t1;
        }
    }
}
}  // namespace step1

namespace step2 {
// sum((x0 - x1) * x2)
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, join_lanes

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    float* z0;
    uint32 n1;
    int32 x1_stride0;
    uint32 folded;
    int32 x0_stride2;
    int32 x2_stride0;
    int32 z0_stride0;
};

extern "C" void step2_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 row = block;
        const int32 i1 = int32(row % p.n1);
        row /= p.n1;
        const int32 i0 = int32(row);
        const float x1 = *(p.x1 + i0 * p.x1_stride0 + i1);
        float sum0;
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i2 = int32(first);
                const float* const x0_strip = p.x0 + i1 + i2 * p.x0_stride2;
                const float* const x2_strip = p.x2 + i0 * p.x2_stride0 + i2;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0_strip[j * p.x0_stride2] - x1;
                    lanes0[j] = sum_float::join(lanes0[j], t0 * x2_strip[j]);
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
        }
        *(p.z0 + i0 * p.z0_stride0 + i1) = sum0;
    }
}
}  // namespace step2
