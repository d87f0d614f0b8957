// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// moments, squares, independent, put, take

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    float s0;
    float s1;
    uint32 row_pieces;
    uint32 n0;
    uint32 folded;
    int32 x0_stride2;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const float s1 = given->s1;
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const int32 i0 = int32(block / pieces * 2048);
        const int m = p.n0 - i0 < 2048 ? int(p.n0 - i0) : 2048;
        alignas(64) moments squares0[2048];
        for (int j = 0; j < m; ++j) squares0[j] = moments{0, 0, 0, 0};
        {
            const uint32 from = piece * 512;
            const uint32 to = p.folded - from < 512 ? p.folded : from + 512;
            for (uint32 group = from; group < to; group += 64) {
                const uint32 end_of_group = to - group < 64 ? to : group + 64;
                alignas(64) float lanes0_near[2048], lanes0_sum[2048], lanes0_squares[2048];
                for (int j = 0; j < m; ++j) lanes0_near[j] = 0, lanes0_sum[j] = 0, lanes0_squares[j] = 0;
                uint32 k = group;
                for (; k + 3 < end_of_group; k += 4) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 + i1 * p.x0_stride2;
                    independent
                    for (int j = 0; j < m; ++j) {
                        squares::keep_first(x0_strip[j], k - group == 0, lanes0_near[j], lanes0_sum[j], lanes0_squares[j]);
                        squares::keep_first(x0_strip[j + 1 * p.x0_stride2], false, lanes0_near[j], lanes0_sum[j], lanes0_squares[j]);
                        squares::keep_first(x0_strip[j + 2 * p.x0_stride2], false, lanes0_near[j], lanes0_sum[j], lanes0_squares[j]);
                        squares::keep_first(x0_strip[j + 3 * p.x0_stride2], false, lanes0_near[j], lanes0_sum[j], lanes0_squares[j]);
                    }
                    if (k - group == 0) squares::begin_lanes<4>(m, lanes0_near, lanes0_sum, lanes0_squares);
                }
                for (; k < end_of_group; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 + i1 * p.x0_stride2;
                    independent
                    for (int j = 0; j < m; ++j) {
                        squares::keep_first(x0_strip[j], k - group == 0, lanes0_near[j], lanes0_sum[j], lanes0_squares[j]);
                    }
                }
                for (int j = 0; j < m; ++j) squares0[j] = squares::join(squares0[j], squares::of_lane(lanes0_near[j], lanes0_sum[j], lanes0_squares[j], end_of_group - group));
            }
        }
        uint64* const slots = p.scratch + p.rows + i0;
        const uint64 stride = uint64(p.rows) * 4;
        for (int j = 0; j < m; ++j) put(slots + piece * stride + j, squares0[j].count);
        for (int j = 0; j < m; ++j) put(slots + piece * stride + 1 * p.rows + j, squares0[j].near);
        for (int j = 0; j < m; ++j) put(slots + piece * stride + 2 * p.rows + j, squares0[j].mean);
        for (int j = 0; j < m; ++j) put(slots + piece * stride + 3 * p.rows + j, squares0[j].squares);
        if (__atomic_add_fetch(p.scratch + i0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[i0] = 0;
        for (int j = 0; j < m; ++j) squares0[j] = moments{0, 0, 0, 0};
        for (uint32 s = 0; s < pieces; ++s)
            for (int j = 0; j < m; ++j) squares0[j] = squares::join(squares0[j], moments{take<double>(slots + s * stride + j), take<double>(slots + s * stride + 1 * p.rows + j), take<double>(slots + s * stride + 2 * p.rows + j), take<double>(slots + s * stride + 3 * p.rows + j)});
        float* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            const float t0 = squares::about_share(squares0[j], s0);
            z0_strip[j] = t0 / s1;
        }
    }
}
