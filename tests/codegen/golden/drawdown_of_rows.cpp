// min(x0 / cummax(x0) - s0)
using int32 = int;
using uint32 = unsigned int;

//// independent, max_float, min_float, join_lanes

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        alignas(64) float max0_row[16384];
        float max0 = -__builtin_inff();
        for (uint32 first = 0; first < p.folded; first += 256) {
            const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
            const int32 i1 = int32(first);
            const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
            float* const max0_row_strip = max0_row + first;
            independent
            for (int j = 0; j < m; ++j) {
                max0_row_strip[j] = x0_strip[j];
            }
            for (int j = 0; j < m; ++j) {
                max0 = max_float::join(max0, max0_row_strip[j]);
                max0_row_strip[j] = max0;
            }
        }
        float min1;
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = __builtin_inff();
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                const float* const max0_row_strip = max0_row + first;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0_strip[j] / max0_row_strip[j];
                    lanes0[j] = min_float::join(lanes0[j], t0 - s0);
                }
            }
            min1 = join_lanes<min_float, 256>(lanes0);
        }
        *(p.z0 + i0) = min1;
    }
}
