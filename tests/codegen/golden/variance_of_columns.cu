// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

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

template <class word>
__device__ word stream(const word* from);

template <>
__device__ __forceinline__ uint2 stream(const uint2* from) {
    uint2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(from));
    return w;
}

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

/// Combines n variables per thread down the thread rows of a block; the first row gets the results. Large
/// types are combined in a loop, which is not unrolled.
template <class fold, int n, class type>
__device__ __forceinline__ void join_down_at_once(type* v, void* room, uint32 across, uint32 down, uint32 height) {
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
                type four[4] = {own[i]};
#pragma unroll
                for (int k = 1; k < 4; ++k)
                    if (down + k * part < height) four[k] = own[k * part * across * n + i];
                own[i] = fold::join_all(four);
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

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    float s0;
    float s1;
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n0;
    uint32 folded;
    int32 x0_stride2;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(256, 4)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across);
    const uint32 at = blockIdx.x * p.across + threadIdx.x - down * p.across;
    const bool mine = at < p.vectors && down < height;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const uint32 column = vector * 2;
    const uint32 columns = mine ? min(uint32(2), p.n0 - column) : 0;
    const int32 i0 = int32(column);
    const uint32 first = column;
    alignas(16) __shared__ uint64 room[1024];
    moments<float> squares0[2] = {moments<float>{0, 0, 0, 0}, moments<float>{0, 0, 0, 0}};
    {
        sums_near<float> part0[2] = {sums_near<float>{0, 0, 0, 0}, sums_near<float>{0, 0, 0, 0}};
        const uint32 n = mine ? p.folded : 0, step = gridDim.y * 8 * height;
        uint32 k = blockIdx.y * 8u * height + down;
        do {
            if (columns == 2) {
                for (uint32 tiles = 0; k < n && tiles < 64; ++tiles, k += step) {
                    alignas(8) float x0[8][2] = {};
                    const bool whole = k + 7 * height < n;
                    unsigned int present = whole ? 8 : 0;
                    if (whole) {
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint2>(x0[u], p.x0 + (i0 + i1 * p.x0_stride2));
                        }
                    } else {
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            if (k + u * height >= n) break;
                            ++present;
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint2>(x0[u], p.x0 + (i0 + i1 * p.x0_stride2));
                        }
                    }
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        float value0[8];
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            value0[u] = x0[u][e];
                        }
                        part0[e] = squares::with(part0[e], value0, present);
                    }
                }
            } else {
                for (; k < n; k += step) {
#pragma unroll 1
                    for (uint32 u = 0; u < 8 && k + u * height < n; ++u) {
                        const uint32 at = k + u * height;
                        const int32 i1 = int32(at);
#pragma unroll
                        for (unsigned int e = 0; e < 2; ++e) {
                            if (e >= columns) break;
                            const int32 i0 = int32(column + e);
                            const float x0 = __ldg(p.x0 + (i0 + i1 * p.x0_stride2));
                            part0[e] = squares::with<float, 1>(part0[e], {x0});
                        }
                    }
                }
            }
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                squares0[e] = squares::join(squares0[e], squares::of_part(part0[e]));
            }
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                part0[e] = sums_near<float>{0, 0, 0, 0};
            }
        } while (k < n);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        join_down_at_once<squares, 2>(squares0, room, p.across, down, height);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = 4 * uint64(p.rows);
        if (!last) {
            if (mine && down == 0) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    if (e >= columns) break;
                    publish(slots + blockIdx.y * stride + e, p.rows, squares0[e]);
                }
            }
            return;
        }
        share_down<2>(squares0, room, p.across, down, height);
        moments<float> whole0[2] = {moments<float>{0, 0, 0, 0}, moments<float>{0, 0, 0, 0}};
#pragma unroll 1
        for (uint32 s = down; mine && s < gridDim.y; s += 1 * height) {
            message<moments<float>> taken0[1][2];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    const uint64* const part = slots + s * stride;
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        poll(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows);
                    }
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    if (s == blockIdx.y) continue;
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        waits = waits || !is_there(taken0[u][e]);
                    }
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                uint64* const part = slots + s * stride;
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    whole0[e] = squares::join(whole0[e], s == blockIdx.y ? squares0[e] : consume(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows));
                }
            }
        }
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            squares0[e] = whole0[e];
        }
    }
    if (mine && down == 0) {
        alignas(8) float r0[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            if (e >= columns) break;
            const int32 i0 = int32(column + e);
            const float t0 = squares::about_share(squares0[e], p.s0);
            r0[e] = t0 / p.s1;
        }
        if (columns == 2) {
            const int32 i0 = int32(column);
            store<uint2>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                if (e >= columns) break;
                const int32 i0 = int32(column + e);
                __stcs(p.z0 + i0, r0[e]);
            }
        }
    }
}
