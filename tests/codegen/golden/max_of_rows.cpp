// max(x0)
using int32 = int;
using uint32 = unsigned int;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct max_float {
    static float join(float a, float b) { return a > b || a != a ? a : b; }
};

struct arguments {
    const float* x0;
    float* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        float max0 = -__builtin_inff();
        {
            alignas(64) float lanes0[64];
            for (int l = 0; l < 64; ++l) lanes0[l] = -__builtin_inff();
            alignas(64) float x0_copy[256] = {};
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                if (m < 256) for (int j = 0; j < m; ++j) x0_copy[j] = *(p.x0 + i0 * p.x0_stride0 + i1 + j);
                const float* const x0_strip = m < 256 ? x0_copy : p.x0 + i0 * p.x0_stride0 + i1;
                alignas(64) float value0[256];
                independent
                for (int j = 0; j < 256; ++j) {
                    value0[j] = x0_strip[j];
                }
                for (int j = m; j < 256; ++j) value0[j] = -__builtin_inff();
                for (int l = 0; l < 64; ++l) lanes0[l] = max_float::join(lanes0[l], max_float::join(max_float::join(value0[l], value0[l + 64]), max_float::join(value0[l + 128], value0[l + 192])));
            }
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes0[l] = max_float::join(lanes0[l], lanes0[l + half]);
            max0 = lanes0[0];
        }
        *(p.z0 + i0) = max0;
    }
}
