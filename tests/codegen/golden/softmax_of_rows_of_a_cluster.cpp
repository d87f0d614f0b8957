namespace step1 {
// max(x0); exponentials(x0 - max(x0))
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

//// bits_of, from_bits, exp_float, weight, weight.2, independent, largest, exponential_sum, exponentials, put, take

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
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
        *(p.z0 + i0) = t0;
        *(p.z1 + i0) = exponentials::about(exponentials0, t0);
    }
}
}  // namespace step1

namespace step2 {
// exp(x0 - x1) / x2
using int32 = int;
using uint32 = unsigned int;

//// independent, bits_of, from_bits, exp_float

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    float* z0;
    uint32 n1;
    uint32 row_pieces;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void step2_map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const float x1 = *(p.x1 + i0);
        const float x2 = *(p.x2 + i0);
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const float t0 = x0 - x1;
            const float t1 = exp_float(t0);
            z0_row[j] = t1 / x2;
        }
    }
}
}  // namespace step2
