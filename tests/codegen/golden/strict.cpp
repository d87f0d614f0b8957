// x0 * x1 + x2
using int32 = int;
using uint32 = unsigned int;

//// independent

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    float* z0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const float* const x0_row = p.x0 + i0;
        const float* const x1_row = p.x1 + i0;
        const float* const x2_row = p.x2 + i0;
        float* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const float x1 = x1_row[j];
            const float x2 = x2_row[j];
            const float t0 = x0 * x1;
            z0_row[j] = t0 + x2;
        }
    }
}
