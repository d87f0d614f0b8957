namespace step1 {
// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// independent, sum_float, join_lanes, put, take, sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        float sum0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
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
        *(p.z0 + i0) = sum0;
    }
}
}  // namespace step1

namespace step2 {
// x0 / x1
using int32 = int;
using uint32 = unsigned int;

//// independent

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 n1;
    uint32 row_pieces;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void step2_map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const float x1 = *(p.x1 + i0);
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            z0_row[j] = x0 / x1;
        }
    }
}
}  // namespace step2
