// log(sum(exp(x0 - max(x0))))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

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

__device__ __forceinline__ float exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(h, 1.90465421e-9f, fma(h, -0.693147182f, a));
    float y = exp2(h);
    return fma(y, fminf(l, 1.0f), y);
}

/// Returns 2^x. Flushing subnormal results to zero is harmless, as the final sum is at least 1.
__device__ __forceinline__ float exp2_of_weight(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

template <>
__device__ __forceinline__ float exponential(float x) {
    return exp_float(x);
}
template <>
__device__ __forceinline__ float add_weight(float sum, float x) {
    return sum + exp2_of_weight(x * 1.44269502f);
}
template <>
__device__ constexpr float largest() {
    return 3.402823466e+38f;
}

template <class word>
__device__ word stream(const word* from);

template <>
__device__ __forceinline__ uint4 stream(const uint4* from) {
    uint4 w;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(from));
    return w;
}

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

/// Returns the value of the lane whose index is this lane's XOR `far`.
template <class type>
__device__ __forceinline__ type from_lane(type v, int far) {
    return __shfl_xor_sync(0xffffffffu, v, far);
}

__device__ __forceinline__ exponential_sum<float> from_lane(exponential_sum<float> v, int far) {
    return {from_lane(v.top, far), from_lane(v.sum, far)};
}

/// Combines the values of a group of adjacent lanes; every lane gets the result.
template <class fold, int lanes, class type>
__device__ __forceinline__ type join_lanes(type v) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));
    return v;
}

/// Combines one value per thread of the block; every thread gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_block(type v) {
    __shared__ type warps[n];
    v = join_lanes<fold, 32>(v);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = join_lanes<fold, n>(warps[threadIdx.x % n]);
    __syncthreads();  // the next reduction overwrites the same shared memory
    return v;
}

__device__ __forceinline__ uint32 bits_of(float a) { return __float_as_uint(a); }

__device__ __forceinline__ float from_bits(uint32 a) { return __uint_as_float(a); }

__device__ __forceinline__ float log2_approx(float a) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

__device__ __forceinline__ float log_float(float a) {
    uint32 e = (bits_of(a) - 0x3f2aaaabu) & 0xff800000u;
    float f = from_bits(bits_of(a) - e) - 1.0f;
    float p = -1.28744870e-1f;
    p = p * f + 1.39867082e-1f;
    p = p * f - 1.21883437e-1f;
    p = p * f + 1.40053406e-1f;
    p = p * f - 1.66801810e-1f;
    p = p * f + 2.00104445e-1f;
    p = p * f - 2.49998048e-1f;
    p = p * f + 3.33332151e-1f;
    p = p * f - 0.5f;
    p = p * (f * f) + f;
    p = float(int32(e)) * 8.26295832e-8f + p;
    float q = fma(log2_approx(a * 16777216.0f), 0.693147182f, -16.6355324f);
    return bits_of(a) - 0x00800000u < 0x7f000000u ? p : q;
}

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32* const counters = reinterpret_cast<uint32*>(p.scratch);
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(counters + 1, gridDim.y - 1);
    if (gridDim.y > 1 && threadIdx.x == 0) atomicAdd(counters, 2u);
    uint32 found = 0;  // the first counter's value when this block is about to end
    uint64* const slots = p.scratch + 2;
    const uint64 stride = 2 * uint64(p.rows);
    exponential_sum<float> exponentials0 = exponential_sum<float>{-3.402823466e+38f, 0};
    exponentials_near<float> part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
    uint32 tiles = 0;
    const uint32 row_tiles = (p.folded + 16383u) / 16384;
    uint32 row = 0, tile = blockIdx.y;
    for (; tile >= row_tiles; tile -= row_tiles) ++row;
    uint32 held = row, publisher = tile;  // the row in progress, and this block's first tile of it
    while (true) {
        const int32 i0 = int32(row);
        const uint32 head = min(p.folded, uint32(-(reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 4) % 32));
        const bool is_row = row < p.rows;
        const uint32 vectors = is_row ? (p.folded - head) / 4 : 0;
        const uint32 edge = threadIdx.x < head ? threadIdx.x : threadIdx.x + vectors * 4;
        const bool edges = is_row && tile == 0 && threadIdx.x < p.folded - vectors * 4;
        float x0_edge;
        if (edges) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + head;
        const uint32 v = tile * 4096u + threadIdx.x;
        alignas(16) float x0[8][4];
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            if (v + u * 512u >= vectors) continue;
            load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
        }
        uint32 next = row, next_tile = tile + gridDim.y;
        for (; next_tile >= row_tiles; next_tile -= row_tiles) ++next;
        if (is_row && next >= p.rows && gridDim.y > 1 && threadIdx.x == 0) found = atomicMax(counters, 2 * gridDim.y - 1);
        if (row != held) {
            exponentials0 = exponentials::join(exponentials0, exponentials::of_part(part0));
            exponentials0 = join_block<exponentials, 16>(exponentials0);
            if (threadIdx.x == 0) {
                publish(slots + held + publisher * stride, p.rows, exponentials0);
            }
            if (!is_row) break;
            held = row, publisher = tile;
            exponentials0 = exponential_sum<float>{-3.402823466e+38f, 0};
            part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
        }
        if ((tile + 1) * 4096u <= vectors) {
            float value0[32];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[u * 4 + e] = x0[u][e];
                }
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 8 == 0) {
                exponentials0 = exponentials::join(exponentials0, exponentials::of_part(part0));
                part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
            }
        } else {
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 512u >= vectors) break;
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = exponentials::with(part0, value0);
            }
            if (++tiles % 8 == 0) {
                exponentials0 = exponentials::join(exponentials0, exponentials::of_part(part0));
                part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
            }
        }
        if (edges) {
            part0 = exponentials::with<float, 1>(part0, {x0_edge});
        }
        row = next, tile = next_tile;
    }
    __shared__ bool last;  // whether this block has the last ticket: all others have begun
    __shared__ bool all_finish;  // whether every block finishes some of the results
    if (threadIdx.x == 0) {
        last = ticket == gridDim.y - 1;
        all_finish = found == 2 * gridDim.y;
        if (!last) atomicAdd(counters + 2, 1u);
    }
    __syncthreads();
    if (!all_finish && !last) return;
    const uint32 finishers = all_finish ? gridDim.y : 1;
    for (uint32 result = all_finish ? blockIdx.y : 0; result < p.rows; result += finishers) {
        const int32 i0 = int32(result);
        exponential_sum<float> whole0 = exponential_sum<float>{-3.402823466e+38f, 0};
        for (uint32 s = threadIdx.x; s < min(row_tiles, uint32(gridDim.y)); s += 512u) {
            message<exponential_sum<float>> taken0 = {};
            do {
                poll(taken0, slots + result + s * stride, p.rows);
            } while (!(is_there(taken0)));
            whole0 = exponentials::join(whole0, consume(taken0, slots + result + s * stride, p.rows));
        }
        whole0 = join_block<exponentials, 16>(whole0);
        exponentials0 = whole0;
        if (threadIdx.x == 0) {
            const float t0 = exponentials::greatest(exponentials0);
            const float t1 = exponentials::about(exponentials0, t0);
            __stcs(p.z0 + i0, log_float(t1));
        }
    }
    if (last && threadIdx.x == 0) {
        while (poll_slot(p.scratch + 1) < gridDim.y - 1) continue;
        p.scratch[0] = p.scratch[1] = 0;
    }
}
