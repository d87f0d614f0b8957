// Stores past the caches, as text of a prelude: lines of large results need not be read before they are written.
#pragma once

namespace ingot::codegen {

inline constexpr char stream_text[] =
    R"(/// Stores that go past the caches, in parts so wide that a line's follow each other at once.
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
)";

}  // namespace ingot::codegen
