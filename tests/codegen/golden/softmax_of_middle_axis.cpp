// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

/// Consecutive strips in linear order; each covers whole points of the axis that is cut.
struct packing {
    uint32 span, step;  // elements of all points of that axis, and of a strip
    /// Returns the start of the first strip at or after `at`.
    uint32 first(uint32 at) const {
        const uint32 within = (at % span + step - 1) / step * step;
        return at / span * span + (within < span ? within : span);
    }
    /// Returns the number of elements of the strip that starts at `at`.
    int length(uint32 at) const {
        const uint32 left = span - at % span;
        return int(left < step ? left : step);
    }
};
/// Cuts the innermost axis that exceeds `room`. A strip is a whole number of vectors if `room` has space
/// for enough points.
template <class... extents>
static inline packing pack(uint32 room, uint32 vector, uint32 inner, extents... outer) {
    const uint32 sizes[] = {outer...};
    uint32 point = 1, span = inner;
    for (const uint32 n : sizes) {
        if (span > room) break;
        point = span;
        span *= n;
    }
    const uint32 common = (point | vector) & -(point | vector);
    uint32 most = room / point, multiple = vector / common;
    if (multiple > most) multiple = 1;
    most = most / multiple * multiple;
    const uint32 points = span / point, strips = (points + most - 1) / most;
    const uint32 each = ((points + strips - 1) / strips + multiple - 1) / multiple * multiple;
    return {span, (each < points ? each : points) * point};
}

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct max_float {
    static float join(float a, float b) { return (a < b) | (b != b) ? b : a; }
};

static inline uint32 bits_of(float a) { return __builtin_bit_cast(uint32, a); }

static inline float from_bits(uint32 a) { return __builtin_bit_cast(float, a); }

static inline float exp_float(float a) {
    float x = a < -104.0f ? -104.0f : a > 89.0f ? 89.0f : a;
    float shifted = x * 1.44269502f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693359375f + n * 2.12194442e-4f;
    float p = 1.38210540e-3f;
    p = p * r + 8.36867467e-3f;
    p = p * r + 4.16682623e-2f;
    p = p * r + 1.66665211e-1f;
    p = p * r + 4.99999940e-1f;
    p = p * (r * r) + r + 1.0f;
    uint32 k = bits_of(shifted) - bits_of(12582912.0f);
    uint32 half = ((k + 256u) >> 1) - 128u;
    return p * from_bits((half + 127u) << 23) * from_bits((k - half + 127u) << 23);
}

struct sum_float {
    static float join(float a, float b) { return a + b; }
};

struct sum_double {
    static double join(double a, double b) { return a + b; }
};

struct arguments {
    const float* x0;
    float* z0;
    uint32 n2;
    uint32 n0;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 rows;
    uint32 folded;
    int32 x0_stride1;
    int32 z0_stride1;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const packing strips = pack(256, 16, p.n2, p.n0);
    int32 x0_at[256];
    int32 z0_at[256];
    {
        int32 i0 = 0, i2 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_at[j] = int32(i0 * p.x0_stride0 + i2);
            z0_at[j] = int32(i0 * p.z0_stride0 + i2);
            ++i2;
            if (i2 < int32(p.n2)) continue;
            i2 = 0;
            ++i0;
        }
    }
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 from = block * 256;
        const uint32 to = p.rows - from < 256 ? p.rows : from + 256;
        for (uint32 start = strips.first(from); start < to; start += strips.length(start)) {
            const int m = strips.length(start);
            uint32 rest = start;
            const int32 i2 = int32(rest % p.n2);
            rest /= p.n2;
            const int32 i0 = int32(rest);
            alignas(64) float cached0[17408];
            alignas(64) float max0[256];
            {
                alignas(64) float lanes0[256];
                for (int j = 0; j < m; ++j) lanes0[j] = -__builtin_inff();
                for (uint32 k = 0; k < p.folded; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = max_float::join(lanes0[j], x0_strip[x0_at[j]]);
                    }
                }
                for (int j = 0; j < m; ++j) max0[j] = lanes0[j];
            }
            alignas(64) double sum1[256];
            {
                alignas(64) float lanes1[256];
                for (int j = 0; j < m; ++j) lanes1[j] = 0.0f;
                for (uint32 k = 0; k < p.folded; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2;
                    float* const cached0_strip = cached0 + k * 272;
                    independent
                    for (int j = 0; j < m; ++j) {
                        const float t0 = x0_strip[x0_at[j]] - max0[j];
                        const float t1 = exp_float(t0);
                        lanes1[j] = sum_float::join(lanes1[j], t1);
                        cached0_strip[j] = t1;
                    }
                }
                for (int j = 0; j < m; ++j) sum1[j] = lanes1[j];
            }
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i1 = int32(k);
                const float* const cached0_strip = cached0 + k * 272;
                alignas(64) float z0_strip[256];
                independent
                for (int j = 0; j < m; ++j) {
                    z0_strip[j] = cached0_strip[j] / float(sum1[j]);
                }
                for (int j = 0; j < m; ++j) (p.z0 + i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2)[z0_at[j]] = z0_strip[j];
            }
        }
    }
}
