// take(x0, x1)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

/// The first error on a stream that has not been thrown yet.
struct error_record {
    unsigned long long statement;
    unsigned int kind;
    int axis;
    long long index, extent;
};
static void report_error(error_record* record, unsigned long long statement, unsigned int kind, int axis,
                  long long index, long long extent) {
    unsigned long long none = 0;
    if (!__atomic_compare_exchange_n(&record->statement, &none, statement, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    record->axis = axis;
    record->index = index;
    record->extent = extent;
    __atomic_store_n(&record->kind, kind, __ATOMIC_RELEASE);
}

/// Converts an index, which may be negative, for an axis of n. One out of range gives 0 and is reported.
static inline int32 checked_index(int32 at, int32 n, error_record* errors, unsigned long long statement, bool& outside) {
    const int32 index = at < 0 ? at + n : at;
    if (index >= 0 && index < n) return int32(index);
    report_error(errors, statement, 1, -1, at, n);
    outside = true;
    return 0;
}

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
