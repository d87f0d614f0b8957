// sum(x0)
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 2048);
        const int m = p.n0 - i0 < 2048 ? int(p.n0 - i0) : 2048;
        alignas(64) double sum0[2048];
        for (int j = 0; j < m; ++j) sum0[j] = 0.0;
        {
            for (uint32 group = 0; group < p.folded; group += 64) {
                const uint32 end_of_group = p.folded - group < 64 ? p.folded : group + 64;
                alignas(64) float lanes0[2048];
                for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
                uint32 k = group;
                for (; k + 3 < end_of_group; k += 4) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 + i1 * p.x0_stride1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 1 * p.x0_stride1]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 2 * p.x0_stride1]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 3 * p.x0_stride1]);
                    }
                }
                for (; k < end_of_group; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 + i1 * p.x0_stride1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                    }
                }
                for (int j = 0; j < m; ++j) sum0[j] = sum_double::join(sum0[j], lanes0[j]);
            }
        }
        float* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = float(sum0[j]);
        }
    }
}
