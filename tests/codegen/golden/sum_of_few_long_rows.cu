// sqrt(sum(x0))
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

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

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
    const uint64 stride = uint64(p.rows);
    float sum0 = 0.0f;
    float part0 = 0.0f;
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
            sum0 = sum_float::join(sum0, part0);
            sum0 = join_block<sum_float, 16>(sum0);
            if (threadIdx.x == 0) {
                publish(slots + held + publisher * stride, p.rows, sum0);
            }
            if (!is_row) break;
            held = row, publisher = tile;
            sum0 = 0.0f;
            part0 = 0.0f;
        }
        if ((tile + 1) * 4096u <= vectors) {
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
            if (++tiles % 8 == 0) {
                sum0 = sum_float::join(sum0, part0);
                part0 = 0.0f;
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
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
            if (++tiles % 8 == 0) {
                sum0 = sum_float::join(sum0, part0);
                part0 = 0.0f;
            }
        }
        if (edges) {
            part0 = sum_float::join(part0, x0_edge);
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
        double whole0 = 0.0;
        for (uint32 s = threadIdx.x; s < min(row_tiles, uint32(gridDim.y)); s += 512u) {
            message<float> taken0 = {};
            do {
                poll(taken0, slots + result + s * stride, p.rows);
            } while (!(is_there(taken0)));
            whole0 = sum_double::join(whole0, consume(taken0, slots + result + s * stride, p.rows));
        }
        whole0 = join_block<sum_double, 16>(whole0);
        sum0 = float(whole0);
        if (threadIdx.x == 0) {
            __stcs(p.z0 + i0, sqrt(sum0));
        }
    }
    if (last && threadIdx.x == 0) {
        while (poll_slot(p.scratch + 1) < gridDim.y - 1) continue;
        p.scratch[0] = p.scratch[1] = 0;
    }
}
