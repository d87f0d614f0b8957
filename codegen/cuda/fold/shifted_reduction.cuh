// A GPU joins moments and exponential sums with these.

//// moments
// The mean is kept as its difference from some element, so a large mean costs no digits. A thread sums the differences
// of its elements from the mean of its first few. That costs no digits either: as those few are among the elements,
// the squares about the mean are at least their number times the squared distance of the two means.
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

//// exponential_sum needs exponential, add_weight and largest of the dtype
// `top` is finite whatever the elements, so that infinities and NaN come out as in exp(x - c). No exponent is above 2,
// and an element far below the greatest adds nothing, so a quick exponential is exact enough: the exact one is used
// for c. The sum is 0 where all elements are minus infinity or there are none; else it is at least 1.
template <class type>
__device__ type exponential(type x);
/// Returns sum + exp(x) for x <= 2. Underflow is negligible, as the final sum is at least 1. The result may be
/// NaN if x is not finite.
template <class type>
__device__ type add_weight(type sum, type x);
template <class type>
__device__ constexpr type largest();
__device__ __forceinline__ float higher(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double higher(double a, double b) { return b > a ? b : a; }

/// The greatest element `top` and the sum of exp(x - top).
template <class type>
struct exponential_sum {
    type top, sum;
};

/// The sum of exp(x - near), and the greatest element `top`, which exceeds `near` by at most 2: x - near loses
/// no more precision than the exponential does, and `near` is rarely updated.
template <class type>
struct exponentials_near {
    type near, sum, top;
};

struct exponentials {
    template <class type>
    static __device__ __forceinline__ exponential_sum<type> join(exponential_sum<type> a, exponential_sum<type> b) {
        const bool above = a.top > b.top;
        const type less = add_weight(type(0), above ? b.top - a.top : a.top - b.top);
        return {above ? a.top : b.top, above ? a.sum + b.sum * less : b.sum + a.sum * less};
    }
    template <class type, int n>
    static __device__ __forceinline__ exponentials_near<type> with(exponentials_near<type> a, const type (&v)[n],
                                                                   unsigned int present = n) {
        // Operations on doubles have a long latency, which four independent maxima and sums hide.
        constexpr unsigned int chains = sizeof(type) == 4 ? 1 : n < 4 ? n : 4;
        type most[chains];
#pragma unroll
        for (unsigned int i = 0; i < chains; ++i) most[i] = a.top;
#pragma unroll
        for (unsigned int i = 0; i < n; ++i)
            most[i % chains] = i < present ? higher(most[i % chains], v[i]) : most[i % chains];
        a.top = most[0];
#pragma unroll
        for (unsigned int i = 1; i < chains; ++i) a.top = higher(a.top, most[i]);
        // For floats the update costs less than the test, as an exponential is one instruction.
        if (sizeof(type) == 4 || a.top > a.near + 2) {
            if (sizeof(type) == 8 && a.top > largest<type>()) {
                type all = 0;
#pragma unroll
                for (unsigned int i = 0; i < n; ++i) all += i < present && !(v[i] <= largest<type>()) ? v[i] : 0;
                return {a.near, a.sum + all, largest<type>()};
            }
            a.top = a.top < largest<type>() ? a.top : largest<type>();
            a.sum *= add_weight(type(0), a.near - a.top);
            a.near = a.top;
        }
        type some[chains] = {};
#pragma unroll
        for (unsigned int i = 0; i < n; ++i)
            some[i % chains] = i < present ? add_weight(some[i % chains], v[i] - a.near) : some[i % chains];
        type sum = some[0];
#pragma unroll
        for (unsigned int i = 1; i < chains; ++i) sum += some[i];
        return {a.near, a.sum + sum, a.top};
    }
    template <class type>
    static __device__ __forceinline__ exponential_sum<type> of_part(exponentials_near<type> a) {
        return {a.top, a.sum < type(0.5) ? 0 : a.sum * add_weight(type(0), a.near - a.top)};
    }
    template <class type>
    static __device__ __forceinline__ type about(exponential_sum<type> a, type c) {
        return a.sum * exponential(a.top - c);
    }
    /// Returns the greatest element. The sum shows whether it is infinite or NaN.
    template <class type>
    static __device__ __forceinline__ type greatest(exponential_sum<type> a) {
        return a.sum > 0 && a.sum <= largest<type>() ? a.top : a.sum == 0 ? a.top + a.top : a.sum;
    }
};

//// exp2_of_weight
/// Returns 2^x. Flushing subnormal results to zero is harmless, as the final sum is at least 1.
__device__ __forceinline__ float exp2_of_weight(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
