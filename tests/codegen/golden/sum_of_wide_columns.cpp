// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// independent, sum_float, sum_double, put, take

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 n1;
    uint32 tiles;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride2;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const int32 i1 = int32((block / pieces) % p.tiles * 2048);
        const int m = p.n1 - i1 < 2048 ? int(p.n1 - i1) : 2048;
        const uint32 row = (block / pieces) / p.tiles;
        const uint32 first_row = row * p.n1 + i1;
        const int32 i0 = int32(row);
        alignas(64) double sum0[2048];
        for (int j = 0; j < m; ++j) sum0[j] = 0.0;
        {
            const uint32 from = piece * 512;
            const uint32 to = p.folded - from < 512 ? p.folded : from + 512;
            for (uint32 group = from; group < to; group += 64) {
                const uint32 end_of_group = to - group < 64 ? to : group + 64;
                alignas(64) float lanes0[2048];
                for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
                uint32 k = group;
                for (; k + 3 < end_of_group; k += 4) {
                    const int32 i2 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 1 * p.x0_stride2]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 2 * p.x0_stride2]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 3 * p.x0_stride2]);
                    }
                }
                for (; k < end_of_group; ++k) {
                    const int32 i2 = int32(k);
                    const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                    }
                }
                for (int j = 0; j < m; ++j) sum0[j] = sum_double::join(sum0[j], lanes0[j]);
            }
        }
        uint64* const slots = p.scratch + p.rows + first_row;
        const uint64 stride = uint64(p.rows) * 1;
        for (int j = 0; j < m; ++j) put(slots + piece * stride + j, sum0[j]);
        if (__atomic_add_fetch(p.scratch + first_row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[first_row] = 0;
        for (int j = 0; j < m; ++j) sum0[j] = 0.0;
        for (uint32 s = 0; s < pieces; ++s)
            for (int j = 0; j < m; ++j) sum0[j] = sum_double::join(sum0[j], take<double>(slots + s * stride + j));
        float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = float(sum0[j]);
        }
    }
}
