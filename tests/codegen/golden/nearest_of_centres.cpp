namespace step1 {
// sum(square(x0 - x1))
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_float, sum_double

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 n1;
    uint32 tiles;
    uint32 folded;
    int32 x0_stride0;
    int32 x1_stride1;
    int32 z0_stride0;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i1 = int32(block % p.tiles * 256);
        const int m = p.n1 - i1 < 256 ? int(p.n1 - i1) : 256;
        const uint32 row = block / p.tiles;
        const int32 i0 = int32(row);
        alignas(64) double sum0[256];
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i2 = int32(k);
                const float x0 = *(p.x0 + i0 * p.x0_stride0 + i2);
                const float* const x1_strip = p.x1 + i1 * p.x1_stride1 + i2;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0 - x1_strip[j * p.x1_stride1];
                    lanes0[j] = sum_float::join(lanes0[j], t0 * t0);
                }
            }
            for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
        }
        float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = float(sum0[j]);
        }
    }
}
}  // namespace step1

namespace step2 {
// argmin(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// min_float, keep_min_float, indexed_float, independent, join_lanes, earlier, first_of_lanes, argmin_float,
//// first_argmin_float

struct arguments {
    const float* x0;
    int64* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void step2_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        indexed_float argmin0;
        {
            alignas(64) float lanes0[64];
            alignas(64) int32 strips0[64];
            for (int j = 0; j < 64; ++j) lanes0[j] = __builtin_inff(), strips0[j] = 0;
            for (uint32 first = 0; first < p.folded; first += 64) {
                const int m = p.folded - first < 64 ? int(p.folded - first) : 64;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    keep_min_float(x0_strip[j], int32(first / 64), lanes0[j], strips0[j]);
                }
            }
            argmin0 = first_argmin_float<64>(lanes0, strips0, 0);
        }
        *(p.z0 + i0) = argmin0.at;
    }
}
}  // namespace step2
