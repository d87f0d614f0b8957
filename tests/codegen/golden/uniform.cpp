// g0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// generator_key, philox_words, philox, uniform_float, uniform_float.2, rolled, independent, low_product,
//// uniform_float_run

struct arguments {
    float* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    alignas(64) float z0_copy[256] = {};
    alignas(64) float g0_numbers[324] = {};
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        float* const z0_row = p.z0 + i0;
        const int64 g0_row = p.g0_first + i0;
        for (int32 first = 0; first < n; first += 256) {
            const int m = n - first < 256 ? int(n - first) : 256;
            const bool whole = m % 16 == 0;
            float* const z0_strip = whole ? z0_row + first : z0_copy;
            const float* const g0_strip = uniform_float_run(g0_numbers, p.g0_key, g0_row + first, m);
            for (int vector = 0; vector < m; vector += 16) {
                rolled
                independent
                for (int j = vector; j < vector + 16; ++j) {
                    const float g0 = g0_strip[j];
                    z0_strip[j] = g0;
                }
            }
            if (z0_strip == z0_copy) for (int j = 0; j < m; ++j) z0_row[first + j] = z0_copy[j];
        }
    }
}
