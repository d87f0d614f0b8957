// x0 + s0; sum(x1 * x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// independent, sum_float, join_lanes, put, take, sum_double

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float* z1;
    uint64* scratch;
    float s0;
    uint32 row_pieces;
    uint32 folded;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        const float x0 = *(p.x0 + i0);
        float sum0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i1 = int32(first);
                const float* const x1_strip = p.x1 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x1_strip[j] * x0);
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 1;
        put(slots + piece * stride, sum0);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        double whole0 = 0.0;
        for (uint32 s = 0; s < pieces; ++s) whole0 = sum_double::join(whole0, take<float>(slots + s * stride));
        sum0 = float(whole0);
        *(p.z0 + i0) = x0 + s0;
        *(p.z1) = sum0;
    }
}
