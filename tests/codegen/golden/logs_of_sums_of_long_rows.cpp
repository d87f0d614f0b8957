// log(sum(exp(x0 - max(x0))))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <features.h>
#define vectorised __attribute__((simd("notinbranch"), const, nothrow))
#endif
#if defined(vectorised) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define vectorised_since_235 vectorised
#endif
#endif
#ifndef vectorised
#define vectorised __attribute__((const, nothrow))
#endif
#ifndef vectorised_since_235
#define vectorised_since_235 __attribute__((const, nothrow))
#endif
extern "C" vectorised double exp(double a);

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

static inline float weight(float x) { return exp_float(x); }

static inline double weight(double x) { return exp(x); }

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

template <class type>
constexpr type largest();
template <>
constexpr float largest() {
    return 3.402823466e+38f;
}
template <>
constexpr double largest() {
    return 1.7976931348623157e+308;
}

/// The greatest element `top` and the sum of exp(x - top).
struct exponential_sum {
    double top, sum;
};

struct exponentials {
    static exponential_sum join(exponential_sum a, exponential_sum b) {
        const bool above = a.top > b.top;
        const double less = weight(above ? b.top - a.top : a.top - b.top);
        return {above ? a.top : b.top, above ? a.sum + b.sum * less : b.sum + a.sum * less};
    }
    /// Each lane holds its greatest element `top` and the sum of exp(x - near). `near` is updated only when an
    /// element exceeds it by more than 2; lanes that reduce one row share it. end_strips() adds the exponentials
    /// of some strips of m elements.
    template <class type>
    static void keep(type v, type& of_strip, int& far, type near, type& top) {
        of_strip = v;
        top = v > top ? v : top;
        far |= v - near > 2;
    }
    template <int strips, int width, bool one_row, class type>
    static void end_strips(const type* __restrict v, int& far, int m, type* __restrict near, type* __restrict sum,
                          type* __restrict top) {
        if (far) {
            far = 0;
            type most = -largest<type>();
            for (int j = 0; one_row && j < m; ++j) most = top[j] > most ? top[j] : most;
            independent
            for (int j = 0; j < m; ++j) {
                top[j] = top[j] < largest<type>() ? top[j] : largest<type>();
                const type high = one_row ? most < largest<type>() ? most : largest<type>() : top[j];
                sum[j] *= weight(near[j] - high);
                near[j] = high;
            }
        }
        independent
        for (int j = 0; j < m; ++j)
            for (int s = 0; s < strips; ++s) sum[j] += weight(v[s * width + j] - near[j]);
    }
    static exponential_sum of_lane(double near, double sum, double top, uint64) {
        return {top, sum == 0 ? 0 : sum * weight(near - top)};
    }
    template <int lanes, class type>
    static exponential_sum of_lanes(const type* near, const type* sum, const type* top, uint64) {
        type most = top[0];
        for (int l = 1; l < lanes; ++l) most = top[l] > most ? top[l] : most;
        double shares[lanes], all = 0;
        for (int l = 0; l < lanes; ++l) shares[l] = sum[l] * weight(double(near[l]) - most);
        for (int l = 0; l < lanes; ++l) all += shares[l];
        return {most, all};
    }
    template <class type>
    static type about(exponential_sum a, type c) {
        return type(a.sum * weight(a.top - c));
    }
    /// Returns the greatest element. The sum shows whether it is infinite or NaN.
    static double greatest(exponential_sum a) {
        return a.sum > 0 && a.sum <= largest<double>() ? a.top : a.sum == 0 ? -__builtin_inf() : a.sum;
    }
};

/// A block writes its slots of the scratch memory; the finishing block reads and clears them.
template <class type>
static inline void put(uint64* slot, type v) {
    __builtin_memcpy(slot, &v, sizeof v);
}

template <class type>
static inline type take(uint64* slot) {
    type v;
    __builtin_memcpy(&v, slot, sizeof v);
    *slot = 0;
    return v;
}

static inline float log_float(float a) {
    bool tiny = a < 1.17549435e-38f;
    float x = tiny ? a * 8388608.0f : a;
    uint32 e = (bits_of(x) - 0x3f2aaaabu) & 0xff800000u;
    float f = from_bits(bits_of(x) - e) - 1.0f;
    float n = from_bits(bits_of(12582912.0f) + uint32(int32(e) >> 23)) - (tiny ? 12582935.0f : 12582912.0f);
    float p = -1.28744870e-1f;
    p = p * f + 1.39867082e-1f;
    p = p * f - 1.21883437e-1f;
    p = p * f + 1.40053406e-1f;
    p = p * f - 1.66801810e-1f;
    p = p * f + 2.00104445e-1f;
    p = p * f - 2.49998048e-1f;
    p = p * f + 3.33332151e-1f;
    p = p * f - 0.5f;
    p = p * (f * f) + f;
    p = n * 0.693147182f + p;
    p = bits_of(a) < 0x7f800000u ? p : a * from_bits(0x7f800000u) + from_bits(0x7f800000u);
    return a == 0 ? from_bits(0xff800000u) : p;
}

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        exponential_sum exponentials0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0_near[256], lanes0_sum[256], lanes0_top[256];
            alignas(64) float lanes0_strip[1024];
            int lanes0_far = 0;
            for (int j = 0; j < 256; ++j) lanes0_near[j] = -largest<float>(), lanes0_sum[j] = 0, lanes0_top[j] = -largest<float>();
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    exponentials::keep(x0_strip[j], lanes0_strip[j], lanes0_far, lanes0_near[j], lanes0_top[j]);
                }
                exponentials::end_strips<1, 256, true>(lanes0_strip, lanes0_far, m, lanes0_near, lanes0_sum, lanes0_top);
            }
            exponentials0 = exponentials::of_lanes<256>(lanes0_near, lanes0_sum, lanes0_top, to - from);
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 2;
        put(slots + piece * stride, exponentials0.top);
        put(slots + piece * stride + 1 * p.rows, exponentials0.sum);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        exponential_sum whole0 = exponential_sum{-3.402823466e+38f, 0};
        for (uint32 s = 0; s < pieces; ++s) whole0 = exponentials::join(whole0, exponential_sum{take<double>(slots + s * stride), take<double>(slots + s * stride + 1 * p.rows)});
        exponentials0 = whole0;
        const float t0 = exponentials::greatest(exponentials0);
        const float t1 = exponentials::about(exponentials0, t0);
        *(p.z0 + i0) = log_float(t1);
    }
}
