// scatter(x0, x1)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// scatter_add_float32

struct arguments {
    const float* x0;
    const int64* x1;
    float* z0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const float* const x0_row = p.x0 + i0;
        const int64* const x1_row = p.x1 + i0;
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const int64 x1 = x1_row[j];
            const float r0 = x0;
            const int64 at0 = x1;
            if (at0 >= 0) scatter_add_float32(&p.z0[at0], r0);
        }
    }
}
