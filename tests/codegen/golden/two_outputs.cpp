// astype<float64>(x0) * astype<float64>(x1); astype<int16>(x0)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;

//// independent, to_int16

struct arguments {
    const float* x0;
    const int32* x1;
    double* z0;
    int16* z1;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const float* const x0_row = p.x0 + i0;
        const int32* const x1_row = p.x1 + i0;
        double* const z0_row = p.z0 + i0;
        int16* const z1_row = p.z1 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const int32 x1 = x1_row[j];
            const double t0 = double(x0);
            const double t1 = double(x1);
            const double r0 = t0 * t1;
            const int16 r1 = to_int16(x0);
            z0_row[j] = r0;
            z1_row[j] = r1;
        }
    }
}
