// min(x0); count_nonzero(x0)
using uint16 = unsigned short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// Computes the minimum of elements packed in words, by 16-bit pairs.
struct least_uint16 {
    static constexpr unsigned int start = 4294967295u;
    template <int n>
    static __device__ __forceinline__ void take(unsigned int (&packed)[2], const uint16 (&v)[n]) {
        const unsigned int* const words = reinterpret_cast<const unsigned int*>(v);
#pragma unroll
        for (int i = 0; i < n / 2; ++i) {
            packed[0] = __vminu2(packed[0], words[i]);
        }
    }
    static __device__ __forceinline__ uint16 join(uint16 a, uint16 b) { return a < b ? a : b; }
    static __device__ __forceinline__ uint16 whole(const unsigned int (&packed)[2]) {
        return join(uint16(packed[0]), uint16(packed[0] >> 16));
    }
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

struct count_nonzero_int64 {
    static __device__ __forceinline__ int64 join(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
};

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

struct min_uint16 {
    static __device__ __forceinline__ uint16 join(uint16 a, uint16 b) { return b < a ? b : a; }
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

#if __CUDA_ARCH__ >= 800
template <>
__device__ __forceinline__ uint16 join_lanes<min_uint16, 32>(uint16 v) {
    return uint16(__reduce_min_sync(~0u, uint32(v)));
}
#endif

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
    const uint16* x0;
    uint16* z0;
    int64* z1;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    uint16 min0 = uint16(~0ull);
    int64 count_nonzero1 = int64(0);
    {
        uint16 part0 = uint16(~0ull);
        int64 part1 = int64(0);
        const uint32 vectors = p.folded / 8;
        const uint32 edge = vectors * 8 + threadIdx.x;
        uint16 x0_edge;
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 8) {
            const int32 i0 = int32(edge);
            x0_edge = __ldg(p.x0 + i0);
        }
        const uint16* const x0_row = p.x0;
        unsigned int packed0[2] = {least_uint16::start, least_uint16::start};
        const uint32 round = gridDim.y * 4096u;
        const bool deals = gridDim.y > 1 && vectors >= 6 * round;
        const uint32 even = deals ? vectors - vectors / 16 - 2 * round : vectors;
        uint32 rounds = 0;
        for (; rounds + round <= even; rounds += round) {
            const uint32 v = rounds + blockIdx.y * 4096u + threadIdx.x;
            alignas(16) uint16 x0[8][8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 8 + u * 4096u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                least_uint16::take(packed0, x0[u]);
                int64 value1[8];
#pragma unroll
                for (unsigned int e = 0; e < 8; ++e) {
                    value1[e] = int64((x0[u][e]) != 0);
                }
                part1 = count_nonzero_int64::join(part1, join_pairs<count_nonzero_int64, 8>(value1));
            }
        }
        const uint32 piece = deals ? 4096u : ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
        __shared__ uint32 dealt_piece[2];
        for (uint32 at = blockIdx.y, turn = 0; at * piece < vectors - rounds; turn ^= 1) {
            const uint32 v = rounds + at * piece + threadIdx.x, end = min(vectors, rounds + (at + 1) * piece);
            uint32 number = at;
            if (deals && threadIdx.x == 0) number = atomicInc(reinterpret_cast<uint32*>(p.scratch) + 1, 0x7fffffffu);
            if (v < end) {
                alignas(16) uint16 x0[8][8];
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) continue;
                    load_stream<uint4>(x0[u], x0_row + v * 8 + u * 4096u);
                }
                if (threadIdx.x == 0) dealt_piece[turn] = gridDim.y + number;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) break;
                    least_uint16::take(packed0, x0[u]);
                    int64 value1[8];
#pragma unroll
                    for (unsigned int e = 0; e < 8; ++e) {
                        value1[e] = int64((x0[u][e]) != 0);
                    }
                    part1 = count_nonzero_int64::join(part1, join_pairs<count_nonzero_int64, 8>(value1));
                }
            }
            __syncthreads();
            at = dealt_piece[turn];
        }
        part0 = min_uint16::join(part0, least_uint16::whole(packed0));
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 8) {
            part0 = min_uint16::join(part0, x0_edge);
            part1 = count_nonzero_int64::join(part1, int64((x0_edge) != 0));
        }
        min0 = min_uint16::join(min0, part0);
        count_nonzero1 = count_nonzero_int64::join(count_nonzero1, part1);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        min0 = join_block<min_uint16, 16>(min0);
        count_nonzero1 = join_block<count_nonzero_int64, 16>(count_nonzero1);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x;
        const uint64 stride = 3 * uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, min0);
                publish(slots + blockIdx.y * stride + p.rows, p.rows, count_nonzero1);
            }
            return;
        }
        uint16 whole0 = uint16(~0ull);
        int64 whole1 = int64(0);
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 1 * 512u) {
            message<uint16> taken0[1];
            message<int64> taken1[1];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    const uint64* const part = slots + s * stride;
                    poll(taken0[u], part, p.rows);
                    poll(taken1[u], part + 1 * uint64(p.rows), p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    if (s == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                    waits = waits || !is_there(taken1[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                uint64* const part = slots + s * stride;
                whole0 = min_uint16::join(whole0, s == blockIdx.y ? min0 : consume(taken0[u], part, p.rows));
                whole1 = count_nonzero_int64::join(whole1, s == blockIdx.y ? count_nonzero1 : consume(taken1[u], part + 1 * uint64(p.rows), p.rows));
            }
        }
        __syncthreads();  // each thread has polled some blocks only; the others may still take pieces
        if (threadIdx.x == 0) reinterpret_cast<uint32*>(p.scratch)[1] = 0;
        min0 = whole0;
        count_nonzero1 = whole1;
    }
    if (threadIdx.x == 0) {
        __stcs(p.z0, min0);
        __stcs(p.z1, count_nonzero1);
    }
}
