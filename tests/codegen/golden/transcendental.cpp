// exp(x0) * s0 + tanh(x1)
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
extern "C" vectorised_since_235 double tanh(double a);

//// rolled, independent

struct arguments {
    const double* x0;
    const double* x1;
    double* z0;
    double s0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const double s0 = given->s0;
    const arguments& p = *given;
    alignas(64) double x0_copy[256] = {};
    alignas(64) double x1_copy[256] = {};
    alignas(64) double z0_copy[256] = {};
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const double* const x0_row = p.x0 + i0;
        const double* const x1_row = p.x1 + i0;
        double* const z0_row = p.z0 + i0;
        for (int32 first = 0; first < n; first += 256) {
            const int m = n - first < 256 ? int(n - first) : 256;
            const bool whole = m % 8 == 0;
            const double* const x0_strip = whole ? x0_row + first : x0_copy;
            const double* const x1_strip = whole ? x1_row + first : x1_copy;
            double* const z0_strip = whole ? z0_row + first : z0_copy;
            if (x0_strip == x0_copy) for (int j = 0; j < m; ++j) x0_copy[j] = x0_row[first + j];
            if (x1_strip == x1_copy) for (int j = 0; j < m; ++j) x1_copy[j] = x1_row[first + j];
            for (int vector = 0; vector < m; vector += 8) {
                rolled
                independent
                for (int j = vector; j < vector + 8; ++j) {
                    const double x0 = x0_strip[j];
                    const double x1 = x1_strip[j];
                    const double t0 = exp(x0);
                    const double t1 = t0 * s0;
                    const double t2 = tanh(x1);
                    z0_strip[j] = t1 + t2;
                }
            }
            if (z0_strip == z0_copy) for (int j = 0; j < m; ++j) z0_row[first + j] = z0_copy[j];
        }
    }
}
