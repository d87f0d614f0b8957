// sum(square(x0 - sum(x0) / s0)) / s1
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
__device__ __forceinline__ double2 stream(const double2* from) {
    double2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(w.x), "=d"(w.y) : "l"(from));
    return w;
}

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

/// Combines one value per thread of the block; every thread gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_block_at_once(type v) {
    __shared__ type warps[n];
    v = fold::template join_lanes<32>(v);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = fold::template join_lanes<n>(warps[threadIdx.x % n]);
    __syncthreads();  // the next reduction overwrites the same shared memory
    return v;
}

struct arguments {
    const double* x0;
    double* z0;
    double s0;
    double s1;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32* const counters = reinterpret_cast<uint32*>(p.scratch);
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(counters + 1, gridDim.y - 1);
    if (gridDim.y > 1 && threadIdx.x == 0) atomicAdd(counters, 2u);
    uint32 found = 0;  // the first counter's value when this block is about to end
    uint64* const slots = p.scratch + 2;
    const uint64 stride = 8 * uint64(p.rows);
    moments<double> squares0 = moments<double>{0, 0, 0, 0};
    sums_near<double> part0 = sums_near<double>{0, 0, 0, 0};
    uint32 tiles = 0;
    const uint32 row_tiles = (p.folded + 4095u) / 4096;
    uint32 row = 0, tile = blockIdx.y;
    for (; tile >= row_tiles; tile -= row_tiles) ++row;
    uint32 held = row, publisher = tile;  // the row in progress, and this block's first tile of it
    while (true) {
        const int32 i0 = int32(row);
        const uint32 head = min(p.folded, uint32(-(reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 8) % 16));
        const bool is_row = row < p.rows;
        const uint32 vectors = is_row ? (p.folded - head) / 2 : 0;
        const uint32 edge = threadIdx.x < head ? threadIdx.x : threadIdx.x + vectors * 2;
        const bool edges = is_row && tile == 0 && threadIdx.x < p.folded - vectors * 2;
        double x0_edge;
        if (edges) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const double* const x0_row = p.x0 + i0 * p.x0_stride0 + head;
        const uint32 v = tile * 2048u + threadIdx.x;
        alignas(16) double x0[8][2];
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            if (v + u * 256u >= vectors) continue;
            load_stream<double2>(x0[u], x0_row + v * 2 + u * 512u);
        }
        uint32 next = row, next_tile = tile + gridDim.y;
        for (; next_tile >= row_tiles; next_tile -= row_tiles) ++next;
        if (is_row && next >= p.rows && gridDim.y > 1 && threadIdx.x == 0) found = atomicMax(counters, 2 * gridDim.y - 1);
        if (row != held) {
            squares0 = squares::join(squares0, squares::of_part(part0));
            squares0 = join_block_at_once<squares, 8>(squares0);
            if (threadIdx.x == 0) {
                publish(slots + held + publisher * stride, p.rows, squares0);
            }
            if (!is_row) break;
            held = row, publisher = tile;
            squares0 = moments<double>{0, 0, 0, 0};
            part0 = sums_near<double>{0, 0, 0, 0};
        }
        if ((tile + 1) * 2048u <= vectors) {
            double value0[16];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[u * 2 + e] = x0[u][e];
                }
            }
            part0 = squares::with(part0, value0);
            if (++tiles % 8 == 0) {
                squares0 = squares::join(squares0, squares::of_part(part0));
                part0 = sums_near<double>{0, 0, 0, 0};
            }
        } else {
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 256u >= vectors) break;
                double value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = squares::with(part0, value0);
            }
            if (++tiles % 8 == 0) {
                squares0 = squares::join(squares0, squares::of_part(part0));
                part0 = sums_near<double>{0, 0, 0, 0};
            }
        }
        if (edges) {
            part0 = squares::with<double, 1>(part0, {x0_edge});
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
        moments<double> whole0 = moments<double>{0, 0, 0, 0};
        for (uint32 s = threadIdx.x; s < min(row_tiles, uint32(gridDim.y)); s += 256u) {
            message<moments<double>> taken0 = {};
            do {
                poll(taken0, slots + result + s * stride, p.rows);
            } while (!(is_there(taken0)));
            whole0 = squares::join(whole0, consume(taken0, slots + result + s * stride, p.rows));
        }
        whole0 = join_block_at_once<squares, 8>(whole0);
        squares0 = whole0;
        if (threadIdx.x == 0) {
            const double t0 = squares::about_share(squares0, p.s0);
            __stcs(p.z0 + i0, t0 / p.s1);
        }
    }
    if (last && threadIdx.x == 0) {
        while (poll_slot(p.scratch + 1) < gridDim.y - 1) continue;
        p.scratch[0] = p.scratch[1] = 0;
    }
}
