// take(x0, x1)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Stores that go past the caches, in parts so wide that a line's follow each other at once.
#if defined(__AVX512F__)
typedef long long part __attribute__((vector_size(64), may_alias));
#else
typedef long long part __attribute__((vector_size(32), may_alias));
#endif
static inline void stream(void* to, const void* from, unsigned long bytes) {
    const unsigned long parts = bytes / sizeof(part), done = parts * sizeof(part);
    for (unsigned long i = 0; i < parts; ++i) {
        part* const at = (part*)to + i;
        const part value = ((const part*)from)[i];
#if defined(__clang__)
        __builtin_nontemporal_store(value, at);
#elif defined(__AVX512F__)
        __builtin_ia32_movntdq512(at, value);
#elif defined(__AVX__)
        __builtin_ia32_movntdq256(at, value);
#else
        *at = value;
#endif
    }
    __builtin_memcpy((char*)to + done, (const char*)from + done, bytes - done);
}
static inline bool starts_line(const void* row) { return (unsigned long)row % 64 == 0; }
/// Others see what was streamed before what this thread writes from here on.
static inline void settle() {
#if defined(__SSE__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

/// The first error of a stream's work that was not thrown yet.
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

/// Where an index is on an axis of n. What is outside reads element 0, and is reported.
static inline int32 checked_index(int32 at, int32 n, error_record* errors, unsigned long long statement, bool& outside) {
    const int32 place = at < 0 ? at + n : at;
    if (place >= 0 && place < n) return int32(place);
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
    const bool large = p.n0 >= 16777216;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const int32* const x1_row = p.x1 + i0;
        float* const z0_row = p.z0 + i0;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) float z0_copy[256];
        const int32 step = streaming ? 256 : n;
        for (int32 first = 0; first < n; first += step) {
            const int32 m = n - first < step ? n - first : step;
            float* const z0_strip = streaming ? z0_copy : z0_row + first;
            independent
            for (int32 j = 0; j < m; ++j) {
                const int32 x1 = x1_row[first + j];
                bool outside1 = false;
                const int32 i1 = checked_index(int32(x1), int32(p.n1), p.errors, p.statement, outside1);
                const float x0 = *(p.x0 + i1);
                z0_strip[j] = x0;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 4ul);
        }
    }
    if (large) settle();
}
