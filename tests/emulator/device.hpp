// CUDA C++ as C++: the text of a kernel, translated by translate.cpp, is compiled behind this. A name that is missing
// here is a compile error; PTX is one function an instruction.
#pragma once

#include <math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "machine.hpp"

#define __CUDA_ARCH__ EMULATED_ARCHITECTURE
#define __global__
#define __device__
#define __host__
// A variable is not among the zeros, which are shared memory, and is found by its name.
#define __constant__ __attribute__((visibility("default"), section(".data.emulated")))
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static

// Marks a function whose memory accesses are not plain: they order others, or do not belong to the kernel.
#define EMULATED_ORDERING __attribute__((no_sanitize("thread")))

namespace emulator {

/// Set by the loader. Not among the zeros that blocks find in shared memory, which is all of .bss.
extern "C" {
__attribute__((visibility("default"))) machine* emulated_machine = reinterpret_cast<machine*>(1);
}

constexpr std::size_t most_dynamic = 227 * 1024;

template <class... P, std::size_t... i>
EMULATED_ORDERING void call(void (*kernel)(P...), void** arguments, std::index_sequence<i...>) {
    kernel(*static_cast<std::remove_cvref_t<P>*>(arguments[i])...);
}
template <class... P>
void call(void (*kernel)(P...), void** arguments) {
    call(kernel, arguments, std::index_sequence_for<P...>());
}

template <class... P>
const std::size_t* sizes(void (*)(P...)) {
    static constexpr std::size_t all[] = {sizeof...(P), sizeof(std::remove_cvref_t<P>)...};
    return all;
}

template <class T>
std::uint64_t word_of(T v) {
    static_assert(sizeof(T) <= 8);
    std::uint64_t word = 0;
    __builtin_memcpy(&word, &v, sizeof v);
    return word;
}
template <class T>
T value_of(std::uint64_t word) {
    T v;
    __builtin_memcpy(&v, &word, sizeof v);
    return v;
}

template <class T>
const std::uint64_t* exchange(unsigned int mask, const char* function, T mine) {
    return emulated_machine->exchange(mask, function, word_of(mine));
}
inline unsigned int lane() { return emulated_machine->now->lane; }

/// Folds the values that the lanes of a mask gave.
template <class T, class F>
T fold(unsigned int mask, const char* function, T mine, F&& join) {
    const std::uint64_t* const all = exchange(mask, function, mine);
    T value = mine;
    for (unsigned int l = 0; l < lanes_of_warp; ++l)
        if (mask >> l & 1u && l != lane()) value = join(value, value_of<T>(all[l]));
    return value;
}

}  // namespace emulator

#define threadIdx (emulator::emulated_machine->now->thread)
#define blockIdx (emulator::emulated_machine->now->block)
#define blockDim (emulator::emulated_machine->now->threads)
#define gridDim (emulator::emulated_machine->now->grid)

// ---- Types.

struct alignas(8) int2 {
    int x, y;
};
struct alignas(8) uint2 {
    unsigned int x, y;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

// ---- Memory.

namespace emulator {

template <class T>
T* aligned(T* at, std::size_t bytes = sizeof(T)) {
    if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) emulated_machine->fault(not_aligned);
    return at;
}
/// An address of shared memory.
inline unsigned int aligned(unsigned int at, std::size_t bytes) {
    aligned(emulated_machine->shared_memory(at), bytes);
    return at;
}

}  // namespace emulator

template <class T>
EMULATED_ORDERING T __ldg(const T* from) {
    emulator::emulated_machine->touch(emulator::aligned(from), sizeof(T), false, __builtin_return_address(0));
    return *from;
}
template <class T>
EMULATED_ORDERING T __ldcs(const T* from) {
    emulator::emulated_machine->touch(emulator::aligned(from), sizeof(T), false, __builtin_return_address(0));
    return *from;
}
template <class T, class V>
EMULATED_ORDERING void __stcs(T* to, const V& value) {
    emulator::emulated_machine->touch(emulator::aligned(to), sizeof(T), true, __builtin_return_address(0));
    *to = value;
}
inline void __threadfence() {}
inline void __threadfence_system() {}
inline std::size_t __cvta_generic_to_shared(const void* p) { return emulator::emulated_machine->shared_address(p); }

