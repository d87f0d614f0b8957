namespace step1 {
// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
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
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(1024, 1)
step1_reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(1024u, p.by_across);
    const uint32 at = blockIdx.x * p.across + threadIdx.x - down * p.across;
    const bool mine = at < p.vectors && down < height;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const int32 i0 = int32(vector);
    const uint32 first = i0;
    alignas(16) __shared__ uint64 room[1024];
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        const uint32 n = mine ? p.folded : 0, step = gridDim.y * 16 * height;
        uint32 k = blockIdx.y * 16u * height + down;
        do {
            for (uint32 tiles = 0; k < n && tiles < 64; ++tiles, k += step) {
                float x0[16] = {};
                const bool whole = k + 15 * height < n;
                if (whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 16; ++u) {
                        const int32 i1 = int32(k + u * height);
                        x0[u] = __ldg(p.x0 + (i0 + i1 * p.x0_stride1));
                    }
                } else {
#pragma unroll
                    for (unsigned int u = 0; u < 16; ++u) {
                        if (k + u * height >= n) break;
                        const int32 i1 = int32(k + u * height);
                        x0[u] = __ldg(p.x0 + (i0 + i1 * p.x0_stride1));
                    }
                }
                float value0[16];
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    value0[u] = x0[u];
                }
                if (!whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 16; ++u) {
                        if (k + u * height >= n) value0[u] = 0.0f;
                    }
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 16>(value0));
            }
            sum0 = sum_float::join(sum0, part0);
            part0 = 0.0f;
        } while (k < n);
    }
    join_down<sum_float, 1>(&sum0, room, p.across, down, height);
    if (gridDim.y > 1) {
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = uint64(p.rows);
        if (!last) {
            if (mine && down == 0) {
                publish(slots + blockIdx.y * stride, p.rows, sum0);
            }
            return;
        }
        share_down<1>(&sum0, room, p.across, down, height);
        double whole0 = 0.0;
#pragma unroll 1
        for (uint32 s = down; mine && s < gridDim.y; s += 8 * height) {
            message<float> taken0[8];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    const uint64* const part = slots + (s + u * height < gridDim.y ? s + u * height : gridDim.y - 1) * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (s + u * height >= gridDim.y) break;
                    if (s + u * height == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (s + u * height >= gridDim.y) break;
                uint64* const part = slots + (s + u * height) * stride;
                whole0 = sum_double::join(whole0, s + u * height == blockIdx.y ? sum0 : consume(taken0[u], part, p.rows));
            }
        }
        join_down<sum_double, 1>(&whole0, room, p.across, down, height);
        sum0 = float(whole0);
    }
    if (mine && down == 0) {
        __stcs(p.z0 + i0, sum0);
    }
}
}  // namespace step1

namespace step2 {
// x0 / x1
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

__device__ __forceinline__ float rcp_approx(float a) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

__device__ __forceinline__ float quick_divide_float(float a, float b, bool& rare) {
    float r = rcp_approx(b);
    r = fma(r, fma(-b, r, 1.0f), r);
    float q = a * r;
    q = fma(fma(-b, q, a), r, q);
    rare |= !(abs(a) >= 7.88860905e-31f);
    rare |= !(abs(q) >= 2.35098870e-38f);
    return q;
}

__device__ __forceinline__ uint32 bits_of(float a) { return __float_as_uint(a); }

__device__ __forceinline__ float quick_shared_divide_float(float a, float b, bool& rare) {
    bool unusual = false;
    const float q = quick_divide_float(a, b, unusual);
    rare |= unusual && (bits_of(a) != 0 || q != 0);
    return q;
}

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 n1;
    divisor by_n1;
    uint32 groups;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 total;
};

extern "C" __global__ void __launch_bounds__(256)
step2_map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 q = (gridDim.x - 1 - blockIdx.x) * 256u + threadIdx.x;
    if (q >= p.groups * 8u) return;
    const uint32 line = quotient(q, p.by_n1), vector = q - line * p.n1;
    const uint32 first = line / 8u * 32 + line % 8u;  // the thread's first period
    const uint32 shift = uint32(reinterpret_cast<uint64>(p.z0) / 4 % 4);
    const bool x0_fits = p.x0_stride0 == p.n1 && uint32(reinterpret_cast<uint64>(p.x0) / 4 % 4) == shift;
    const bool z0_fits = p.z0_stride0 == p.n1 && uint32(reinterpret_cast<uint64>(p.z0) / 4 % 4) == shift;
    // Rows and columns of the thread's four elements; rows count from one period before the slab.
    int32 row[4], column[4];
    const uint32 begin = (vector + p.n1) * 4 - shift, down = quotient(begin, p.by_n1);
    row[0] = int32(down), column[0] = int32(begin - down * p.n1);
#pragma unroll
    for (int i = 1; i < 4; ++i) {
        const bool ends = uint32(column[i - 1]) + 1 == p.n1;
        row[i] = row[i - 1] + ends, column[i] = ends ? 0 : column[i - 1] + 1;
    }
    alignas(16) float x0[4][4] = {};
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const uint32 period = first + e * 8u, k = (period * p.n1 + vector) * 4 - shift;
        if (x0_fits && k < p.total - 3) {
            load_stream<uint4>(x0[e], p.x0 + k);
        } else {
#pragma unroll
            for (unsigned int i = 0; i < 4; ++i) {
                if (k + i >= p.total) continue;
                const int32 i0 = int32(period * 4) - 4 + row[i], i1 = column[i];
                x0[e][i] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
            }
        }
    }
    float x1[4];
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i) {
        const int32 i1 = column[i];
        x1[i] = __ldg(p.x1 + i1);
    }
    alignas(16) float z0[4][4];
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i) {
        bool rare = false;
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[e][i] = quick_shared_divide_float(x0[e][i], x1[i], rare);
        }
        if (rare) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                z0[e][i] = x0[e][i] / x1[i];
            }
        }
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const uint32 period = first + e * 8u, k = (period * p.n1 + vector) * 4 - shift;
        if (z0_fits && k < p.total - 3) {
            store<uint4>(p.z0 + k, z0[e]);
        } else {
#pragma unroll
            for (unsigned int i = 0; i < 4; ++i) {
                if (k + i >= p.total) continue;
                const int32 i0 = int32(period * 4) - 4 + row[i], i1 = column[i];
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0[e][i]);
            }
        }
    }
}
}  // namespace step2
