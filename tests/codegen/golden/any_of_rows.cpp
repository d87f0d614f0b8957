// any(x0)
using int32 = int;
using uint32 = unsigned int;

//// independent, any_bool

struct arguments {
    const double* x0;
    bool* z0;
    uint32 n0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 256);
        const int m = p.n0 - i0 < 256 ? int(p.n0 - i0) : 256;
        alignas(64) bool any0[256];
        {
            alignas(64) bool lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = false;
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i1 = int32(k);
                const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = any_bool::join(lanes0[j], (x0_strip[j * p.x0_stride0]) != 0);
                }
            }
            for (int j = 0; j < m; ++j) any0[j] = lanes0[j];
        }
        bool* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = any0[j];
        }
    }
}
