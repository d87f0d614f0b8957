// sum(x0); sum(x0 * x0)
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, join_lanes

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        float sum0;
        float sum1;
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            alignas(64) float lanes1[256];
            for (int j = 0; j < 256; ++j) lanes1[j] = 0.0f;
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                    lanes1[j] = sum_float::join(lanes1[j], x0_strip[j] * x0_strip[j]);
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
            sum1 = join_lanes<sum_float, 256>(lanes1);
        }
        *(p.z0 + i0) = sum0;
        *(p.z1 + i0) = sum1;
    }
}