namespace emulator {

template <class T>
EMULATED_ORDERING T* ordering(T* at) {
    emulated_machine->let_others();
    emulated_machine->touch_ordering(aligned(at), sizeof(T));
    return at;
}

}  // namespace emulator

/// An atomic function whose new value is an expression in `old` and `value`.
#define EMULATED_ATOMIC(name, next)                                  \
    template <class T>                                               \
    EMULATED_ORDERING T name(T* at, std::type_identity_t<T> value) { \
        const T old = *emulator::ordering(at);                       \
        *at = next;                                                  \
        return old;                                                  \
    }
EMULATED_ATOMIC(atomicAdd, old + value)
EMULATED_ATOMIC(atomicSub, old - value)
EMULATED_ATOMIC(atomicMax, old < value ? value : old)
EMULATED_ATOMIC(atomicMin, value < old ? value : old)
EMULATED_ATOMIC(atomicAnd, old& value)
EMULATED_ATOMIC(atomicOr, old | value)
EMULATED_ATOMIC(atomicXor, old ^ value)
EMULATED_ATOMIC(atomicExch, value)
EMULATED_ORDERING inline unsigned int atomicInc(unsigned int* at, unsigned int most) {
    const unsigned int old = *emulator::ordering(at);
    *at = old >= most ? 0 : old + 1;
    return old;
}
template <class T>
EMULATED_ORDERING T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    const T old = *emulator::ordering(at);
    if (old == expected) *at = value;
    return old;
}

// ---- Threads together.

inline void __syncthreads() { emulator::emulated_machine->block_barrier(false); }
inline int __syncthreads_or(int mine) { return emulator::emulated_machine->block_barrier(mine != 0) ? 1 : 0; }
inline void __syncwarp(unsigned int mask = ~0u) { emulator::exchange(mask, "__syncwarp", 0); }

namespace emulator {

/// The value of lane `from`; the thread's own value where that lane is not `inside` its group.
template <class T>
T shuffle(unsigned int mask, const char* function, T mine, unsigned int from, bool inside) {
    const std::uint64_t* const all = exchange(mask, function, mine);
    return inside ? value_of<T>(all[from % lanes_of_warp]) : mine;
}

}  // namespace emulator

