// log(x0 + x1)
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
extern "C" vectorised double log(double a);

//// packing, gather_lanes, rolled, independent, scatter_lanes

struct arguments {
    const double* x0;
    const double* x1;
    double* z0;
    uint32 n1;
    uint32 n0;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 size;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    alignas(64) double x0_copy[512] = {};
    alignas(64) double x1_copy[512] = {};
    alignas(64) double z0_copy[512] = {};
    const packing strips = pack(512, 8, p.n1, p.n0);
    int32 x0_at[512];
    bool x0_dense = true;
    int32 z0_at[512];
    bool z0_dense = true;
    {
        int32 i0 = 0, i1 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x1_copy[j] = *(p.x1 + i1);
            x0_at[j] = int32(i0 * p.x0_stride0 + i1);
            x0_dense &= x0_at[j] == j;
            z0_at[j] = int32(i0 * p.z0_stride0 + i1);
            z0_dense &= z0_at[j] == j;
            ++i1;
            if (i1 < int32(p.n1)) continue;
            i1 = 0;
            ++i0;
        }
    }
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 from = block * 32768;
        const uint32 to = p.size - from < 32768 ? p.size : from + 32768;
        for (uint32 start = strips.first(from); start < to; start += strips.length(start)) {
            const int m = strips.length(start);
            uint32 rest = start;
            const int32 i1 = int32(rest % p.n1);
            rest /= p.n1;
            const int32 i0 = int32(rest);
            const double* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
            double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
            const bool whole = m % 8 == 0;
            const double* const x0_strip = x0_dense && whole ? x0_row : x0_copy;
            double* const z0_strip = z0_dense && whole ? z0_row : z0_copy;
            if (x0_strip == x0_copy) gather_lanes(x0_copy, x0_row, x0_at, x0_dense, m);
            for (int vector = 0; vector < m; vector += 8) {
                rolled
                independent
                for (int j = vector; j < vector + 8; ++j) {
                    const double x0 = x0_strip[j];
                    const double x1 = x1_copy[j];
                    const double t0 = x0 + x1;
                    z0_strip[j] = log(t0);
                }
            }
            if (z0_strip == z0_copy) scatter_lanes(z0_copy, z0_row, z0_at, z0_dense, m);
        }
    }
}
