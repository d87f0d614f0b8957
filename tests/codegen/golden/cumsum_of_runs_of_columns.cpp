// cumsum(x0)
using int32 = int;
using uint32 = unsigned int;

//// sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint32 n2;
    uint32 scanned;
    int32 x0_stride0;
    int32 x0_stride3;
    int32 z0_stride0;
};

extern "C" void scan(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 row = block;
        const int32 i2 = int32(row % p.n2);
        row /= p.n2;
        const int32 i0 = int32(row);
        double sum0 = -0.0;
        for (int32 i1 = int32(0); i1 < int32(p.scanned); ++i1) {
            const float x0 = *(p.x0 + i0 * p.x0_stride0 + i2 + i1 * p.x0_stride3);
            sum0 = sum_double::join(sum0, x0);
            *(p.z0 + i0 * p.z0_stride0 + i1 * 3 + i2) = float(sum0);
        }
    }
}
