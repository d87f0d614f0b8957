// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// Moments of elements: their count, a reference element `near`, the mean minus `near`, and the sum of
/// squared deviations from the mean.
template <class type>
struct moments {
    type count, near, mean, squares;
};

/// Divides counts. An error of one ulp is negligible next to the rounding errors of the sums.
__device__ __forceinline__ float share_of(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double share_of(double a, double b) {
    double r = __frcp_rn(float(b));
    r += r * (1 - b * r);
    r += r * (1 - b * r);
    return a * r;
}

/// Running sums of elements: their count, the mean of the first few as the reference `near`, and the sums of
/// the differences from `near` and of their squares.
template <class type>
struct sums_near {
    type count, near, sum, squares;
};

struct squares {
    template <class type>
    static __device__ __forceinline__ moments<type> join(moments<type> a, moments<type> b) {
        if (b.count == 0) return a;
        if (a.count == 0) return b;
        const type count = a.count + b.count, share = share_of(b.count, count), off = (b.near - a.near) + (b.mean - a.mean);
        return {count, a.near, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
    }
    /// Combines the moments of an array, or of a group of lanes: first the mean, then the squares about it.
    template <class type, int n>
    static __device__ __forceinline__ moments<type> join_all(const moments<type> (&a)[n]) {
        type count = 0, near = 0, sum = 0, squares = 0, off[n];
#pragma unroll
        for (int i = 0; i < n; ++i) {
            near = count == 0 ? a[i].near : near;
            count += a[i].count;
        }
#pragma unroll
        for (int i = 0; i < n; ++i) {
            off[i] = (a[i].near - near) + a[i].mean;
            sum += a[i].count * off[i];
        }
        const type mean = count == 0 ? 0 : share_of(sum, count);
#pragma unroll
        for (int i = 0; i < n; ++i) squares += a[i].squares + a[i].count * (off[i] - mean) * (off[i] - mean);
        return {count, near, mean, squares};
    }
    template <int lanes, class type>
    static __device__ __forceinline__ moments<type> join_lanes(moments<type> a) {
        const unsigned int first = threadIdx.x & 31 & ~(lanes - 1);
        const unsigned int there = __ballot_sync(~0u, a.count != 0) >> first & ~0u >> 32 - lanes;
        const type near = __shfl_sync(~0u, a.near, first + (there == 0 ? 0 : __ffs(there) - 1));
        const type off = (a.near - near) + a.mean;
        type count = a.count, sum = a.count * off;
#pragma unroll
        for (int far = lanes / 2; far > 0; far >>= 1) {
            count += __shfl_xor_sync(~0u, count, far);
            sum += __shfl_xor_sync(~0u, sum, far);
        }
        const type mean = count == 0 ? 0 : share_of(sum, count);
        type squares = a.squares + a.count * (off - mean) * (off - mean);
#pragma unroll
        for (int far = lanes / 2; far > 0; far >>= 1) squares += __shfl_xor_sync(~0u, squares, far);
        return {count, near, mean, squares};
    }
    template <class type, int n>
    static __device__ __forceinline__ sums_near<type> with(sums_near<type> a, const type (&v)[n],
                                                           unsigned int present = n) {
        constexpr unsigned int few = n < 4 ? n : 4;
        type sum = 0, squares = 0;
        if (a.count == 0) {
#pragma unroll
            for (unsigned int i = 1; i < few; ++i) sum += i < present ? v[i] - v[0] : 0;
            a.near = v[0] + share_of(sum, type(min(present, few)));
            sum = 0;
        }
#pragma unroll
        for (unsigned int i = 0; i < n; ++i) {
            const type off = i < present ? v[i] - a.near : 0;
            sum += off;
            squares += off * off;
        }
        return {a.count + present, a.near, a.sum + sum, a.squares + squares};
    }
    template <class type>
    static __device__ __forceinline__ moments<type> of_part(sums_near<type> a) {
        if (a.count == 0) return {0, 0, 0, 0};
        const type mean = share_of(a.sum, a.count), squares = a.squares - a.sum * mean;
        // If the squares overflow and the mean is finite, the result is infinite; the difference would be NaN.
        return {a.count, a.near, mean, squares >= 0 ? squares : squares < 0 ? 0 : a.squares + (mean - mean)};
    }
    template <class type>
    static __device__ __forceinline__ type about(moments<type> a, type c) {
        const type off = a.near - c + a.mean;
        return a.squares + a.count * off * off;
    }
    /// Returns the squares about the sum of all elements divided by n, which may differ from their count.
    template <class type>
    static __device__ __forceinline__ type about_share(moments<type> a, type n) {
        if (a.count == n) return a.squares;
        const type off = (a.near + a.mean) * (1 - a.count / n);
        return a.squares + a.count * off * off;
    }
};

/// Returns the mean of the first n values and the sum of their squared deviations from it.
template <class type, int most>
__device__ __forceinline__ moments<type> moments_of_few(const type (&v)[most], uint32 n) {
    type sum = 0, squares = 0;
#pragma unroll
    for (int i = 1; i < most; ++i) sum += i < n ? v[i] - v[0] : 0;
    const type mean = sum * share_of(type(1), type(n));
#pragma unroll
    for (int i = 0; i < most; ++i) {
        const type off = i < n ? v[i] - v[0] - mean : 0;
        squares += off * off;
    }
    return {type(n), v[0], mean, squares};
}

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    float s1;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride3;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 begin = blockIdx.x * 512u + threadIdx.x;
    float x0[4][2];
#pragma unroll
    for (unsigned int j = 0; j < 4; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const int32 i1 = int32(vector - outer * p.row_vectors);
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            if (u >= p.folded) break;
            const int32 i2 = int32(u);
            x0[j][u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride3));
        }
    }
#pragma unroll
    for (unsigned int j = 0; j < 4; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const int32 i1 = int32(vector - outer * p.row_vectors);
        moments<float> squares0 = moments<float>{0, 0, 0, 0};
        float value0[2];
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            value0[u] = u < p.folded ? x0[j][u] : 0.0f;
        }
        squares0 = moments_of_few(value0, p.folded);
        const float t0 = squares::about_share(squares0, p.s0);
        const float r0 = t0 / p.s1;
        if (at < p.vectors) {
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0);
        }
    }
}