template <class T>
T __shfl_sync(unsigned int mask, T mine, int from, int width = 32) {
    const unsigned int group = emulator::lane() & ~unsigned(width - 1);
    return emulator::shuffle(mask, "__shfl_sync", mine, group + (unsigned(from) & unsigned(width - 1)), true);
}
template <class T>
T __shfl_xor_sync(unsigned int mask, T mine, int far, int width = 32) {
    const unsigned int from = emulator::lane() ^ unsigned(far), group = emulator::lane() & ~unsigned(width - 1);
    return emulator::shuffle(mask, "__shfl_xor_sync", mine, from, from < group + unsigned(width));
}
template <class T>
T __shfl_up_sync(unsigned int mask, T mine, unsigned int far, int width = 32) {
    const unsigned int group = emulator::lane() & ~unsigned(width - 1);
    return emulator::shuffle(mask, "__shfl_up_sync", mine, emulator::lane() - far, emulator::lane() >= group + far);
}
template <class T>
T __shfl_down_sync(unsigned int mask, T mine, unsigned int far, int width = 32) {
    const unsigned int end = (emulator::lane() & ~unsigned(width - 1)) + unsigned(width);
    return emulator::shuffle(mask, "__shfl_down_sync", mine, emulator::lane() + far, emulator::lane() + far < end);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int by) {
    return static_cast<unsigned int>((static_cast<unsigned long long>(high) << 32 | low) >> (by & 31u));
}
inline unsigned int __ballot_sync(unsigned int mask, int predicate) {
    const unsigned int mine = predicate != 0 ? 1u << emulator::lane() : 0;
    return emulator::fold(mask, "__ballot_sync", mine, [](unsigned int a, unsigned int b) { return a | b; });
}
inline int __any_sync(unsigned int mask, int predicate) {
    return emulator::fold(mask, "__any_sync", int(predicate != 0), [](int a, int b) { return int(a != 0 || b != 0); });
}
inline int __all_sync(unsigned int mask, int predicate) {
    return emulator::fold(mask, "__all_sync", int(predicate != 0), [](int a, int b) { return int(a != 0 && b != 0); });
}
template <class T>
T __reduce_min_sync(unsigned int mask, T mine) {
    return emulator::fold(mask, "__reduce_min_sync", mine, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
T __reduce_max_sync(unsigned int mask, T mine) {
    return emulator::fold(mask, "__reduce_max_sync", mine, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
T __reduce_add_sync(unsigned int mask, T mine) {
    return emulator::fold(mask, "__reduce_add_sync", mine, [](T a, T b) { return a + b; });
}

// ---- Integers and bits.

inline unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
    const std::uint64_t bytes = a | std::uint64_t{b} << 32;
    unsigned int result = 0;
    for (unsigned int i = 0; i < 4; ++i) result |= unsigned(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return result;
}
inline unsigned int __umulhi(unsigned int a, unsigned int b) { return unsigned((std::uint64_t{a} * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline int __clz(int v) { return std::countl_zero(unsigned(v)); }
inline int __clzll(long long v) { return std::countl_zero(static_cast<unsigned long long>(v)); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline int __popc(unsigned int v) { return std::popcount(v); }
inline int __popcll(unsigned long long v) { return std::popcount(v); }

inline float __int_as_float(int v) { return std::bit_cast<float>(v); }
inline float __uint_as_float(unsigned int v) { return std::bit_cast<float>(v); }
inline int __float_as_int(float v) { return std::bit_cast<int>(v); }
inline unsigned int __float_as_uint(float v) { return std::bit_cast<unsigned int>(v); }
inline double __longlong_as_double(long long v) { return std::bit_cast<double>(v); }
inline long long __double_as_longlong(double v) { return std::bit_cast<long long>(v); }
inline double __hiloint2double(int high, int low) {
    return std::bit_cast<double>(std::uint64_t{unsigned(high)} << 32 | unsigned(low));
}
inline int __double2loint(double v) { return int(unsigned(std::bit_cast<std::uint64_t>(v))); }
inline int __double2hiint(double v) { return int(unsigned(std::bit_cast<std::uint64_t>(v) >> 32)); }

namespace emulator {

/// A word's parts, each with that of another word.
template <class part, class F>
unsigned int part_by_part(unsigned int a, unsigned int b, F&& join) {
    unsigned int out = 0;
    constexpr unsigned int bits = 8 * sizeof(part);
    for (unsigned int at = 0; at < 32; at += bits)
        out |= unsigned(std::make_unsigned_t<part>(join(part(a >> at), part(b >> at)))) << at;
    return out;
}

}  // namespace emulator

#define EMULATED_PARTS(letters, part)                                                            \
    inline unsigned int __vmin##letters(unsigned int a, unsigned int b) {                        \
        return emulator::part_by_part<part>(a, b, [](part x, part y) { return y < x ? y : x; }); \
    }                                                                                            \
    inline unsigned int __vmax##letters(unsigned int a, unsigned int b) {                        \
        return emulator::part_by_part<part>(a, b, [](part x, part y) { return x < y ? y : x; }); \
    }
EMULATED_PARTS(s2, short)
EMULATED_PARTS(u2, unsigned short)
EMULATED_PARTS(s4, signed char)
EMULATED_PARTS(u4, unsigned char)
#undef EMULATED_PARTS

inline int __dp4a(int a, int b, int sum) {
    for (int at = 0; at < 32; at += 8) sum += int((signed char)(a >> at)) * int((signed char)(b >> at));
    return sum;
}
inline unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int sum) {
    for (int at = 0; at < 32; at += 8) sum += (a >> at & 255u) * (b >> at & 255u);
    return sum;
}

// ---- Numbers.

/// NVRTC has min and max of two integers of one size, or two floats; others are ambiguous to it.
template <class A, class B>
concept compared_by_cuda = (std::integral<A> && std::integral<B> && sizeof(A) == sizeof(B)) ||
                           (std::floating_point<A> && std::floating_point<B>);

template <class A, class B>
    requires compared_by_cuda<A, B>
auto min(A a, B b) {
    using common = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<common>)
        return common(fmin(common(a), common(b)));
    else
        return common(b) < common(a) ? common(b) : common(a);
}
template <class A, class B>
    requires compared_by_cuda<A, B>
auto max(A a, B b) {
    using common = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<common>)
        return common(fmax(common(a), common(b)));
    else
        return common(a) < common(b) ? common(b) : common(a);
}

inline float __fmul_rz(float a, float b) {
    const double exact = double(a) * b;
    const float near = float(exact);
    return std::fabs(double(near)) > std::fabs(exact) ? std::nextafter(near, 0.0f) : near;
}
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float a) { return std::exp(a); }
inline float __logf(float a) { return std::log(a); }
inline float rsqrtf(float a) { return float(1 / std::sqrt(double(a))); }
inline float rsqrt(float a) { return rsqrtf(a); }
inline double rsqrt(double a) { return 1 / std::sqrt(a); }
inline double erfcx(double a) { return a < 25 ? std::exp(a * a) * std::erfc(a) : 0.5641895835477563 / a; }
inline float erfcx(float a) { return float(erfcx(double(a))); }

/// The handle is where the driver looks.
extern "C" EMULATED_ORDERING inline void cudaGraphSetConditional(unsigned long long handle, unsigned int value) {
    *reinterpret_cast<unsigned int*>(handle) = value;
}

// ---- PTX. Operands in the order of their numbers, then literals.

inline void ptx_griddepcontrol_wait() {}
inline void ptx_griddepcontrol_launch_dependents() {}
/// Reads, so that an address outside every buffer is found.
template <class T>
void ptx_prefetch_global_L2(const T* at) {
    [[maybe_unused]] const volatile T there = *at;
}

template <class T>
EMULATED_ORDERING void ptx_ld_global_nc_L1__no_allocate_u32(T& to, const T* from) {
    to = __ldg(from);
}
EMULATED_ORDERING inline void ptx_ld_global_nc_L1__no_allocate_v2_u32(unsigned int& x, unsigned int& y,
                                                                      const uint2* from) {
    const uint2 all = __ldg(from);
    x = all.x, y = all.y;
}
EMULATED_ORDERING inline void ptx_ld_global_nc_L1__no_allocate_v4_u32(unsigned int& x, unsigned int& y, unsigned int& z,
                                                                      unsigned int& w, const uint4* from) {
    const uint4 all = __ldg(from);
    x = all.x, y = all.y, z = all.z, w = all.w;
}
EMULATED_ORDERING inline void ptx_ld_global_nc_L1__no_allocate_v2_f64(double& x, double& y, const double2* from) {
    const double2 all = __ldg(from);
    x = all.x, y = all.y;
}

#define EMULATED_REDUCTION(name, function, type)                                  \
    template <class T>                                                            \
    EMULATED_ORDERING void ptx_red_relaxed_gpu_global_##name(T* at, type value) { \
        static_assert(sizeof(T) == sizeof(type));                                 \
        function(reinterpret_cast<type*>(at), value);                             \
    }
EMULATED_REDUCTION(add_f32, atomicAdd, float)
EMULATED_REDUCTION(add_f64, atomicAdd, double)
EMULATED_REDUCTION(add_u32, atomicAdd, unsigned int)
EMULATED_REDUCTION(add_u64, atomicAdd, unsigned long long)
EMULATED_REDUCTION(max_s32, atomicMax, int)
EMULATED_REDUCTION(max_u32, atomicMax, unsigned int)
EMULATED_REDUCTION(max_s64, atomicMax, long long)
EMULATED_REDUCTION(max_u64, atomicMax, unsigned long long)
EMULATED_REDUCTION(min_s32, atomicMin, int)
EMULATED_REDUCTION(min_u32, atomicMin, unsigned int)
EMULATED_REDUCTION(min_s64, atomicMin, long long)
EMULATED_REDUCTION(min_u64, atomicMin, unsigned long long)
#undef EMULATED_REDUCTION

template <class T>
EMULATED_ORDERING void ptx_ld_relaxed_gpu_global_u32(T& word, const T* from) {
    word = *emulator::ordering(from);
}
template <class T>
EMULATED_ORDERING void ptx_st_relaxed_gpu_global_u32(T* to, std::type_identity_t<T> word) {
    *emulator::ordering(to) = word;
    emulator::emulated_machine->let_others();
}
template <class T>
EMULATED_ORDERING void ptx_ld_relaxed_gpu_global_u64(T& word, const T* from) {
    word = *emulator::ordering(from);
}
template <class T>
EMULATED_ORDERING void ptx_st_relaxed_gpu_global_u64(T* to, std::type_identity_t<T> word) {
    *emulator::ordering(to) = word;
    emulator::emulated_machine->let_others();
}
/// Its halves are read and written one after the other.
template <class T>
void ptx_ld_relaxed_gpu_global_v2_u64(T& low, T& high, const T* from) {
    ptx_ld_relaxed_gpu_global_u64(low, emulator::aligned(from, 2 * sizeof(T)));
    ptx_ld_relaxed_gpu_global_u64(high, from + 1);
}
template <class T>
void ptx_st_relaxed_gpu_global_v2_u64(T* to, std::type_identity_t<T> low, std::type_identity_t<T> high) {
    ptx_st_relaxed_gpu_global_u64(emulator::aligned(to, 2 * sizeof(T)), low);
    ptx_st_relaxed_gpu_global_u64(to + 1, high);
}

inline void ptx_max_NaN_f32(float& to, float a, float b) { to = a > b || a != a ? a : b != b || b > a ? b : a; }
inline void ptx_min_NaN_f32(float& to, float a, float b) { to = a < b || a != a ? a : b != b || b < a ? b : a; }

namespace emulator {

/// Converts with saturation; NaN gives 0.
template <class T>
T truncated(float a) {
    const double least = static_cast<double>(std::numeric_limits<T>::lowest()),
                 most = static_cast<double>(std::numeric_limits<T>::max());
    return a != a ? T(0) : static_cast<T>(std::min(std::max(static_cast<double>(a), least), most));
}

inline float flushed(float a) { return std::fabs(a) < 0x1p-126f ? std::copysign(0.0f, a) : a; }
/// The hardware approximates from the upper half of a double.
inline double rough(double a) {
    const double upper = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & ~std::uint64_t{0xffffffff});
    return std::fabs(upper) < 0x1p-1022 ? std::copysign(0.0, a) : upper;
}

}  // namespace emulator

