// max(x0 * astype<float64>(x1) + astype<float64>(x2)); argmin(x3)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

/// Returns log2 of the number of threads per row: at most one warp, one thread per group of elements,
/// and no more threads than the block has.
__device__ __forceinline__ unsigned int spread_of(unsigned int rows, unsigned int groups) {
    const int to_spare = min(5, 6 - (32 - __clz(rows - 1)));
    return max(min(to_spare, 31 - __clz(groups)), 0);
}

/// Returns the shift that skewed() uses for rows of `chunks` chunks; 31 means no skew.
__device__ __forceinline__ unsigned int skew_of(unsigned int chunks, int spread) {
    return chunks % 4 != 0 ? 31 : max(__ffs(chunks) - 1 - spread, 3);
}

/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

/// Returns the position of chunk q, skewed so that the chunks of adjacent rows fall into different banks.
__device__ __forceinline__ unsigned int skewed(unsigned int q, unsigned int skew) {
    return q ^ (q >> skew & 7);
}

template <class type>
__device__ __forceinline__ void load_skewed_rows(type* to, const type* from, unsigned int n, unsigned int skew) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 64;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

template <class type>
__device__ __forceinline__ void load_rows(type* to, const type* from, unsigned int n) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 64;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
}

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// An element and its index in the row.
struct indexed_int16 {
    int16 value;
    int64 at;
};

struct max_double {
    static __device__ __forceinline__ double join(double a, double b) { return a > b || a != a ? a : b; }
};

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

/// Combines two elements; the second has the greater index.
struct ordered_argmin_int16 {
    static __device__ __forceinline__ indexed_int16 join(indexed_int16 a, indexed_int16 b) { return b.value < a.value ? b : a; }
};

/// Returns the value of the lane whose index is this lane's XOR `far`; both share a row.
template <class type>
__device__ __forceinline__ type from_thread(type v, unsigned int far, unsigned int spread) {
    const unsigned int all = (2u << (1u << spread) - 1) - 1;
    return __shfl_xor_sync(all << (threadIdx.x & 31 & ~0u << spread), v, far);
}

/// Combines the values of the threads of a row.
template <class fold, class type>
__device__ __forceinline__ type join_threads(type v, unsigned int spread) {
    for (unsigned int far = 1u << spread >> 1; far > 0; far >>= 1)
        v = fold::join(v, from_thread(v, far, spread));
    return v;
}

__device__ __forceinline__ indexed_int16 from_thread(indexed_int16 v, unsigned int far, unsigned int spread) {
    return {from_thread(v.value, far, spread), from_thread(v.at, far, spread)};
}

struct argmin_int16 {
    static __device__ __forceinline__ indexed_int16 join(indexed_int16 a, indexed_int16 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

struct arguments {
    const double* x0;
    const float* x1;
    const float* x2;
    const int16* x3;
    double* z0;
    int64* z1;
    uint32 rows;
    uint32 n;
    uint32 height;
    divisor by_n1;
    uint32 n1;
    int32 z0_stride0;
    int32 z1_stride0;
};

extern "C" __global__ void __launch_bounds__(64)
short_rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 n = p.n;
    const uint32 height = p.height;
    const uint32 first = blockIdx.x * height;
    const uint32 rows = p.rows - first < height ? p.rows - first : height;
    const uint32 spread = spread_of(height, n / 2);
    const uint32 lane = threadIdx.x & (1u << spread) - 1;
    const uint32 skew8 = skew_of(n / 2, spread);
    __shared__ alignas(128) double rows0[1648];
    __shared__ alignas(128) int16 rows1[1648];
    load_skewed_rows(rows0, p.x0 + first * n, rows * n, skew8);
    load_rows(rows1, p.x3 + first * n, rows * n);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x >> spread; mine < rows; mine += 64 >> spread) {
        const uint32 row = first + mine;
        const uint32 q1 = quotient(row, p.by_n1);
        const int32 i1 = int32(row - q1 * p.n1);
        const int32 i0 = int32(q1);
        const uint32 at = mine * n;
        const float x2 = __ldg(p.x2 + i0);
        const double t0 = double(x2);
        double max0 = -__longlong_as_double(0x7ff0000000000000ll);
        indexed_int16 argmin1 = indexed_int16{int16(~(1ull << 15)), int64(lane * 2)};
        for (uint32 k = lane * 2; k < n; k += 2 << spread) {
            alignas(16) double x0[2];
            reinterpret_cast<uint4&>(x0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 2, skew8) * 2]);
            alignas(4) int16 x3[2];
            reinterpret_cast<unsigned int&>(x3) = reinterpret_cast<const unsigned int&>(rows1[at + k]);
            double value0[2];
            indexed_int16 value1[2];
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                const int32 i2 = k + e;
                const float x1 = __ldg(p.x1 + i2);
                const double t1 = double(x1);
                const double t2 = x0[e] * t1;
                value0[e] = t2 + t0;
                value1[e] = indexed_int16{x3[e], int64(k + e)};
            }
            max0 = max_double::join(max0, join_pairs<max_double, 2>(value0));
            argmin1 = ordered_argmin_int16::join(argmin1, join_pairs<ordered_argmin_int16, 2>(value1));
        }
        max0 = join_threads<max_double>(max0, spread);
        argmin1 = join_threads<argmin_int16>(argmin1, spread);
        if (lane == 0) {
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), max0);
            __stcs(p.z1 + (i0 * p.z1_stride0 + i1), argmin1.at);
        }
    }
}
