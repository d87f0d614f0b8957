// argmax(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// max_float, keep_max_float, indexed_float, independent, join_lanes, earlier, first_of_lanes, argmax_float,
//// first_argmax_float, put, take

struct arguments {
    const float* x0;
    int64* z0;
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
        indexed_float argmax0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            alignas(64) int32 strips0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = -__builtin_inff(), strips0[j] = 0;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i0 = int32(first);
                const float* const x0_strip = p.x0 + i0;
                independent
                for (int j = 0; j < m; ++j) {
                    keep_max_float(x0_strip[j], int32((first - from) / 256), lanes0[j], strips0[j]);
                }
            }
            argmax0 = first_argmax_float<256>(lanes0, strips0, from);
        }
        uint64* const slots = p.scratch + p.rows + 0;
        const uint64 stride = uint64(p.rows) * 2;
        put(slots + piece * stride, argmax0.value);
        put(slots + piece * stride + 1 * p.rows, argmax0.at);
        if (__atomic_add_fetch(p.scratch + 0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[0] = 0;
        indexed_float whole0 = indexed_float{-__builtin_inff(), int64(~0ull >> 1)};
        for (uint32 s = 0; s < pieces; ++s) whole0 = argmax_float::join(whole0, indexed_float{take<float>(slots + s * stride), take<int64>(slots + s * stride + 1 * p.rows)});
        argmax0 = whole0;
        *(p.z0) = argmax0.at;
    }
}
