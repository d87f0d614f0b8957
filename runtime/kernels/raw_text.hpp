// The text around a user's CUDA C++; see raw_source.hpp.
#pragma once

#include <string_view>

namespace ingot::runtime {

// The words on a kernel's parameters (raw_parameter), which the kernel's compiler makes from their types.
inline constexpr std::string_view parameter_words = R"(namespace ingot_raw {
template <class T> struct kind { enum { value = 0 }; };
template <> struct kind<bool> { enum { value = 1 }; };
template <> struct kind<char> { enum { value = 2 }; };
template <> struct kind<signed char> { enum { value = 2 }; };
template <> struct kind<short> { enum { value = 2 }; };
template <> struct kind<int> { enum { value = 2 }; };
template <> struct kind<long> { enum { value = 2 }; };
template <> struct kind<long long> { enum { value = 2 }; };
template <> struct kind<unsigned char> { enum { value = 3 }; };
template <> struct kind<unsigned short> { enum { value = 3 }; };
template <> struct kind<unsigned int> { enum { value = 3 }; };
template <> struct kind<unsigned long> { enum { value = 3 }; };
template <> struct kind<unsigned long long> { enum { value = 3 }; };
template <> struct kind<float> { enum { value = 4 }; };
template <> struct kind<double> { enum { value = 4 }; };
template <class T> struct value_word { enum : unsigned long long { word = kind<T>::value | sizeof(T) << 8 }; };
template <> struct value_word<void> { enum : unsigned long long { word = 64 }; };
template <class T> struct target_word { enum : unsigned long long { word = 16 | value_word<T>::word }; };
template <class T> struct target_word<const T> { enum : unsigned long long { word = 32 | target_word<T>::word }; };
template <class T> struct target_word<volatile T> { enum : unsigned long long { word = target_word<T>::word }; };
template <class T> struct target_word<const volatile T> {
    enum : unsigned long long { word = 32 | target_word<T>::word };
};
template <class T> struct parameter { enum : unsigned long long { word = value_word<T>::word }; };
template <class T> struct parameter<const T> { enum : unsigned long long { word = value_word<T>::word }; };
template <class T> struct parameter<T*> { enum : unsigned long long { word = target_word<T>::word }; };
template <class T> struct parameter<T* const> { enum : unsigned long long { word = target_word<T>::word }; };
template <unsigned n> struct words { unsigned long long count, word[n + 1]; };
template <class F> struct signature;
template <class... P> struct signature<void (*)(P...)> {
    static __device__ constexpr words<sizeof...(P)> all() {
        return {sizeof...(P), {static_cast<unsigned long long>(parameter<P>::word)..., 0}};
    }
};
}
)";

inline constexpr std::string_view complex_words = R"(namespace ingot_raw {
template <class T> struct kind<thrust::complex<T>> { enum { value = 5 }; };
}
)";

