// sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

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

__device__ __forceinline__ uint64 bits_of(double a) { return uint64(__double_as_longlong(a)); }

__device__ __forceinline__ double from_bits(uint64 a) { return __longlong_as_double((long long)a); }

__device__ __forceinline__ double exp_double(double a) {
    double y = ::exp(a);
    return bits_of(a) - uint64(0xc087480000000000) <= uint64(0x110d52d3051) ? from_bits(uint64(1)) : y;
}

template <>
__device__ __forceinline__ double exponential(double x) {
    return exp_double(x);
}
template <>
__device__ __forceinline__ double add_weight(double sum, double x) {
    const double a = x < -708.0 ? __hiloint2double(0xc0862000, __double2loint(x)) : x;
    double shifted = fma(a, 1.4426950408889634, 6755399441055744.0);
    double n = shifted - 6755399441055744.0;
    double r = fma(n, -0.6931471805599453, a);
    r = fma(n, -2.3190468138462996e-17, r);
    double p = 2.502232253650299e-08;
    p = fma(p, r, 2.763090348817311e-07);
    p = fma(p, r, 2.755751454588244e-06);
    p = fma(p, r, 2.4801491039099165e-05);
    p = fma(p, r, 0.00019841269589115497);
    p = fma(p, r, 0.001388888894591638);
    p = fma(p, r, 0.008333333333455043);
    p = fma(p, r, 0.041666666666519754);
    p = fma(p, r, 0.16666666666666477);
    p = fma(p, r, 0.5000000000000012);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return fma(p, __hiloint2double((__double2loint(shifted) << 20) + 0x3ff00000, 0), sum);
}
template <>
__device__ constexpr double largest() {
    return 1.7976931348623157e+308;
}

/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy8(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

/// Exchanges partial results through shared memory. Each thread passes n adjacent columns, starting at
/// `at`, and returns one column, combined over every `shares`-th thread row.
template <class fold, int n, class type>
__device__ __forceinline__ type join_strip(const type* v, type start, void* room, bool active, uint32 wide, uint32 down, uint32 at,
                                            uint32 height, uint32 column, uint32 share, uint32 shares) {
    type* const cells = static_cast<type*>(room);
    __syncthreads();  // the previous reduction used the same shared memory
#pragma unroll
    for (int i = 0; i < n; ++i)
        if (active) cells[down * wide + at + i] = v[i];
    __syncthreads();
    type all = start;
    for (uint32 d = share; d < height; d += shares) all = fold::join(all, cells[d * wide + column]);
    return all;
}

/// Combines n variables per thread down the thread rows of a block; the first row gets the results. Large
/// types are combined in a loop, which is not unrolled.
template <class fold, int n, class type>
__device__ __forceinline__ void join_down(type* v, void* room, uint32 across, uint32 down, uint32 height) {
    type* const own = static_cast<type*>(room) + threadIdx.x * n;
    __syncthreads();  // the previous reduction used the same shared memory
#pragma unroll
    for (int i = 0; i < n; ++i) own[i] = v[i];
    while (height > 1) {
        const uint32 part = (height + 3) / 4;
        __syncthreads();
        if (down < part) {
#pragma unroll (sizeof(type) > 8 ? 1 : n)
            for (int i = 0; i < n; ++i) {
                type all = own[i];
                for (uint32 other = part; down + other < height; other += part)
                    all = fold::join(all, own[other * across * n + i]);
                own[i] = all;
            }
        }
        height = part;
    }
#pragma unroll
    for (int i = 0; i < n; ++i) v[i] = own[i];
}

/// A value that one block passes to another through slots `word_stride` apart. Each slot holds 32 bits and
/// a flag that they are present, so the order of the writes is irrelevant. consume() clears the slots.
template <class type>
struct message {
    static constexpr int n = (sizeof(type) + 3) / 4;
    uint64 words[n];
};

__device__ __forceinline__ uint64 poll_slot(const uint64* slot) {
    uint64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
    return word;
}

template <class type>
__device__ __forceinline__ void publish(uint64* slot, uint64 word_stride, type v) {
    alignas(16) uint32 words[message<type>::n] = {};
    reinterpret_cast<type&>(words) = v;
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :: "l"(slot + i * word_stride), "l"(uint64(words[i]) << 32 | 1) : "memory");
}

/// Loads the words of a value that have been published so far.
template <class type>
__device__ __forceinline__ void poll(message<type>& v, const uint64* slot, uint64 word_stride) {
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i) v.words[i] = poll_slot(slot + i * word_stride);
}

template <class type>
__device__ __forceinline__ bool is_there(const message<type>& v) {
    bool all = true;
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i) all = all && v.words[i] != 0;
    return all;
}

