// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// How many elements, their mean (off one of them), and the squares of what each is off it.
template <class type>
struct moments {
    type count, near, mean, squares;
};

struct squares {
    template <class type>
    static __device__ __forceinline__ moments<type> join(moments<type> a, moments<type> b) {
        if (b.count == 0) return a;
        if (a.count == 0) return b;
        const type count = a.count + b.count, share = b.count / count, off = (b.near - a.near) + (b.mean - a.mean);
        return {count, a.near, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
    }
    template <class type, int n>
    static __device__ __forceinline__ moments<type> of(const type (&v)[n], unsigned int present = n) {
        type sum = 0, squares = 0;
#pragma unroll
        for (unsigned int i = 1; i < n; ++i) sum += i < present ? v[i] - v[0] : 0;
        const type mean = sum / present;
#pragma unroll
        for (unsigned int i = 0; i < n; ++i) {
            const type off = v[i] - v[0] - mean;
            squares += i < present ? off * off : 0;
        }
        return {type(present), v[0], mean, squares};
    }
    template <class type>
    static __device__ __forceinline__ type about(moments<type> a, type c) {
        const type off = a.near - c + a.mean;
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

/// Elements that nobody reads again: past the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Joins halves with each other: the error of a sum grows with the logarithm of n.
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n / 2>(v), join_pairs<fold, n / 2>(v + n / 2));
}

/// Joins over the rows of threads, each of n variables; those of the first row have the results.
template <class fold, int n, class type>
__device__ __forceinline__ void join_down(type* v, void* room, uint32 across, uint32 down, uint32 height) {
    type* const own = static_cast<type*>(room) + threadIdx.x * n;
#pragma unroll
    for (int i = 0; i < n; ++i) own[i] = v[i];
    while (height > 1) {
        const uint32 half = (height + 1) / 2;
        __syncthreads();
        if (down + half < height) {
#pragma unroll
            for (int i = 0; i < n; ++i) own[i] = v[i] = fold::join(v[i], own[half * across * n + i]);
        }
        height = half;
    }
    __syncthreads();  // the next fold writes the same place
}

/// A slot of the scratch: written by one block, read and cleared by the one that finishes.
template <class type>
__device__ __forceinline__ void put(uint64* slot, type v) {
    *reinterpret_cast<type*>(slot) = v;
}

template <class type>
__device__ __forceinline__ type take(uint64* slot) {
    const uint64 word = __ldcg(slot);
    *slot = 0;
    return reinterpret_cast<const type&>(word);
}

/// Whether this block is the last of those of its results to come here.
__device__ __forceinline__ bool comes_last(uint32* arrived) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(arrived, 1u) == gridDim.y - 1;
        if (last) *arrived = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

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
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across);
    const uint32 at = blockIdx.x * p.across + threadIdx.x - down * p.across;
    const bool mine = at < p.vectors && down < height;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const uint32 column = vector * 2;
    const uint32 columns = mine ? min(uint32(2), p.n0 - column) : 0;
    const int32 i0 = int32(column);
    const uint32 first = column;
    alignas(16) __shared__ uint64 room[1024];
    float sum0[2] = {0.0f, 0.0f};
    moments<float> squares1[2] = {moments<float>{0, 0, 0, 0}, moments<float>{0, 0, 0, 0}};
    {
        float part0[2] = {0.0f, 0.0f};
        moments<float> part1[2] = {moments<float>{0, 0, 0, 0}, moments<float>{0, 0, 0, 0}};
        uint32 tiles = 0;
        const uint32 n = mine ? p.folded : 0, step = gridDim.y * 8 * height;
        if (columns == 2) {
            for (uint32 k = blockIdx.y * 8u * height + down; k < n; k += step) {
                alignas(8) float x0[8][2];
                unsigned int present = 0;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (k + u * height >= n) break;
                    ++present;
                    const int32 i1 = int32(k + u * height);
                    load_stream<uint2>(x0[u], p.x0 + i0 + i1 * p.x0_stride2);
                }
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    float value0[8];
                    float value1[8];
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        value0[u] = k + u * height < n ? x0[u][e] : 0.0f;
                        value1[u] = k + u * height < n ? x0[u][e] : 0.0f;
                    }
                    part0[e] = sum_float::join(part0[e], join_pairs<sum_float, 8>(value0));
                    part1[e] = squares::join(part1[e], squares::of(value1, present));
                }
                if (++tiles % 64 == 0) {
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        sum0[e] = sum_float::join(sum0[e], part0[e]);
                        part0[e] = 0.0f;
                        squares1[e] = squares::join(squares1[e], part1[e]);
                        part1[e] = moments<float>{0, 0, 0, 0};
                    }
                }
            }
        } else {
            for (uint32 k = blockIdx.y * 8u * height + down; k < n; k += step) {
                for (uint32 u = 0; u < 8 && k + u * height < n; ++u) {
                    const uint32 at = k + u * height;
                    const int32 i1 = int32(at);
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        if (e >= columns) break;
                        const int32 i0 = int32(column + e);
                        const float x0 = __ldg(p.x0 + i0 + i1 * p.x0_stride2);
                        part0[e] = sum_float::join(part0[e], x0);
                        part1[e] = squares::join(part1[e], squares::of<float, 1>({x0}));
                    }
                }
            }
        }
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            sum0[e] = sum_float::join(sum0[e], part0[e]);
            squares1[e] = squares::join(squares1[e], part1[e]);
        }
    }
    join_down<sum_float, 2>(sum0, room, p.across, down, height);
    join_down<squares, 2>(squares1, room, p.across, down, height);
    if (gridDim.y > 1) {
        uint64* const slots = p.scratch + p.rows + first;
        const uint64 stride = 5 * uint64(p.rows);
        if (mine && down == 0) {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                if (e >= columns) break;
                put(slots + blockIdx.y * stride + e, sum0[e]);
                put(slots + blockIdx.y * stride + e + p.rows, squares1[e].count);
                put(slots + blockIdx.y * stride + e + 2 * p.rows, squares1[e].near);
                put(slots + blockIdx.y * stride + e + 3 * p.rows, squares1[e].mean);
                put(slots + blockIdx.y * stride + e + 4 * p.rows, squares1[e].squares);
            }
            __threadfence();
        }
        if (!comes_last(reinterpret_cast<uint32*>(p.scratch + blockIdx.x))) return;
        double whole0[2] = {0.0, 0.0};
