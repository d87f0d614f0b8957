// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// moments, squares, independent, put, take

struct arguments {
    const double* x0;
    double* z0;
    double s0;
    double s1;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const double s0 = given->s0;
    const double s1 = given->s1;
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        moments squares0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            double lanes0_near;
            alignas(64) double lanes0_sum[256], lanes0_squares[256];
            lanes0_near = 0;
            for (int j = 0; j < 256; ++j) lanes0_sum[j] = 0, lanes0_squares[j] = 0;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i1 = int32(first);
                const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    squares::keep(x0_strip[j], lanes0_near, lanes0_sum[j], lanes0_squares[j]);
                }
                if ((first - from) / 256 == 0) squares::begin(m, lanes0_near, lanes0_sum, lanes0_squares);
            }
            squares0 = squares::of_lanes<256>(lanes0_near, lanes0_sum, lanes0_squares, to - from);
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 4;
        put(slots + piece * stride, squares0.count);
        put(slots + piece * stride + 1 * p.rows, squares0.near);
        put(slots + piece * stride + 2 * p.rows, squares0.mean);
        put(slots + piece * stride + 3 * p.rows, squares0.squares);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        moments whole0 = moments{0, 0, 0, 0};
        for (uint32 s = 0; s < pieces; ++s) whole0 = squares::join(whole0, moments{take<double>(slots + s * stride), take<double>(slots + s * stride + 1 * p.rows), take<double>(slots + s * stride + 2 * p.rows), take<double>(slots + s * stride + 3 * p.rows)});
        squares0 = whole0;
        const double t0 = squares::about_share(squares0, s0);
        *(p.z0 + i0) = t0 / s1;
    }
}
