// cumsum(x0 * x0) + x1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

extern "C" int sched_yield(void) noexcept;
/// Waits until the flag is set; the thread that sets it is already running.
static inline void wait_for(const uint64* flag) {
    for (int turns = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0; ++turns)
        if (turns % 1024 == 0) sched_yield();
}

//// sum_double

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 scanned;
    uint32 blocks;
};

extern "C" void scan(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 ticket = uint32(__atomic_fetch_add(p.scratch, 1, __ATOMIC_RELAXED));
        const uint32 piece = ticket % pieces;
        const uint32 from = piece * 32768, to = p.scanned - from < 32768 ? p.scanned : from + 32768;
        uint64* const left = p.scratch + 2 + uint64(ticket) * 2;
        double sum0 = -0.0;
        for (int32 i0 = int32(from); i0 < int32(to); ++i0) {
            const float x0 = *(p.x0 + i0);
            sum0 = sum_double::join(sum0, x0 * x0);
        }
        double whole0 = sum0;
        sum0 = -0.0;
        if (piece != 0) {
            wait_for(left - 2);
            __builtin_memcpy(&sum0, left - 1, sizeof sum0);
            whole0 = sum_double::join(sum0, whole0);
        }
        __builtin_memcpy(left + 1, &whole0, sizeof whole0);
        __atomic_store_n(left, 1, __ATOMIC_RELEASE);
        for (int32 i0 = int32(from); i0 < int32(to); ++i0) {
            const float x0 = *(p.x0 + i0);
            const float x1 = *(p.x1 + i0);
            sum0 = sum_double::join(sum0, x0 * x0);
            *(p.z0 + i0) = float(sum0) + x1;
        }
        if (__atomic_add_fetch(p.scratch + 1, 1, __ATOMIC_ACQ_REL) != p.blocks) continue;
        __builtin_memset(p.scratch, 0, uint64(p.blocks) * 16 + 16);
    }
}
