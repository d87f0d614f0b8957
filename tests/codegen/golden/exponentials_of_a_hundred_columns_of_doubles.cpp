// sum(exp(x0 - max(x0)))
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

//// weight.2, independent, largest, exponential_sum, exponentials, put, take

struct arguments {
    const double* x0;
    double* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 n1;
    uint32 tiles;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride3;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const int32 i1 = int32((block / pieces) % p.tiles * 512);
        const int m = p.n1 - i1 < 512 ? int(p.n1 - i1) : 512;
        const uint32 row = (block / pieces) / p.tiles;
        const uint32 first_row = row * p.n1 + i1;
        const int32 i0 = int32(row);
        alignas(64) exponential_sum exponentials0[512];
        for (int j = 0; j < m; ++j) exponentials0[j] = exponential_sum{-1.7976931348623157e+308, 0};
        {
            const uint32 from = piece * 512;
            const uint32 to = p.folded - from < 512 ? p.folded : from + 512;
            for (uint32 group = from; group < to; group += 64) {
                const uint32 end_of_group = to - group < 64 ? to : group + 64;
                alignas(64) double lanes0_near[512], lanes0_sum[512], lanes0_top[512];
                alignas(64) double lanes0_strip[2048];
                int lanes0_far = 0;
                for (int j = 0; j < m; ++j) lanes0_near[j] = -largest<double>(), lanes0_sum[j] = 0, lanes0_top[j] = -largest<double>();
                uint32 k = group;
                for (; k + 3 < end_of_group; k += 4) {
                    const int32 i2 = int32(k);
                    const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride3;
                    independent
                    for (int j = 0; j < m; ++j) {
                        exponentials::keep(x0_strip[j], lanes0_strip[j], lanes0_far, lanes0_near[j], lanes0_top[j]);
                        exponentials::keep(x0_strip[j + 1 * p.x0_stride3], lanes0_strip[512 + j], lanes0_far, lanes0_near[j], lanes0_top[j]);
                        exponentials::keep(x0_strip[j + 2 * p.x0_stride3], lanes0_strip[1024 + j], lanes0_far, lanes0_near[j], lanes0_top[j]);
                        exponentials::keep(x0_strip[j + 3 * p.x0_stride3], lanes0_strip[1536 + j], lanes0_far, lanes0_near[j], lanes0_top[j]);
                    }
                    exponentials::end_strips<4, 512, false>(lanes0_strip, lanes0_far, m, lanes0_near, lanes0_sum, lanes0_top);
                }
                for (; k < end_of_group; ++k) {
                    const int32 i2 = int32(k);
                    const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride3;
                    independent
                    for (int j = 0; j < m; ++j) {
                        exponentials::keep(x0_strip[j], lanes0_strip[j], lanes0_far, lanes0_near[j], lanes0_top[j]);
                    }
                    exponentials::end_strips<1, 512, false>(lanes0_strip, lanes0_far, m, lanes0_near, lanes0_sum, lanes0_top);
                }
                for (int j = 0; j < m; ++j) exponentials0[j] = exponentials::join(exponentials0[j], exponentials::of_lane(lanes0_near[j], lanes0_sum[j], lanes0_top[j], end_of_group - group));
            }
        }
        uint64* const slots = p.scratch + p.rows + first_row;
        const uint64 stride = uint64(p.rows) * 2;
        for (int j = 0; j < m; ++j) put(slots + piece * stride + j, exponentials0[j].top);
        for (int j = 0; j < m; ++j) put(slots + piece * stride + 1 * p.rows + j, exponentials0[j].sum);
        if (__atomic_add_fetch(p.scratch + first_row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[first_row] = 0;
        for (int j = 0; j < m; ++j) exponentials0[j] = exponential_sum{-1.7976931348623157e+308, 0};
        for (uint32 s = 0; s < pieces; ++s)
            for (int j = 0; j < m; ++j) exponentials0[j] = exponentials::join(exponentials0[j], exponential_sum{take<double>(slots + s * stride + j), take<double>(slots + s * stride + 1 * p.rows + j)});
        double* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            const double t0 = exponentials::greatest(exponentials0[j]);
            z0_strip[j] = exponentials::about(exponentials0[j], t0);
        }
    }
}
