// sum(x0 * x1)
using int32 = int;
using uint32 = unsigned int;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct sum_float {
    static float join(float a, float b) { return a + b; }
};

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        const float x1 = *(p.x1 + i0);
        float sum0 = 0.0f;
        {
            alignas(64) float lanes0[64];
            for (int l = 0; l < 64; ++l) lanes0[l] = 0.0f;
            alignas(64) float x0_copy[256] = {};
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                if (m < 256) for (int j = 0; j < m; ++j) x0_copy[j] = *(p.x0 + i0 * p.x0_stride0 + i1 + j);
                const float* const x0_strip = m < 256 ? x0_copy : p.x0 + i0 * p.x0_stride0 + i1;
                alignas(64) float value0[256];
                independent
                for (int j = 0; j < 256; ++j) {
                    value0[j] = x0_strip[j] * x1;
                }
                for (int j = m; j < 256; ++j) value0[j] = 0.0f;
                for (int l = 0; l < 64; ++l) lanes0[l] = sum_float::join(lanes0[l], sum_float::join(sum_float::join(value0[l], value0[l + 64]), sum_float::join(value0[l + 128], value0[l + 192])));
            }
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes0[l] = sum_float::join(lanes0[l], lanes0[l + half]);
            sum0 = lanes0[0];
        }
        *(p.z0 + i0) = sum0;
    }
}
