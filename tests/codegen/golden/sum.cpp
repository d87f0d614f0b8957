// sqrt(sum(x0 * x1))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;
static inline float sqrt(float a) { return __builtin_sqrtf(a); }

//// independent, sum_float, join_lanes, put, take, sum_double

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        float sum0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i0 = int32(first);
                const float* const x0_strip = p.x0 + i0;
                const float* const x1_strip = p.x1 + i0;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x0_strip[j] * x1_strip[j]);
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
        }
        uint64* const slots = p.scratch + p.rows + 0;
        const uint64 stride = uint64(p.rows) * 1;
        put(slots + piece * stride, sum0);
        if (__atomic_add_fetch(p.scratch + 0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[0] = 0;
        double whole0 = 0.0;
        for (uint32 s = 0; s < pieces; ++s) whole0 = sum_double::join(whole0, take<float>(slots + s * stride));
        sum0 = float(whole0);
        *(p.z0) = sqrt(sum0);
    }
}
