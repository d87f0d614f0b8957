// CUDA's words on a CPU, before a user's text. A worker runs a block, so shared memory belongs to the worker.

#include <math.h>
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static thread_local
#define INGOT_VECTORS(T, name)                                                          \
    struct name##1 { T x; };                                                            \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                  \
    struct name##3 { T x, y, z; };                                                      \
    struct alignas(sizeof(T) < 8 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; };       \
    static inline name##1 make_##name##1(T x) { return {x}; }                           \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                   \
    static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }           \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
INGOT_VECTORS(signed char, char)
INGOT_VECTORS(unsigned char, uchar)
INGOT_VECTORS(short, short)
INGOT_VECTORS(unsigned short, ushort)
INGOT_VECTORS(int, int)
INGOT_VECTORS(unsigned int, uint)
INGOT_VECTORS(long long, longlong)
INGOT_VECTORS(unsigned long long, ulonglong)
INGOT_VECTORS(float, float)
INGOT_VECTORS(double, double)
#undef INGOT_VECTORS
typedef uint3 dim3;
static thread_local uint3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;
namespace ingot_raw {
struct grid_of_blocks {
    unsigned grid[3], block[3];
    void (*run_threads)(unsigned threads, void (*body)(void*, unsigned), void* argument);
    void (*wait)(bool warp);
    void* shared;
};
static thread_local const grid_of_blocks* now;
static inline void wait(bool warp) {
    const uint3 mine = threadIdx;
    now->wait(warp);
    threadIdx = mine;
}
template <class T> struct shared_array {
    operator T*() const { return static_cast<T*>(now->shared); }
    template <class U> explicit operator U*() const { return static_cast<U*>(now->shared); }
    template <class I> T& operator[](I i) const { return static_cast<T*>(now->shared)[i]; }
};
}
static inline void __syncthreads() { ingot_raw::wait(false); }
static inline void __syncwarp(unsigned = ~0u) { ingot_raw::wait(true); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() {}
static inline void __threadfence_system() { __threadfence(); }
template <class T> static inline T __ldg(const T* from) { return *from; }
namespace ingot_raw {
template <class T> struct same { typedef T type; };
template <bool, class A, class B> struct pick { typedef A type; };
template <class A, class B> struct pick<false, A, B> { typedef B type; };
}
#define INGOT_LEAST_AND_MOST(T)                                          \
    static inline T min(T a, T b) { return b < a ? b : a; }              \
    static inline T max(T a, T b) { return a < b ? b : a; }
INGOT_LEAST_AND_MOST(int)
INGOT_LEAST_AND_MOST(unsigned int)
INGOT_LEAST_AND_MOST(long)
INGOT_LEAST_AND_MOST(unsigned long)
INGOT_LEAST_AND_MOST(long long)
INGOT_LEAST_AND_MOST(unsigned long long)
#undef INGOT_LEAST_AND_MOST
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
template <class T> static inline T atomicCAS(T* at, typename ingot_raw::same<T>::type expected,
                                             typename ingot_raw::same<T>::type value) {
    __atomic_compare_exchange(at, &expected, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
#define INGOT_ATOMIC(name, result)                                                                 \
    template <class T> static inline T name(T* at, typename ingot_raw::same<T>::type value) {      \
        T old, made;                                                                               \
        __atomic_load(at, &old, __ATOMIC_SEQ_CST);                                                 \
        do {                                                                                       \
            made = result;                                                                         \
        } while (!__atomic_compare_exchange(at, &old, &made, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        return old;                                                                                \
    }
INGOT_ATOMIC(atomicAdd, old + value)
INGOT_ATOMIC(atomicSub, old - value)
INGOT_ATOMIC(atomicMin, value < old ? value : old)
INGOT_ATOMIC(atomicMax, old < value ? value : old)
INGOT_ATOMIC(atomicExch, value)
INGOT_ATOMIC(atomicAnd, old & value)
INGOT_ATOMIC(atomicOr, old | value)
INGOT_ATOMIC(atomicXor, old ^ value)
INGOT_ATOMIC(atomicInc, old >= value ? T(0) : T(old + 1))
#undef INGOT_ATOMIC
