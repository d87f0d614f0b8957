// sum(exp(x0))
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

//// packing, rolled, independent, sum_double

struct arguments {
    const double* x0;
    double* z0;
    uint32 n1;
    uint32 n0;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 rows;
    uint32 folded;
    int32 x0_stride2;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const packing strips = pack(256, 8, p.n1, p.n0);
    int32 x0_at[256];
    int32 z0_at[256];
    {
        int32 i0 = 0, i1 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_at[j] = int32(i0 * p.x0_stride0 + i1);
            z0_at[j] = int32(i0 * p.z0_stride0 + i1);
            ++i1;
            if (i1 < int32(p.n1)) continue;
            i1 = 0;
            ++i0;
        }
    }
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 from = block * 256;
        const uint32 to = p.rows - from < 256 ? p.rows : from + 256;
        for (uint32 start = strips.first(from); start < to; start += strips.length(start)) {
            const int m = strips.length(start);
            uint32 rest = start;
            const int32 i1 = int32(rest % p.n1);
            rest /= p.n1;
            const int32 i0 = int32(rest);
            alignas(64) double sum0[256];
            {
                alignas(64) double lanes0[256];
                for (int j = 0; j < m; ++j) lanes0[j] = 0.0;
                alignas(64) double x0_copy[256];
                for (uint32 k = 0; k < p.folded; ++k) {
                    const int32 i2 = int32(k);
                    for (int j = 0; j < m; ++j) x0_copy[j] = (p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2)[x0_at[j]];
                    for (int j = m; j % 8 != 0; ++j) x0_copy[j] = x0_copy[0];
                    alignas(64) double value0[256];
                    for (int vector = 0; vector < m; vector += 8) {
                        rolled
                        independent
                        for (int j = vector; j < vector + 8; ++j) {
                            value0[j] = exp(x0_copy[j]);
                        }
                    }
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_double::join(lanes0[j], value0[j]);
                    }
                }
                for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
            }
            alignas(64) double z0_strip[256];
            independent
            for (int j = 0; j < m; ++j) {
                z0_strip[j] = sum0[j];
            }
            for (int j = 0; j < m; ++j) (p.z0 + i0 * p.z0_stride0 + i1)[z0_at[j]] = z0_strip[j];
        }
    }
}
