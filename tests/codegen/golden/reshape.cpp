// reshape(sqrt(x0)) + x1
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
static inline float sqrt(float a) { return __builtin_sqrtf(a); }

//// independent

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    int64 p0_first;
    uint32 n0;
    uint32 n2;
    int32 x0_stride1;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const float* const x1_row = p.x1 + i0;
        float* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            uint32 p0 = uint32(p.p0_first + i0 + j);
            const int32 i2 = int32(p0 % p.n2);
            p0 /= p.n2;
            const int32 i1 = int32(p0);
            const float x0 = *(p.x0 + i1 * p.x0_stride1 + i2);
            const float x1 = x1_row[j];
            const float t0 = sqrt(x0);
            z0_row[j] = t0 + x1;
        }
    }
}
