// max(x0)
using int32 = int;
using uint32 = unsigned int;

//// independent, max_float

struct arguments {
    const float* x0;
    float* z0;
    uint32 n1;
    uint32 tiles;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride2;
    int32 z0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i1 = int32(block % p.tiles * 2048);
        const int m = p.n1 - i1 < 2048 ? int(p.n1 - i1) : 2048;
        const uint32 row = block / p.tiles;
        const int32 i0 = int32(row);
        alignas(64) float max0[2048];
        {
            alignas(64) float lanes0[2048];
            for (int j = 0; j < m; ++j) lanes0[j] = -__builtin_inff();
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i2 = int32(k);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = max_float::join(lanes0[j], x0_strip[j]);
                }
            }
            for (int j = 0; j < m; ++j) max0[j] = lanes0[j];
        }
        float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = max0[j];
        }
    }
}
