// g0 * x0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline double sqrt(double a) { return __builtin_sqrt(a); }

//// packing, spread_lanes, generator_key, philox_words, philox, fraction, logarithm, circle, polar, normal_double,
//// normal_double.2, rolled, independent, low_product, normal_double_run, scatter_lanes

struct arguments {
    const double* x0;
    double* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n1;
    uint32 n0;
    int32 z0_stride0;
    int32 g0_stride0;
    uint32 size;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    alignas(64) double x0_copy[512] = {};
    alignas(64) double z0_copy[512] = {};
    alignas(64) double g0_numbers[546] = {};
    const packing strips = pack(512, 8, p.n1, p.n0);
    int32 x0_at[512];
    bool x0_dense = true;
    int32 z0_at[512];
    bool z0_dense = true;
    int64 g0_at[512];
    bool g0_dense = true;
    {
        int32 i0 = 0, i1 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_at[j] = int32(i0);
            x0_dense &= x0_at[j] == j;
            z0_at[j] = int32(i0 * p.z0_stride0 + i1);
            z0_dense &= z0_at[j] == j;
            g0_at[j] = int64(i0 * p.g0_stride0 + i1);
            g0_dense &= g0_at[j] == j;
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
            const double* const x0_row = p.x0 + i0;
            double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
            const int64 g0_row = p.g0_first + i0 * p.g0_stride0 + i1;
            const bool whole = m % 8 == 0;
            const double* const x0_strip = x0_dense && whole ? x0_row : x0_copy;
            double* const z0_strip = z0_dense && whole ? z0_row : z0_copy;
            if (x0_strip == x0_copy) spread_lanes(x0_copy, x0_row, x0_at, int(p.n1), m);
            const double* g0_strip = g0_numbers;
            if (g0_dense) {
                g0_strip = normal_double_run(g0_numbers, p.g0_key, g0_row, m);
            } else {
                for (int vector = 0; vector < m; vector += 8) {
                    rolled
                    independent
                    for (int j = vector; j < vector + 8; ++j) {
                        g0_numbers[j] = normal_double(p.g0_key, g0_row + g0_at[j]);
                    }
                }
            }
            for (int vector = 0; vector < m; vector += 8) {
                rolled
                independent
                for (int j = vector; j < vector + 8; ++j) {
                    const double x0 = x0_strip[j];
                    const double g0 = g0_strip[j];
                    z0_strip[j] = g0 * x0;
                }
            }
            if (z0_strip == z0_copy) scatter_lanes(z0_copy, z0_row, z0_at, z0_dense, m);
        }
    }
}
