// argmin(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// min_int32, keep_min_int32, indexed_int32, independent, argmin_int32, put, take

struct arguments {
    const int32* x0;
    int64* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const int32 i0 = int32(block / pieces * 2048);
        const int m = p.n0 - i0 < 2048 ? int(p.n0 - i0) : 2048;
        alignas(64) indexed_int32 argmin0[2048];
        for (int j = 0; j < m; ++j) argmin0[j] = indexed_int32{int32(~(1ull << 31)), int64(~0ull >> 1)};
        {
            const uint32 from = piece * 512;
            const uint32 to = p.folded - from < 512 ? p.folded : from + 512;
            for (uint32 group = from; group < to; group += 64) {
                const uint32 end_of_group = to - group < 64 ? to : group + 64;
                alignas(64) int32 lanes0[2048];
                alignas(64) int32 strips0[2048];
                for (int j = 0; j < m; ++j) lanes0[j] = int32(~(1ull << 31)), strips0[j] = 0;
                uint32 k = group;
                for (; k + 3 < end_of_group; k += 4) {
                    const int32 i1 = int32(k);
                    const int32* const x0_strip = p.x0 + i0 + i1 * p.x0_stride1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        keep_min_int32(x0_strip[j], int32(k - group), lanes0[j], strips0[j]);
                        keep_min_int32(x0_strip[j + 1 * p.x0_stride1], int32(k + 1 - group), lanes0[j], strips0[j]);
                        keep_min_int32(x0_strip[j + 2 * p.x0_stride1], int32(k + 2 - group), lanes0[j], strips0[j]);
                        keep_min_int32(x0_strip[j + 3 * p.x0_stride1], int32(k + 3 - group), lanes0[j], strips0[j]);
                    }
                }
                for (; k < end_of_group; ++k) {
                    const int32 i1 = int32(k);
                    const int32* const x0_strip = p.x0 + i0 + i1 * p.x0_stride1;
                    independent
                    for (int j = 0; j < m; ++j) {
                        keep_min_int32(x0_strip[j], int32(k - group), lanes0[j], strips0[j]);
                    }
                }
                for (int j = 0; j < m; ++j) argmin0[j] = argmin_int32::join(argmin0[j], indexed_int32{lanes0[j], int64(group) + strips0[j]});
            }
        }
        uint64* const slots = p.scratch + p.rows + i0;
        const uint64 stride = uint64(p.rows) * 2;
        for (int j = 0; j < m; ++j) put(slots + piece * stride + j, argmin0[j].value);
        for (int j = 0; j < m; ++j) put(slots + piece * stride + 1 * p.rows + j, argmin0[j].at);
        if (__atomic_add_fetch(p.scratch + i0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[i0] = 0;
        for (int j = 0; j < m; ++j) argmin0[j] = indexed_int32{int32(~(1ull << 31)), int64(~0ull >> 1)};
        for (uint32 s = 0; s < pieces; ++s)
            for (int j = 0; j < m; ++j) argmin0[j] = argmin_int32::join(argmin0[j], indexed_int32{take<int32>(slots + s * stride + j), take<int64>(slots + s * stride + 1 * p.rows + j)});
        int64* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = argmin0[j].at;
        }
    }
}
