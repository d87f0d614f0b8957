// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
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

//// independent, max_double, join_lanes, rolled, sum_double

struct arguments {
    const double* x0;
    double* z0;
    uint32 folded;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void rows(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        alignas(64) double cached0[1024];
        double max0;
        {
            alignas(64) double lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = -__builtin_inf();
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = max_double::join(lanes0[j], x0_strip[j]);
                }
            }
            max0 = join_lanes<max_double, 256>(lanes0);
        }
        double sum1;
        {
            alignas(64) double lanes1[256];
            for (int j = 0; j < 256; ++j) lanes1[j] = 0.0;
            alignas(64) double x0_copy[256];
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const bool x0_whole = m % 8 == 0;
                if (!x0_whole) for (int j = 0; j < m; ++j) x0_copy[j] = (p.x0 + i0 * p.x0_stride0 + i1)[j];
                if (!x0_whole) for (int j = m; j % 8 != 0; ++j) x0_copy[j] = x0_copy[0];
                const double* const x0_strip = x0_whole ? p.x0 + i0 * p.x0_stride0 + i1 : x0_copy;
                double* const cached0_strip = cached0 + first;
                alignas(64) double value0[256];
                for (int vector = 0; vector < m; vector += 8) {
                    rolled
                    independent
                    for (int j = vector; j < vector + 8; ++j) {
                        const double t0 = x0_strip[j] - max0;
                        const double t1 = exp(t0);
                        value0[j] = t1;
                    }
                }
                independent
                for (int j = 0; j < m; ++j) {
                    lanes1[j] = sum_double::join(lanes1[j], value0[j]);
                    cached0_strip[j] = value0[j];
                }
            }
            sum1 = join_lanes<sum_double, 256>(lanes1);
        }
        for (uint32 first = 0; first < p.folded; first += 256) {
            const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
            const int32 i1 = int32(first);
            const double* const cached0_strip = cached0 + first;
            double* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
            independent
            for (int j = 0; j < m; ++j) {
                z0_strip[j] = cached0_strip[j] / sum1;
            }
        }
    }
}
