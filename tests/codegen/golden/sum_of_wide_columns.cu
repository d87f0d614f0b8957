// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
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

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
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

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

struct arguments {
    const float* x0;
    float* z0;
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
    const uint32 width = (p.across - 1) * 4, begin = (blockIdx.x - outer * p.strips) * width, there = min(width, p.n1 - begin);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across) & ~3u;
    const uint32 vector = threadIdx.x - down * p.across;
    const uint32 share = threadIdx.x / uint32(width), shares = 256u / uint32(width);
    const uint32 column = threadIdx.x - share * width;
    const bool mine = column < there && share < shares;
    const int32 i1 = int32(begin + min(column, there - 1));
    const uint32 first = outer * p.n1 + begin + column;
    alignas(16) __shared__ uint64 room[1088];
    float sum0 = 0.0f;
    {
        const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + begin;
        const uint32 shift = uint32(reinterpret_cast<uint64>(x0_strip + down * p.n1) / 4 % 4);
        const bool active = down < height && vector * 4 < there + shift;
        const float* const x0_from = x0_strip + vector * 4 - shift;
        float held0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float part0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        uint32 tiles = 0;
        const uint32 cut = blockIdx.x + 1 == gridDim.x && (p.folded - 1) / (8 * height) % gridDim.y == blockIdx.y && (vector + 1) * 4 > there + shift;
        const uint32 n = active ? p.folded - cut : 0;
        uint32 k = blockIdx.y * 8 * height + down;
        for (; k < n; k += gridDim.y * 8 * height) {
            alignas(16) float x0[8][4] = {};
            const bool whole = k + 7 * height < n;
            if (whole) {
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    load_stream<uint4>(x0[u], x0_from + (k + u * height) * p.n1);
                }
            } else {
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (k + u * height >= n) break;
                    load_stream<uint4>(x0[u], x0_from + (k + u * height) * p.n1);
                }
            }
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                float value0[8];
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    value0[u] = x0[u][e];
                }
                if (!whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        if (k + u * height >= n) value0[u] = 0.0f;
                    }
                }
                part0[e] = sum_float::join(part0[e], join_pairs<sum_float, 8>(value0));
            }
            if (++tiles % 64 == 0) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    held0[e] = sum_float::join(held0[e], part0[e]);
                    part0[e] = 0.0f;
                }
            }
        }
        if (cut && active && (p.folded - 1 - (blockIdx.y * 8 * height + down)) % height == 0) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (vector * 4 + e >= there + shift) break;
                const float x0 = __ldg(x0_from + (p.folded - 1) * p.n1 + e);
                part0[e] = sum_float::join(part0[e], x0);
            }
        }
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            held0[e] = sum_float::join(held0[e], part0[e]);
        }
        sum0 = join_strip<sum_float, 4>(held0, 0.0f, room, active, width + 2 * 4, down, vector * 4 + 3 - shift, height, mine ? column + 3 : 0, share, shares);
    }
    join_down<sum_float, 1>(&sum0, room, width, share, shares);
    if (gridDim.y > 1) {
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = uint64(p.rows);
        if (!last) {
            if (mine && share == 0) {
                publish(slots + blockIdx.y * stride, p.rows, sum0);
            }
            return;
        }
        share_down<1>(&sum0, room, width, share, shares);
        double whole0 = 0.0;
#pragma unroll 1
        for (uint32 s = share; mine && s < gridDim.y; s += 6 * shares) {
            message<float> taken0[6];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 6; ++u) {
                    const uint64* const part = slots + (s + u * shares < gridDim.y ? s + u * shares : gridDim.y - 1) * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 6; ++u) {
                    if (s + u * shares >= gridDim.y) break;
                    if (s + u * shares == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 6; ++u) {
                if (s + u * shares >= gridDim.y) break;
                uint64* const part = slots + (s + u * shares) * stride;
                whole0 = sum_double::join(whole0, s + u * shares == blockIdx.y ? sum0 : consume(taken0[u], part, p.rows));
            }
        }
        join_down<sum_double, 1>(&whole0, room, width, share, shares);
        sum0 = float(whole0);
    }
    if (mine && share == 0) {
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), sum0);
    }
}
