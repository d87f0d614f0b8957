// cumsum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Exclusive scan over a group of lanes: v[0] of all lanes comes first, then v[1] of all lanes, and so on.
/// Returns the total of the group.
template <class fold, int lanes, class type, int n>
__device__ __forceinline__ type scan_lanes(type (&v)[n], type start, unsigned int lane) {
#pragma unroll
    for (unsigned int far = 1; far < lanes; far *= 2)
#pragma unroll
        for (int u = 0; u < n; ++u) {
            const type left = __shfl_up_sync(0xffffffffu, v[u], far, lanes);
            if (lane >= far) v[u] = fold::join(left, v[u]);
        }
    type so_far = start;
#pragma unroll
    for (int u = 0; u < n; ++u) {
        const type all = __shfl_sync(0xffffffffu, v[u], lanes - 1, lanes);
        const type left = __shfl_up_sync(0xffffffffu, v[u], 1, lanes);
        v[u] = lane == 0 ? so_far : u == 0 ? left : fold::join(so_far, left);
        so_far = u == 0 ? all : fold::join(so_far, all);
    }
    return so_far;
}

/// A slot stores the two halves of a value, each next to a flag bit, so that a reader can check that both
/// halves are present.
template <class type>
__device__ __forceinline__ void publish(uint64* slot, type v) {
    uint64 bits = 0;
    reinterpret_cast<type&>(bits) = v;
    const uint64 low = bits << 32 | 1, high = (bits >> 32) << 32 | 1;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(low), "l"(high) : "memory");
}

template <class type>
__device__ __forceinline__ bool poll(const uint64* slot, type& v) {
    uint64 low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    const uint64 bits = low >> 32 | (high >> 32) << 32;
    v = reinterpret_cast<const type&>(bits);
    return (low & high & 1) != 0;
}

/// Polls the slots of n columns; returns whether all of them are published.
template <class type, int n>
__device__ __forceinline__ bool poll_all(uint64* const (&slots)[n], uint64 back, type (&v)[n]) {
    bool ready = true;
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (slots[e] != nullptr) ready = poll(slots[e] - back, v[e]) && ready;
    return ready;
}

/// Decoupled look-back for n columns: `own` holds the tile's totals and receives the prefix of all earlier
/// tiles. The warp also publishes the tile's status for later tiles. A null slot marks a missing column.
/// Each lane polls one earlier tile of the run; the last lane polls the prefix that ends the previous run.
template <class fold, int words, class type, int n>
__device__ __forceinline__ void before_tile(uint64* const (&slots)[n], uint64 all, uint64 tile, type (&own)[n],
                                            type start) {
    const uint32 lane = threadIdx.x % 32u, number = uint32(tile % 32u);
    type v[1][n], near[n];
    uint64 back[1];
    bool ready[1];
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (lane == e && slots[e] != nullptr && number != 32u - 1) publish(slots[e], own[e]);
#pragma unroll
    for (uint32 i = 0; i < 1; ++i) {
        const bool of_run = i * 32 + lane != 32u - 1;
        back[i] = words * (of_run ? uint64(number - i * 32 - lane) : number + 1 + (all - 1) * 32u);
#pragma unroll
        for (int e = 0; e < n; ++e) v[i][e] = start;
        ready[i] = of_run ? i * 32 + lane >= number : tile < 32u;
    }
    bool waits;
    do {
        waits = false;
#pragma unroll
        for (uint32 i = 0; i < 1; ++i)
            if (!ready[i]) ready[i] = poll_all(slots, back[i], v[i]);
#pragma unroll
        for (uint32 i = 0; i < 1; ++i) waits = waits || (i * 32 + lane != 32u - 1 && !ready[i]);
    } while (waits);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        near[e] = start;
#pragma unroll
        for (uint32 i = 0; i < 1; ++i) {
            type here = i * 32 + lane == 32u - 1 ? start : v[i][e];
#pragma unroll
            for (int to = 1; to < 32; to *= 2)
                here = fold::join(here, __shfl_down_sync(0xffffffffu, here, to));
            near[e] = i == 0 ? here : fold::join(near[e], here);
        }
    }
    while (!ready[1 - 1]) ready[1 - 1] = poll_all(slots, back[1 - 1], v[1 - 1]);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        const type before = fold::join(__shfl_sync(0xffffffffu, v[1 - 1][e], 31),
                                       __shfl_sync(0xffffffffu, near[e], 0));
        if (lane == e && slots[e] != nullptr && number == 32u - 1) publish(slots[e], fold::join(before, own[e]));
        own[e] = before;
    }
}

