// max(x0 * astype<float64>(x1) + astype<float64>(x2)); argmin(x3)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

/// An element and its place in the row.
struct place_int16 {
    int16 value;
    int64 at;
};

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct max_double {
    static double join(double a, double b) { return a > b || a != a ? a : b; }
};

struct argmin_int16 {
    static place_int16 join(place_int16 a, place_int16 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

struct arguments {
    const double* x0;
    const float* x1;
    const float* x2;
    const int16* x3;
    double* z0;
    int64* z1;
    uint32 n1;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride1;
    int32 x3_stride0;
    int32 x3_stride1;
    int32 z0_stride0;
    int32 z1_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 row = block;
        const int32 i1 = int32(row % p.n1);
        row /= p.n1;
        const int32 i0 = int32(row);
        const float x2 = *(p.x2 + i0);
        const double t0 = double(x2);
        double max0 = -__builtin_inf();
        place_int16 argmin1 = place_int16{int16(~(1ull << 15)), int64(~0ull >> 1)};
        {
            alignas(64) double lanes0[64];
            for (int l = 0; l < 64; ++l) lanes0[l] = -__builtin_inf();
            alignas(64) place_int16 lanes1[64];
            for (int l = 0; l < 64; ++l) lanes1[l] = place_int16{int16(~(1ull << 15)), int64(~0ull >> 1)};
            alignas(64) double x0_copy[256] = {};
            alignas(64) float x1_copy[256] = {};
            alignas(64) int16 x3_copy[256] = {};
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i2 = int32(first);
                if (m < 256) for (int j = 0; j < m; ++j) x0_copy[j] = *(p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2 + j);
                const double* const x0_strip = m < 256 ? x0_copy : p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2;
                if (m < 256) for (int j = 0; j < m; ++j) x1_copy[j] = *(p.x1 + i2 + j);
                const float* const x1_strip = m < 256 ? x1_copy : p.x1 + i2;
                if (m < 256) for (int j = 0; j < m; ++j) x3_copy[j] = *(p.x3 + i0 * p.x3_stride0 + i1 * p.x3_stride1 + i2 + j);
                const int16* const x3_strip = m < 256 ? x3_copy : p.x3 + i0 * p.x3_stride0 + i1 * p.x3_stride1 + i2;
                alignas(64) double value0[256];
                alignas(64) place_int16 value1[256];
                independent
                for (int j = 0; j < 256; ++j) {
                    const double t1 = double(x1_strip[j]);
                    const double t2 = x0_strip[j] * t1;
                    value0[j] = t2 + t0;
                    value1[j] = place_int16{x3_strip[j], int64(first + j)};
                }
                for (int j = m; j < 256; ++j) value0[j] = -__builtin_inf();
                for (int l = 0; l < 64; ++l) lanes0[l] = max_double::join(lanes0[l], max_double::join(max_double::join(value0[l], value0[l + 64]), max_double::join(value0[l + 128], value0[l + 192])));
                for (int j = m; j < 256; ++j) value1[j] = place_int16{int16(~(1ull << 15)), int64(~0ull >> 1)};
                for (int l = 0; l < 64; ++l) lanes1[l] = argmin_int16::join(lanes1[l], argmin_int16::join(argmin_int16::join(value1[l], value1[l + 64]), argmin_int16::join(value1[l + 128], value1[l + 192])));
            }
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes0[l] = max_double::join(lanes0[l], lanes0[l + half]);
            max0 = lanes0[0];
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes1[l] = argmin_int16::join(lanes1[l], lanes1[l + half]);
            argmin1 = lanes1[0];
        }
        *(p.z0 + i0 * p.z0_stride0 + i1) = max0;
        *(p.z1 + i0 * p.z1_stride0 + i1) = argmin1.at;
    }
}
