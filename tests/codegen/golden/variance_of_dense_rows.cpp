// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, join_lanes

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    float s1;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const float s1 = given->s1;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        float sum0;
        {
            alignas(64) float lanes0[128];
            for (int j = 0; j < 128; ++j) lanes0[j] = 0.0f;
            for (uint32 first = 0; first < p.folded; first += 128) {
                const int m = p.folded - first < 128 ? int(p.folded - first) : 128;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                }
            }
            sum0 = join_lanes<sum_float, 128>(lanes0);
        }
        const float t0 = sum0 / s0;
        float sum1;
        {
            alignas(64) float lanes1[128];
            for (int j = 0; j < 128; ++j) lanes1[j] = 0.0f;
            for (uint32 first = 0; first < p.folded; first += 128) {
                const int m = p.folded - first < 128 ? int(p.folded - first) : 128;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t1 = x0_strip[j] - t0;
                    lanes1[j] = sum_float::join(lanes1[j], t1 * t1);
                }
            }
            sum1 = join_lanes<sum_float, 128>(lanes1);
        }
        const float t2 = sum1 / s1;
        *(p.z0 + i0) = t2;
    }
}
