// take(x0, x1)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// independent, error_record, checked_index

struct arguments {
    const float* x0;
    const int32* x1;
    float* z0;
    error_record* errors;
    uint64 statement;
    uint32 n0;
    uint32 n1;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const int32* const x1_row = p.x1 + i0;
        float* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const int32 x1 = x1_row[j];
            bool outside1 = false;
            const int32 i1 = checked_index(int32(x1), int32(p.n1), p.errors, p.statement, outside1);
            const float x0 = *(p.x0 + i1);
            z0_row[j] = x0;
        }
    }
}
