// max(x0 * astype<float64>(x1) + astype<float64>(x2)); argmin(x3)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// min_int16, keep_min_int16, indexed_int16, independent, max_double, join_lanes, earlier, first_of_lanes,
//// argmin_int16, first_argmin_int16

struct arguments {
    const double* x0;
    const float* x1;
    const float* x2;
    const int16* x3;
    double* z0;
    int64* z1;
    uint32 n1;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride1;
    int32 x3_stride0;
    int32 x3_stride1;
    int32 z0_stride0;
    int32 z1_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 row = block;
        const int32 i1 = int32(row % p.n1);
        row /= p.n1;
        const int32 i0 = int32(row);
        const float x2 = *(p.x2 + i0);
        const double t0 = double(x2);
        double max0;
        indexed_int16 argmin1;
        {
            alignas(64) double lanes0[128];
            for (int j = 0; j < 128; ++j) lanes0[j] = -__builtin_inf();
            alignas(64) int16 lanes1[128];
            alignas(64) int16 strips1[128];
            for (int j = 0; j < 128; ++j) lanes1[j] = int16(~(1ull << 15)), strips1[j] = 0;
            for (uint32 first = 0; first < p.folded; first += 128) {
                const int m = p.folded - first < 128 ? int(p.folded - first) : 128;
                const int32 i2 = int32(first);
                const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2;
                const float* const x1_strip = p.x1 + i2;
                const int16* const x3_strip = p.x3 + i0 * p.x3_stride0 + i1 * p.x3_stride1 + i2;
                independent
                for (int j = 0; j < m; ++j) {
                    const double t1 = double(x1_strip[j]);
                    const double t2 = x0_strip[j] * t1;
                    lanes0[j] = max_double::join(lanes0[j], t2 + t0);
                    keep_min_int16(x3_strip[j], int16(first / 128), lanes1[j], strips1[j]);
                }
            }
            max0 = join_lanes<max_double, 128>(lanes0);
            argmin1 = first_argmin_int16<128>(lanes1, strips1, 0);
        }
        *(p.z0 + i0 * p.z0_stride0 + i1) = max0;
        *(p.z1 + i0 * p.z1_stride0 + i1) = argmin1.at;
    }
}
