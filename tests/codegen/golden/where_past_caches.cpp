// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int32 = int;
using uint32 = unsigned int;

//// stream, independent

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float s0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const float* const x0_row = p.x0 + i0;
        const float* const x1_row = p.x1 + i0;
        float* const z0_row = p.z0 + i0;
        const bool streaming = starts_line(z0_row);
        alignas(64) float z0_copy[256];
        const int32 step = streaming ? 256 : n;
        for (int32 first = 0; first < n; first += step) {
            const int32 m = n - first < step ? n - first : step;
            float* const z0_strip = streaming ? z0_copy : z0_row + first;
            independent
            for (int32 j = 0; j < m; ++j) {
                const float x0 = x0_row[first + j];
                const float x1 = x1_row[first + j];
                const float t0 = x0 - s0;
                const bool t1 = t0 > x1;
                const float t2 = x0 * x1;
                const float t3 = x0 + x1;
                z0_strip[j] = t1 ? t2 : t3;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 4ul);
        }
    }
    settle();
}