#pragma unroll 4
        for (uint32 s = down; mine && s < gridDim.y; s += height) {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                if (e >= columns) break;
                whole0[e] = sum_double::join(whole0[e], take<float>(slots + s * stride + e));
            }
        }
        join_down<sum_double, 2>(whole0, room, p.across, down, height);
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            sum0[e] = float(whole0[e]);
        }
        moments<float> whole1[2] = {moments<float>{0, 0, 0, 0}, moments<float>{0, 0, 0, 0}};
#pragma unroll 4
        for (uint32 s = down; mine && s < gridDim.y; s += height) {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                if (e >= columns) break;
                whole1[e] = squares::join(whole1[e], moments<float>{take<float>(slots + s * stride + e + p.rows), take<float>(slots + s * stride + e + 2 * p.rows), take<float>(slots + s * stride + e + 3 * p.rows), take<float>(slots + s * stride + e + 4 * p.rows)});
            }
        }
        join_down<squares, 2>(whole1, room, p.across, down, height);
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            squares1[e] = whole1[e];
        }
    }
    if (mine && down == 0) {
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            if (e >= columns) break;
            const int32 i0 = int32(column + e);
            const float t0 = sum0[e] / p.s0;
            const float t1 = squares::about(squares1[e], t0);
            __stcs(p.z0 + i0, t1 / p.s1);
        }
    }
}