/// Clears a slot of a run that all its tiles have read. The next run, if any, still reads the last slot, so
/// the last slot of the previous run is cleared instead; the run that `ends` the scan clears both.
template <int words>
__device__ __forceinline__ void clear_slot(uint64* slots, uint64 all, uint64 run, uint64 column, uint32 number, bool ends) {
    uint64* const slot = slots + ((run * all + column) * 32u + number) * words;
    for (int i = 0; i < words; ++i) {
        if (number != 32u - 1 || ends) slot[i] = 0;
        if (number == 32u - 1 && run > 0) (slot - all * 32u * words)[i] = 0;
    }
}

/// Scans the thread totals of each column in `room` exclusively and in place, and stores the prefix of all
/// earlier tiles in `prefixes`. Each warp handles a few columns at a time.
template <class fold, class wide_fold, int words, class type, class wide>
__device__ __forceinline__ void before_columns(type* room, wide* prefixes, const uint32* numbers, uint64* slots,
                                               uint64 all, uint64 tile, uint32 width, uint32 height,
                                               type start, wide wide_start) {
    const uint32 lane = threadIdx.x % 32u;
    const uint32 each = (height + 31) / 32, begin = min(lane * each, height), end = min(begin + each, height);
    for (uint32 c = threadIdx.x / 32u * 2; c < width; c += 16 * 2) {
        wide own[2];
        uint64* own_slots[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            own[e] = wide_start;
            own_slots[e] = nullptr;
            if (c + e >= width || numbers[c + e] == ~uint32(0)) continue;
            own_slots[e] = slots + ((tile / 32u * all + numbers[c + e]) * 32u + tile % 32u) * words;
            type* const v = room + (c + e) * (height | 1);
            type before[1] = {start};
#pragma unroll 1
            for (uint32 i = begin; i < end; ++i) before[0] = fold::join(before[0], v[i]);
            own[e] = wide(scan_lanes<fold, 32>(before, start, lane));
#pragma unroll 1
            for (uint32 i = begin; i < end; ++i) {
                const type here = v[i];
                v[i] = before[0];
                before[0] = fold::join(before[0], here);
            }
        }
        before_tile<wide_fold, words>(own_slots, all, tile, own, wide_start);
#pragma unroll
        for (int e = 0; e < 2; ++e)
            if (lane == e && c + e < width) prefixes[c + e] = own[e];
    }
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    float* z0;
    uint32* scratch;
    uint32 strips;
    uint32 across;
    divisor by_across;
    divisor by_strips;
    uint32 n2;
    uint32 scanned;
    int32 x0_stride0;
    int32 x0_stride3;
    uint32 tiles;
    uint32 rows;
    int32 z0_stride0;
    int32 z0_stride1;
};

extern "C" __global__ void __launch_bounds__(512, 2)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    __shared__ uint32 taken;
    if (threadIdx.x == 0) taken = atomicAdd(p.scratch, 1u);
    __syncthreads();
    const uint32 ticket = taken;
    const uint32 tile = quotient(ticket, p.by_strips), strip = ticket - tile * p.strips;
    const uint32 height = quotient(512u, p.by_across);
    const uint32 down = quotient(threadIdx.x, p.by_across), x = threadIdx.x - down * p.across;
    const uint32 outer = strip, column = x * 4;
    const bool mine = down < height;
    const int32 i0 = int32(outer);
    const uint32 first_column = outer * p.n2 + column;
    const uint32 columns = mine ? min(uint32(4), p.n2 - column) : 0;
    const int32 i2 = int32(column);
    const uint32 first = (tile * height + down) * 13, own_smem_index = down * 13 * p.across + x;
    extern __shared__ uint4 staged[];
    float* const x0_staged = reinterpret_cast<float*>(staged);
