// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

//// independent, max_float, join_lanes, bits_of, from_bits, exp_float, sum_float

struct arguments {
    const float* x0;
    float* z0;
    uint32 folded;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        alignas(64) float cached0[65536];
        float max0;
        max0 = -__builtin_inff();
        {
            for (uint32 group = 0; group < p.folded; group += 32768) {
                const uint32 end_of_group = p.folded - group < 32768 ? p.folded : group + 32768;
                alignas(64) float lanes0[256];
                for (int j = 0; j < 256; ++j) lanes0[j] = -__builtin_inff();
                for (uint32 first = group; first < end_of_group; first += 256) {
                    const int m = end_of_group - first < 256 ? int(end_of_group - first) : 256;
                    const int32 i1 = int32(first);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = max_float::join(lanes0[j], x0_strip[j]);
                    }
                }
                max0 = max_float::join(max0, join_lanes<max_float, 256>(lanes0));
            }
        }
        float sum1;
        sum1 = 0.0f;
        {
            for (uint32 group = 0; group < p.folded; group += 32768) {
                const uint32 end_of_group = p.folded - group < 32768 ? p.folded : group + 32768;
                alignas(64) float lanes1[256];
                for (int j = 0; j < 256; ++j) lanes1[j] = 0.0f;
                for (uint32 first = group; first < end_of_group; first += 256) {
                    const int m = end_of_group - first < 256 ? int(end_of_group - first) : 256;
                    const int32 i1 = int32(first);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                    float* const cached0_strip = cached0 + first;
                    independent
                    for (int j = 0; j < m; ++j) {
                        const float t0 = x0_strip[j] - max0;
                        const float t1 = exp_float(t0);
                        lanes1[j] = sum_float::join(lanes1[j], t1);
                        cached0_strip[j] = t1;
                    }
                }
                sum1 = sum_float::join(sum1, join_lanes<sum_float, 256>(lanes1));
            }
        }
        for (uint32 first = 0; first < p.folded; first += 256) {
            const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
            const int32 i1 = int32(first);
            const float* const cached0_strip = cached0 + first;
            float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
            independent
            for (int j = 0; j < m; ++j) {
                z0_strip[j] = cached0_strip[j] / sum1;
            }
        }
    }
}