inline void ptx_cvt_rzi_s8_f32(int& to, float a) { to = emulator::truncated<signed char>(a); }
inline void ptx_cvt_rzi_s16_f32(int& to, float a) { to = emulator::truncated<short>(a); }
inline void ptx_cvt_rzi_s32_f32(int& to, float a) { to = emulator::truncated<int>(a); }
inline void ptx_cvt_rzi_u8_f32(unsigned int& to, float a) { to = emulator::truncated<unsigned char>(a); }
inline void ptx_cvt_rzi_u16_f32(unsigned int& to, float a) { to = emulator::truncated<unsigned short>(a); }
inline void ptx_cvt_rzi_u32_f32(unsigned int& to, float a) { to = emulator::truncated<unsigned int>(a); }

inline void ptx_rcp_approx_ftz_f32(float& to, float a) { to = emulator::flushed(1 / emulator::flushed(a)); }
inline void ptx_rcp_approx_ftz_f64(double& to, double a) { to = emulator::rough(1 / emulator::rough(a)); }
inline void ptx_rsqrt_approx_ftz_f32(float& to, float a) { to = rsqrtf(emulator::flushed(a)); }
inline void ptx_lg2_approx_ftz_f32(float& to, float a) { to = std::log2(emulator::flushed(a)); }
inline void ptx_cvt_f32_f16(float& to, unsigned short bits) {
    _Float16 half;
    __builtin_memcpy(&half, &bits, 2);
    to = static_cast<float>(half);
}
inline void ptx_cvt_rn_f16_f32(unsigned short& to, float a) {
    const auto half = static_cast<_Float16>(a);
    __builtin_memcpy(&to, &half, 2);
    if (a != a) to = 0x7fff;
}
inline void ptx_cvt_rn_bf16_f32(unsigned short& to, float a) {
    unsigned int bits;
    __builtin_memcpy(&bits, &a, 4);
    to = a != a ? 0x7fff : static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
inline void ptx_ex2_approx_ftz_f32(float& to, float a) { to = emulator::flushed(std::exp2(a)); }

inline void ptx_cp_async_cg_shared_global(unsigned int to, const void* from, int bytes) {
    const std::size_t n(bytes);
    emulator::emulated_machine->touch(emulator::aligned(static_cast<const char*>(from), n), n, false,
                                      __builtin_return_address(0));
    emulator::emulated_machine->copy_later(emulator::emulated_machine->shared_memory(emulator::aligned(to, n)), from,
                                           n);
}
inline void ptx_cp_async_ca_shared_global(unsigned int to, const void* from, int bytes) {
    ptx_cp_async_cg_shared_global(to, from, bytes);
}
inline void ptx_cp_async_commit_group() { emulator::emulated_machine->close_copies(); }
inline void ptx_cp_async_wait_group(int left) { emulator::emulated_machine->wait_for_copies(std::size_t(left)); }
inline void ptx_cp_async_wait_all() {
    emulator::emulated_machine->close_copies();
    emulator::emulated_machine->wait_for_copies(0);
}

inline void ptx_barrier_cluster_arrive_relaxed_aligned() { emulator::emulated_machine->cluster_arrive(); }
inline void ptx_barrier_cluster_arrive_release_aligned() { emulator::emulated_machine->cluster_arrive(); }
inline void ptx_barrier_cluster_wait_acquire_aligned() { emulator::emulated_machine->cluster_wait(); }
inline void ptx_fence_mbarrier_init_release_cluster() {}

inline void ptx_mapa_shared__cluster_u32(unsigned int& to, unsigned int mine, unsigned int block) {
    to = (block + 1) << emulator::rank_shift | mine;
}
template <class T>
void ptx_mapa_u64(T& to, const void* mine, unsigned int block) {
    unsigned int address = 0;
    ptx_mapa_shared__cluster_u32(address, emulator::emulated_machine->shared_address(mine), block);
    to = reinterpret_cast<T>(emulator::emulated_machine->shared_memory(address));
}

namespace emulator {

EMULATED_ORDERING inline transaction_barrier& barrier_at(unsigned int address) {
    auto& barrier = *reinterpret_cast<transaction_barrier*>(emulated_machine->shared_memory(aligned(address, 8)));
    if (barrier.made != 0x5b) emulated_machine->fault("a barrier in shared memory is used before it is made");
    return barrier;
}
EMULATED_ORDERING inline void open_if_complete(transaction_barrier& barrier) {
    if (barrier.arrivals != 0 || barrier.bytes != 0) return;
    barrier.phase ^= 1;
    barrier.arrivals = 1;
}
template <class T>
EMULATED_ORDERING void store_there(unsigned int to, T value, unsigned int barrier) {
    __builtin_memcpy(emulated_machine->shared_memory(aligned(to, sizeof value)), &value, sizeof value);
    transaction_barrier& counted = barrier_at(barrier);
    counted.bytes -= int(sizeof value);
    open_if_complete(counted);
    emulated_machine->let_others();
}

}  // namespace emulator

EMULATED_ORDERING inline void ptx_mbarrier_init_shared__cta_b64(unsigned int at, int arrivals) {
    if (arrivals != 1) emulator::emulated_machine->fault("barriers in shared memory are of one arrival here");
    auto& barrier = *reinterpret_cast<emulator::transaction_barrier*>(emulator::emulated_machine->shared_memory(at));
    barrier = {0, 1, 0, 0x5b};
}
EMULATED_ORDERING inline void ptx_mbarrier_arrive_expect_tx_shared__cta_b64(unsigned int at, unsigned int bytes) {
    emulator::transaction_barrier& barrier = emulator::barrier_at(at);
    if (barrier.arrivals == 0) emulator::emulated_machine->fault("a barrier in shared memory sees too many arrivals");
    barrier.bytes += int(bytes);
    --barrier.arrivals;
    emulator::open_if_complete(barrier);
}
EMULATED_ORDERING inline void ptx_mbarrier_try_wait_parity_shared__cta_b64(unsigned int& open, unsigned int at,
                                                                           int parity) {
    emulator::emulated_machine->let_others();
    open = emulator::barrier_at(at).phase != parity;
}
inline void ptx_st_async_shared__cluster_mbarrier__complete_tx__bytes_b32(unsigned int to, unsigned int value,
                                                                          unsigned int barrier) {
    emulator::store_there(to, value, barrier);
}
inline void ptx_st_async_shared__cluster_mbarrier__complete_tx__bytes_b64(unsigned int to, unsigned long long value,
                                                                          unsigned int barrier) {
    emulator::store_there(to, value, barrier);
}
