// min(x0); count_nonzero(x0)
using uint16 = unsigned short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// independent, min_uint16, count_nonzero_int64, join_lanes, put, take

struct arguments {
    const uint16* x0;
    uint16* z0;
    int64* z1;
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
        uint16 min0;
        int64 count_nonzero1;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) uint16 lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = uint16(~0ull);
            alignas(64) int64 lanes1[256];
            for (int j = 0; j < 256; ++j) lanes1[j] = int64(0);
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i0 = int32(first);
                const uint16* const x0_strip = p.x0 + i0;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = min_uint16::join(lanes0[j], x0_strip[j]);
                    lanes1[j] = count_nonzero_int64::join(lanes1[j], int64((x0_strip[j]) != 0));
                }
            }
            min0 = join_lanes<min_uint16, 256>(lanes0);
            count_nonzero1 = join_lanes<count_nonzero_int64, 256>(lanes1);
        }
        uint64* const slots = p.scratch + p.rows + 0;
        const uint64 stride = uint64(p.rows) * 2;
        put(slots + piece * stride, min0);
        put(slots + piece * stride + 1 * p.rows, count_nonzero1);
        if (__atomic_add_fetch(p.scratch + 0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[0] = 0;
        uint16 whole0 = uint16(~0ull);
        for (uint32 s = 0; s < pieces; ++s) whole0 = min_uint16::join(whole0, take<uint16>(slots + s * stride));
        min0 = whole0;
        int64 whole1 = int64(0);
        for (uint32 s = 0; s < pieces; ++s) whole1 = count_nonzero_int64::join(whole1, take<int64>(slots + s * stride + 1 * p.rows));
        count_nonzero1 = whole1;
        *(p.z0) = min0;
        *(p.z1) = count_nonzero1;
    }
}
