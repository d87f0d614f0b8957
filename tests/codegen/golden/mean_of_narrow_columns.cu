// sum(x0) / s0
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
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

/// Locates this thread's column among the vectors of its group of threads.
struct run_of_columns {
    uint32 width, column, down, height, head, tail, edges, first_thread;
    divisor by_width;
};

/// Regroups the partial results of the threads, n variables and an edge element each, by column. The
/// `height` threads of a column return one part of its result each.
template <class fold, int n, int threads, class type>
__device__ __forceinline__ type join_run(const type* v, type edge, type start, void* room, run_of_columns run) {
    type* const cells = static_cast<type*>(room);
    type* const edges = cells + n * threads;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < n; ++i) cells[threadIdx.x * n + i] = v[i];
    edges[threadIdx.x] = edge;
    __syncthreads();
    if (run.down >= run.height) return start;
    const uint32 shift = run.head - quotient(run.head, run.by_width) * run.width;
    const uint32 first = run.column < shift ? run.column + run.width - shift : run.column - shift;
    const type* const own = cells + run.first_thread * n + first;
    type parts[n];
#pragma unroll
    for (int i = 0; i < n; ++i) parts[i] = own[(run.down + i * run.height) * run.width];
    type all = join_pairs<fold, 4>(parts);
    for (uint32 i = 0; run.down == 0 && i < run.edges; ++i) {
        const uint32 at = i < run.head ? i : i + run.tail;
        if (at - quotient(at, run.by_width) * run.width == run.column)
            all = fold::join(all, edges[run.first_thread + i]);
    }
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

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

/// Returns the value of the lane whose index is this lane's XOR `far`.
template <class type>
__device__ __forceinline__ type from_lane(type v, int far) {
    return __shfl_xor_sync(0xffffffffu, v, far);
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

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    float s0;
    uint32 width;
    divisor by_width;
    uint32 n0;
    uint32 cells;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 most = quotient(512u, p.by_width), height = most > 8 ? most - (most & p.width & 1) : most;
    const uint32 active = height * p.width, lane = threadIdx.x;
    const uint32 down = quotient(lane, p.by_width);
    const bool mine = down < height;
    const int32 i0 = int32((lane - quotient(lane, p.by_width) * p.width));
    const uint32 first = i0;
    alignas(16) __shared__ uint64 room[2560];
    uint32* const counters = reinterpret_cast<uint32*>(p.scratch);
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(counters + 1, gridDim.y - 1);
    if (gridDim.y > 1 && threadIdx.x == 0) atomicAdd(counters, 2u);
    uint32 found = 0;  // the first counter's value when this block is about to end
    uint64* const slots = p.scratch + 2;
    const uint64 stride = uint64(p.rows);
    float sum0 = 0.0f;
    {
        const float* const x0_run = p.x0;
        const uint32 head = min(p.cells, uint32(-(reinterpret_cast<uint64>(x0_run) / 4) % 4));
        const uint32 vectors = (p.cells - head) / 4, edges = p.cells - vectors * 4;
        float edge0 = 0.0f;
        if (blockIdx.y == 0 && mine && lane < edges) {
            const uint32 at = lane < head ? lane : lane + vectors * 4;
            const float x0 = x0_run[at];
            edge0 = x0;
        }
        const float* const x0_from = x0_run + head;
        float held0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float part0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        uint32 tiles = 0;
        const uint32 round = gridDim.y * 8 * active, rounds = vectors / round * round;
        uint32 k = blockIdx.y * 8 * active + lane, end = mine ? rounds : 0;
        for (bool of_round = true; of_round; k += round) {
            if (k >= end) {
                if (gridDim.y > 1 && threadIdx.x == 0) found = atomicMax(counters, 2 * gridDim.y - 1);
                const uint32 pieces = gridDim.y * p.width, piece = (vectors - rounds + pieces - 1) / pieces * p.width;
                of_round = false, k = rounds + blockIdx.y * piece + lane;
                end = mine ? min(vectors, rounds + (blockIdx.y + 1) * piece) : 0;
            }
            if (k < end) {
                alignas(16) float x0[8][4] = {};
                const bool whole = k + 7 * active < end;
                if (whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        load_stream<uint4>(x0[u], x0_from + (k + u * active) * 4);
                    }
                } else {
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        if (k + u * active >= end) break;
                        load_stream<uint4>(x0[u], x0_from + (k + u * active) * 4);
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
                            if (k + u * active >= end) value0[u] = 0.0f;
                        }
                    }
                    part0[e] = sum_float::join(part0[e], join_pairs<sum_float, 8>(value0));
                }
            }
            if (++tiles % 64 == 0 || !of_round) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    held0[e] = sum_float::join(held0[e], part0[e]);
                    part0[e] = 0.0f;
                }
            }
        }
        const run_of_columns run{p.width, (lane - quotient(lane, p.by_width) * p.width), down, height, head, vectors * 4, edges, 0, p.by_width};
        sum0 = join_run<sum_float, 4, 512>(held0, edge0, 0.0f, room, run);
    }
    join_down<sum_float, 1>(&sum0, room, p.width, down, height);
    if (gridDim.y > 1) {
        if (mine && down == 0) {
            publish(slots + first + blockIdx.y * stride, p.rows, sum0);
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
            double whole0 = 0.0;
            for (uint32 s = threadIdx.x; s < gridDim.y; s += 512u) {
                message<float> taken0 = {};
                do {
                    poll(taken0, slots + result + s * stride, p.rows);
                } while (!(is_there(taken0)));
                whole0 = sum_double::join(whole0, consume(taken0, slots + result + s * stride, p.rows));
            }
            whole0 = join_block<sum_double, 16>(whole0);
            sum0 = float(whole0);
            if (threadIdx.x == 0) {
                __stcs(p.z0 + i0, sum0 / p.s0);
            }
        }
        if (last && threadIdx.x == 0) {
            while (poll_slot(p.scratch + 1) < gridDim.y - 1) continue;
            p.scratch[0] = p.scratch[1] = 0;
        }
        return;
    }
    if (mine && down == 0) {
        __stcs(p.z0 + i0, sum0 / p.s0);
    }
}
