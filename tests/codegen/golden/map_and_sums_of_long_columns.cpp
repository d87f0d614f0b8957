// sum(x0); x0 + s0
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// independent, sum_float, sum_double, put, take

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    uint64* scratch;
    float s0;
    uint32 row_pieces;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
    int32 z1_stride1;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const int32 i0 = int32(block / pieces * 2048);
        const int m = p.n0 - i0 < 2048 ? int(p.n0 - i0) : 2048;
        alignas(64) double sum0[2048];
        for (int j = 0; j < m; ++j) sum0[j] = 0.0;
        {
            const uint32 from = piece * 512;
            const uint32 to = p.folded - from < 512 ? p.folded : from + 512;
            for (uint32 group = from; group < to; group += 64) {
                const uint32 end_of_group = to - group < 64 ? to : group + 64;
                alignas(64) float lanes0[2048];
                for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
                for (uint32 k = group; k < end_of_group; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 + i1 * p.x0_stride1;
                    float* const z1_strip = p.z1 + i0 + i1 * p.z1_stride1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                        z1_strip[j] = x0_strip[j] + s0;
                    }
                }
                for (int j = 0; j < m; ++j) sum0[j] = sum_double::join(sum0[j], lanes0[j]);
            }
        }
        uint64* const slots = p.scratch + p.rows + i0;
        const uint64 stride = uint64(p.rows) * 1;
        for (int j = 0; j < m; ++j) put(slots + piece * stride + j, sum0[j]);
        if (__atomic_add_fetch(p.scratch + i0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[i0] = 0;
        for (int j = 0; j < m; ++j) sum0[j] = 0.0;
        for (uint32 s = 0; s < pieces; ++s)
            for (int j = 0; j < m; ++j) sum0[j] = sum_double::join(sum0[j], take<double>(slots + s * stride + j));
        float* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = float(sum0[j]);
        }
    }
}
