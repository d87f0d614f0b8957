// Linked to every kernel: the functions that the compiler's sanitizers call, for each memory access and for misaligned
// addresses; they pass the access on to the emulator.
#include <cstddef>
#include <cstdint>

#include "machine.hpp"

extern "C" {
extern emulator::machine* emulated_machine;
}

namespace {

/// Less than a thread's stack: an address nearer than this is the thread's own.
constexpr std::uintptr_t near = std::uintptr_t{64} << 10;

inline void touch(const void* at, std::size_t bytes, bool writes, const void* code) {
    const char* const p = static_cast<const char*>(at);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)),
               there = reinterpret_cast<std::uintptr_t>(p);
    if (there - here + near > 2 * near) emulated_machine->touch(p, bytes, writes, code);
}

}  // namespace

// The names and parameters are the sanitizer's.
#define EMULATOR_ACCESS_HOOKS(bytes)                                                                            \
    void __tsan_read##bytes(const void* at) { touch(at, bytes, false, __builtin_return_address(0)); }           \
    void __tsan_write##bytes(void* at) { touch(at, bytes, true, __builtin_return_address(0)); }                 \
    void __tsan_unaligned_read##bytes(const void* at) { touch(at, bytes, false, __builtin_return_address(0)); } \
    void __tsan_unaligned_write##bytes(void* at) { touch(at, bytes, true, __builtin_return_address(0)); }       \
    void __tsan_volatile_read##bytes(const void* at) { touch(at, bytes, false, __builtin_return_address(0)); }  \
    void __tsan_volatile_write##bytes(void* at) { touch(at, bytes, true, __builtin_return_address(0)); }

extern "C" {
EMULATOR_ACCESS_HOOKS(1)
EMULATOR_ACCESS_HOOKS(2)
EMULATOR_ACCESS_HOOKS(4)
EMULATOR_ACCESS_HOOKS(8)
EMULATOR_ACCESS_HOOKS(16)
void __tsan_read_range(const void* at, std::size_t bytes) { touch(at, bytes, false, __builtin_return_address(0)); }
void __tsan_write_range(void* at, std::size_t bytes) { touch(at, bytes, true, __builtin_return_address(0)); }
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __ubsan_handle_type_mismatch_v1(void*, std::uintptr_t) { emulated_machine->fault(emulator::not_aligned); }
}
