// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int32 = int;
using uint32 = unsigned int;

//// independent

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float s0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int n = 1;
        const float x0 = *(p.x0);
        const float x1 = *(p.x1);
        float* const z0_row = p.z0;
        const float t0 = x0 - s0;
        const bool t1 = t0 > x1;
        const float t2 = x0 * x1;
        const float t3 = x0 + x1;
        const float t4 = t1 ? t2 : t3;
        independent
        for (int j = 0; j < n; ++j) {
            z0_row[j] = t4;
        }
    }
}