// The content of <cupy/complex.cuh>: Thrust's complex under its own name.
inline constexpr std::string_view complex_text = R"(namespace thrust {
template <class T> struct alignas(2 * sizeof(T)) complex {
    typedef T value_type;
    T re, im;
    complex() = default;
    __host__ __device__ complex(T r, T i = T()) : re(r), im(i) {}
    template <class U> __host__ __device__ explicit complex(const complex<U>& z) : re(T(z.real())), im(T(z.imag())) {}
    __host__ __device__ T real() const { return re; }
    __host__ __device__ T imag() const { return im; }
    __host__ __device__ void real(T r) { re = r; }
    __host__ __device__ void imag(T i) { im = i; }
    __host__ __device__ complex& operator+=(complex z) { re += z.re; im += z.im; return *this; }
    __host__ __device__ complex& operator-=(complex z) { re -= z.re; im -= z.im; return *this; }
    __host__ __device__ complex& operator*=(complex z) { return *this = *this * z; }
    __host__ __device__ complex& operator/=(complex z) { return *this = *this / z; }
    friend __host__ __device__ complex operator+(complex a, complex b) { return complex(a.re + b.re, a.im + b.im); }
    friend __host__ __device__ complex operator-(complex a, complex b) { return complex(a.re - b.re, a.im - b.im); }
    friend __host__ __device__ complex operator*(complex a, complex b) {
        return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
    friend __host__ __device__ complex operator/(complex a, complex b) {
        // Smith's way, which does not overflow on the way.
        const bool by_real = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
        const T r = by_real ? b.im / b.re : b.re / b.im, d = by_real ? b.re + b.im * r : b.im + b.re * r;
        return by_real ? complex((a.re + a.im * r) / d, (a.im - a.re * r) / d)
                       : complex((a.re * r + a.im) / d, (a.im * r - a.re) / d);
    }
    friend __host__ __device__ complex operator+(complex z) { return z; }
    friend __host__ __device__ complex operator-(complex z) { return complex(-z.re, -z.im); }
    friend __host__ __device__ bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
    friend __host__ __device__ bool operator!=(complex a, complex b) { return !(a == b); }
};
template <class T> __host__ __device__ T real(const complex<T>& z) { return z.re; }
template <class T> __host__ __device__ T imag(const complex<T>& z) { return z.im; }
template <class T> __host__ __device__ complex<T> conj(const complex<T>& z) { return complex<T>(z.re, -z.im); }
template <class T> __host__ __device__ T norm(const complex<T>& z) { return z.re * z.re + z.im * z.im; }
__host__ __device__ inline float abs(const complex<float>& z) { return hypotf(z.re, z.im); }
__host__ __device__ inline double abs(const complex<double>& z) { return hypot(z.re, z.im); }
__host__ __device__ inline float arg(const complex<float>& z) { return atan2f(z.im, z.re); }
__host__ __device__ inline double arg(const complex<double>& z) { return atan2(z.im, z.re); }
__host__ __device__ inline complex<float> polar(float r, float t) { return {r * cosf(t), r * sinf(t)}; }
__host__ __device__ inline complex<double> polar(double r, double t) { return {r * cos(t), r * sin(t)}; }
__host__ __device__ inline complex<float> exp(const complex<float>& z) { return polar(expf(z.re), z.im); }
__host__ __device__ inline complex<double> exp(const complex<double>& z) { return polar(::exp(z.re), z.im); }
}
using thrust::complex;
using thrust::real;
using thrust::imag;
using thrust::conj;
using thrust::norm;
using thrust::arg;
using thrust::polar;
)";

// CUDA's words on a CPU. A worker runs a block, so shared memory belongs to the worker.
inline constexpr std::string_view host_prelude = R"(#include <math.h>
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
)";

inline constexpr std::string_view host_runner = R"(namespace ingot_raw {
template <unsigned... i> struct numbers {};
template <unsigned n, unsigned... i> struct count : count<n - 1, n - 1, i...> {};
template <unsigned... i> struct count<0, i...> { typedef numbers<i...> type; };
template <class F, class N> struct call_of_thread;
template <class... P, unsigned... i> struct call_of_thread<void (*)(P...), numbers<i...>> {
    void (*kernel)(P...);
    void** arguments;
    static void run(void* self, unsigned t) {
        call_of_thread& c = *static_cast<call_of_thread*>(self);
        threadIdx.x = t % blockDim.x, threadIdx.y = t / blockDim.x % blockDim.y, threadIdx.z = t / blockDim.x / blockDim.y;
        c.kernel(*static_cast<P*>(c.arguments[i])...);
    }
};
template <class... P, unsigned... i>
inline void run(void (*kernel)(P...), numbers<i...>, void** arguments, const grid_of_blocks* g,
                unsigned long long begin, unsigned long long end) {
    now = g;
    blockDim.x = g->block[0], blockDim.y = g->block[1], blockDim.z = g->block[2];
    gridDim.x = g->grid[0], gridDim.y = g->grid[1], gridDim.z = g->grid[2];
    for (unsigned long long b = begin; b < end; ++b) {
        blockIdx.x = unsigned(b % g->grid[0]);
        blockIdx.y = unsigned(b / g->grid[0] % g->grid[1]);
        blockIdx.z = unsigned(b / g->grid[0] / g->grid[1]);
        if (threads_wait) {
            call_of_thread<void (*)(P...), numbers<i...>> call = {kernel, arguments};
            g->run_threads(g->block[0] * g->block[1] * g->block[2], &call.run, &call);
            continue;
        }
        for (unsigned z = 0; z < g->block[2]; ++z)
            for (unsigned y = 0; y < g->block[1]; ++y)
                for (unsigned x = 0; x < g->block[0]; ++x) {
                    threadIdx.x = x, threadIdx.y = y, threadIdx.z = z;
                    kernel(*static_cast<P*>(arguments[i])...);
                }
    }
}
template <class... P>
inline void run_blocks(void (*kernel)(P...), void** arguments, const grid_of_blocks* g, unsigned long long begin,
                       unsigned long long end) {
    run(kernel, typename count<sizeof...(P)>::type(), arguments, g, begin, end);
}
}
)";

}  // namespace ingot::runtime
