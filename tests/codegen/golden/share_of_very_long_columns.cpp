namespace step1 {
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
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
    uint32 rows;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
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
                uint32 k = group;
                for (; k + 3 < end_of_group; k += 4) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 + i1 * p.x0_stride1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 1 * p.x0_stride1]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 2 * p.x0_stride1]);
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j + 3 * p.x0_stride1]);
                    }
                }
                for (; k < end_of_group; ++k) {
                    const int32 i1 = int32(k);
                    const float* const x0_strip = p.x0 + i0 + i1 * p.x0_stride1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        lanes0[j] = sum_float::join(lanes0[j], x0_strip[j]);
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
        const float* const x1_row = p.x1 + i1;
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const float x1 = x1_row[j];
            z0_row[j] = x0 / x1;
        }
    }
}
}  // namespace step2