#pragma unroll 13
    for (unsigned int u = 0; u < 13; ++u) {
        const uint32 smem_index = u * 512 + threadIdx.x, row = quotient(smem_index, p.by_across);
        const uint32 at = tile * height * 13 + row, column = (smem_index - row * p.across) * 4;
        const bool inside = row < height * 13 && at < p.scanned;
        const uint32 columns = min(uint32(4), p.n2 - column);
        const int32 i1 = int32(at);
        const int32 i2 = int32(column);
        if (inside) {
            if (columns == 4) {
                copy16(x0_staged + smem_index * 4, p.x0 + (i0 * p.x0_stride0 + i2 + i1 * p.x0_stride3));
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const int32 i2 = int32(column + e);
                    (x0_staged + smem_index * 4)[e] = e < columns ? __ldg(p.x0 + (i0 * p.x0_stride0 + i2 + i1 * p.x0_stride3)) : 0.0f;
                }
            }
        } else {
            *reinterpret_cast<uint4*>(x0_staged + smem_index * 4) = {};
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float part0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        part0[e] = -0.0f;
    }
    if (mine) {
#pragma unroll 13
        for (unsigned int u = 0; u < 13; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i1 = int32(at);
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 4);
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                part0[e] = sum_float::join(part0[e], x0[e]);
            }
        }
    }
    const uint32 runs = (p.tiles + 31) / 32 * p.strips, own_run = tile / 32 * p.strips + strip;
    uint64* const slots = reinterpret_cast<uint64*>(p.scratch) + (runs + 5) / 4 * 2;
    __shared__ uint32 numbers[32];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (down == 0) numbers[x * 4 + e] = e < columns ? first_column + e : ~uint32(0);
    }
    __shared__ float room_sum0[2176];
    __shared__ double prefix_sum0[32];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (down < height) room_sum0[(x * 4 + e) * (height | 1) + down] = part0[e];
    }
    __syncthreads();
    before_columns<sum_float, sum_double, 2>(room_sum0, prefix_sum0, numbers, slots, p.rows, tile, p.across * 4, height, -0.0f, -0.0);
    __syncthreads();
    unsigned int arrived = 0;  // tiles of this run that have arrived before this tile
    if (threadIdx.x == 511) {
        __threadfence();
        arrived = atomicAdd(p.scratch + 2 + own_run, 1u);
    }
    float base_sum0[4], sum0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (down < height) base_sum0[e] = float(sum_double::join(prefix_sum0[x * 4 + e], room_sum0[(x * 4 + e) * (height | 1) + down]));
        sum0[e] = -0.0f;
    }
    if (mine) {
#pragma unroll 13
        for (unsigned int u = 0; u < 13; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i1 = int32(at);
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 4);
            alignas(16) float r0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                sum0[e] = sum_float::join(sum0[e], x0[e]);
                const float all_sum0 = sum_float::join(base_sum0[e], sum0[e]);
                r0[e] = all_sum0;
            }
            *reinterpret_cast<uint4*>(x0_staged + smem_index * 4) = reinterpret_cast<const uint4&>(r0);
        }
    }
    __syncthreads();
#pragma unroll 13
    for (unsigned int u = 0; u < 13; ++u) {
        const uint32 smem_index = u * 512 + threadIdx.x, row = quotient(smem_index, p.by_across);
        const uint32 at = tile * height * 13 + row, column = (smem_index - row * p.across) * 4;
        const bool inside = row < height * 13 && at < p.scanned;
        const uint32 columns = min(uint32(4), p.n2 - column);
        const int32 i1 = int32(at);
        const int32 i2 = int32(column);
        if (inside) {
            alignas(16) float r0[4];
            reinterpret_cast<uint4&>(r0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 4);
            if (columns == 4) {
                store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), r0);
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const int32 i2 = int32(column + e);
                    if (e < columns) {
                        __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), r0[e]);
                    }
                }
            }
        }
    }
    __shared__ bool last;  // whether every other tile of the run has read its slots
    if (threadIdx.x == 511) last = arrived == min(31u, uint32(p.tiles - 1 - tile / 32 * 32));
    __syncthreads();
    if (!last) return;
    __threadfence();
    const uint32 run = tile / 32;
    const bool ends = p.tiles - run * 32 <= 32;
    for (uint32 i = down; mine && i < columns * 32; i += height)
        clear_slot<2>(slots, p.rows, run, first_column + i / 32, i % 32, ends);
    if (threadIdx.x != 0) return;
    p.scratch[2 + own_run] = 0;
    if (atomicAdd(p.scratch + 1, 1u) == runs - 1) p.scratch[0] = p.scratch[1] = 0;
}
