// argmax(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// An element and its index in the row.
struct indexed_float {
    float value;
    int64 at;
};

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

/// Combines two elements; the second has the greater index.
struct ordered_argmax_float {
    static __device__ __forceinline__ indexed_float join(indexed_float a, indexed_float b) { return !(b.value <= a.value) && a.value == a.value ? b : a; }
};

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

struct argmax_float {
    static __device__ __forceinline__ indexed_float join(indexed_float a, indexed_float b) {
        const bool alike = a.value == b.value || (a.value != a.value && b.value != b.value);
        return (alike ? a.at < b.at : a.value > b.value || a.value != a.value) ? a : b;
    }
};

/// Returns the value of the lane whose index is this lane's XOR `far`.
template <class type>
__device__ __forceinline__ type from_lane(type v, int far) {
    return __shfl_xor_sync(0xffffffffu, v, far);
}

__device__ __forceinline__ indexed_float from_lane(indexed_float v, int far) {
    return {from_lane(v.value, far), from_lane(v.at, far)};
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

struct arguments {
    const float* x0;
    int64* z0;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    indexed_float argmax0 = indexed_float{-__int_as_float(0x7f800000), int64(0)};
    {
        indexed_float part0 = indexed_float{-__int_as_float(0x7f800000), int64(0)};
        const uint32 vectors = p.folded / 4;
        const uint32 edge = vectors * 4 + threadIdx.x;
        float x0_edge;
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 4) {
            const int32 i0 = int32(edge);
            x0_edge = __ldg(p.x0 + i0);
        }
        const float* const x0_row = p.x0;
        const uint32 round = gridDim.y * 4096u;
        const bool deals = gridDim.y > 1 && vectors >= 6 * round;
        const uint32 even = deals ? vectors - vectors / 16 - 2 * round : vectors;
        uint32 rounds = 0;
        for (; rounds + round <= even; rounds += round) {
            const uint32 v = rounds + blockIdx.y * 4096u + threadIdx.x;
            alignas(16) float x0[8][4];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                indexed_float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = indexed_float{x0[u][e], int64((v + u * 512u) * 4 + e)};
                }
                part0 = ordered_argmax_float::join(part0, join_pairs<ordered_argmax_float, 4>(value0));
            }
        }
        const uint32 piece = deals ? 4096u : ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
        __shared__ uint32 dealt_piece[2];
        for (uint32 at = blockIdx.y, turn = 0; at * piece < vectors - rounds; turn ^= 1) {
            const uint32 v = rounds + at * piece + threadIdx.x, end = min(vectors, rounds + (at + 1) * piece);
            uint32 number = at;
            if (deals && threadIdx.x == 0) number = atomicInc(reinterpret_cast<uint32*>(p.scratch) + 1, 0x7fffffffu);
            if (v < end) {
                alignas(16) float x0[8][4];
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) continue;
                    load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
                }
                if (threadIdx.x == 0) dealt_piece[turn] = gridDim.y + number;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) break;
                    indexed_float value0[4];
#pragma unroll
                    for (unsigned int e = 0; e < 4; ++e) {
                        value0[e] = indexed_float{x0[u][e], int64((v + u * 512u) * 4 + e)};
                    }
                    part0 = ordered_argmax_float::join(part0, join_pairs<ordered_argmax_float, 4>(value0));
                }
            }
            __syncthreads();
            at = dealt_piece[turn];
        }
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 4) {
            part0 = argmax_float::join(part0, indexed_float{x0_edge, int64(edge)});
        }
        argmax0 = argmax_float::join(argmax0, part0);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        argmax0 = join_block<argmax_float, 16>(argmax0);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x;
        const uint64 stride = 4 * uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, argmax0);
            }
            return;
        }
        indexed_float whole0 = indexed_float{-__int_as_float(0x7f800000), int64(0)};
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 1 * 512u) {
            message<indexed_float> taken0[1];
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
                whole0 = argmax_float::join(whole0, s == blockIdx.y ? argmax0 : consume(taken0[u], part, p.rows));
            }
        }
        __syncthreads();  // each thread has polled some blocks only; the others may still take pieces
        if (threadIdx.x == 0) reinterpret_cast<uint32*>(p.scratch)[1] = 0;
        argmax0 = whole0;
    }
    if (threadIdx.x == 0) {
        __stcs(p.z0, argmax0.at);
    }
}
