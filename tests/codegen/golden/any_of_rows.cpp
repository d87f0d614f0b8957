// any(x0)
using int32 = int;
using uint32 = unsigned int;

struct any_bool {
    static bool join(bool a, bool b) { return a | b; }
};

struct arguments {
    const double* x0;
    bool* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        bool any0 = false;
        for (uint32 k = 0; k < p.folded; ++k) {
            const int32 i1 = int32(k);
            const double x0 = *(p.x0 + i0 * p.x0_stride0 + i1 + 0);
            any0 = any_bool::join(any0, (x0) != 0);
        }
        *(p.z0 + i0) = any0;
    }
}