template <class type>
__device__ __forceinline__ type consume(const message<type>& v, uint64* slot, uint64 word_stride) {
    alignas(16) uint32 words[message<type>::n];
#pragma unroll
    for (int i = 0; i < message<type>::n; ++i) {
        words[i] = v.words[i] >> 32;
        slot[i * word_stride] = 0;
    }
    return reinterpret_cast<const type&>(words);
}

/// Broadcasts n variables per thread from the first thread row of a block to all rows.
template <int n, class type>
__device__ __forceinline__ void share_down(type* v, void* room, uint32 across, uint32 down, uint32 height) {
    type* const own = static_cast<type*>(room) + threadIdx.x * n;
    __syncthreads();  // the previous reduction used the same shared memory
#pragma unroll
    for (int i = 0; i < n; ++i)
        if (down == 0) own[i] = v[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < n; ++i)
        if (down < height) v[i] = own[i - int(down * across) * n];
}

struct arguments {
    const double* x0;
    double* z0;
    uint64* scratch;
    uint32 n1;
    uint32 across;
    divisor by_across;
    divisor by_strips;
    uint32 strips;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 outer = quotient(blockIdx.x, p.by_strips);
    const int32 i0 = int32(outer);
    const uint32 width = p.across * 1, begin = (blockIdx.x - outer * p.strips) * width, there = min(width, p.n1 - begin);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across);
    const uint32 vector = threadIdx.x - down * p.across;
    const uint32 share = threadIdx.x / uint32(width), shares = 256u / uint32(width);
    const uint32 column = threadIdx.x - share * width;
    const bool mine = column < there && share < shares;
    const int32 i1 = int32(begin + min(column, there - 1));
    const uint32 first = outer * p.n1 + begin + column;
    alignas(16) __shared__ uint64 room[544];
    exponential_sum<double> exponentials0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
    {
        const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + begin;
        const bool active = down < height && vector * 1 < there;
        const double* const x0_from = x0_strip + vector * 1;
        exponential_sum<double> held0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
        exponentials_near<double> part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
        uint32 tiles = 0;
        const uint32 n = active ? p.folded : 0;
        uint32 k = blockIdx.y * 8 * height + down;
        __shared__ double x0_ahead[2][8][256];
        uint32 stage = 0;
        if (k + 7 * height < n) {
            const double* const x0_next = x0_from + (k) * p.n1;
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                copy8(&x0_ahead[0][u][threadIdx.x], x0_next + u * uint64(height * p.n1));
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        for (; k + 7 * height < n; k += gridDim.y * 8 * height) {
            if (k + gridDim.y * 8 * height + 7 * height < n) {
                const double* const x0_next = x0_from + (k + gridDim.y * 8 * height) * p.n1;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    copy8(&x0_ahead[stage ^ 1][u][threadIdx.x], x0_next + u * uint64(height * p.n1));
                }
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            double x0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                x0[u] = x0_ahead[stage][u][threadIdx.x];
            }
            stage ^= 1;
            double value0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
        }
        if (k + 3 * height < n) {
            double x0[4];
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                x0[u] = __ldg(x0_from + (k + u * height) * p.n1);
            }
            double value0[4];
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
            k += 4 * height;
        }
        if (k + 1 * height < n) {
            double x0[2];
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                x0[u] = __ldg(x0_from + (k + u * height) * p.n1);
            }
            double value0[2];
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
            k += 2 * height;
        }
        if (k < n) {
            double x0[1];
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                x0[u] = __ldg(x0_from + (k) * p.n1);
            }
            double value0[1];
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
        }
        held0 = exponentials::join(held0, exponentials::of_part(part0));
        exponentials0 = join_strip<exponentials, 1>(&held0, exponential_sum<double>{-1.7976931348623157e+308, 0}, room, active, width, down, vector * 1, height, mine ? column : 0, share, shares);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        join_down<exponentials, 1>(&exponentials0, room, width, share, shares);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = 4 * uint64(p.rows);
        if (!last) {
            if (mine && share == 0) {
                publish(slots + blockIdx.y * stride, p.rows, exponentials0);
            }
            return;
        }
        share_down<1>(&exponentials0, room, width, share, shares);
        exponential_sum<double> whole0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
#pragma unroll 1
        for (uint32 s = share; mine && s < gridDim.y; s += 1 * shares) {
            message<exponential_sum<double>> taken0[1];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    const uint64* const part = slots + s * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    if (s == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                uint64* const part = slots + s * stride;
                whole0 = exponentials::join(whole0, s == blockIdx.y ? exponentials0 : consume(taken0[u], part, p.rows));
            }
        }
        exponentials0 = whole0;
    }
    if (mine && share == 0) {
        const double t0 = exponentials::greatest(exponentials0);
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), exponentials::about(exponentials0, t0));
    }
}
