// cumsum(x0 * x0) + x1
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

/// Elements that nobody reads again: past the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Makes of each column's v what lies before it in the rows of threads above. Returns, to the threads of the
/// first rows, what all of column number `down` of those that lie here folds to.
template <class fold, class type, int n>
__device__ __forceinline__ type scan_down(type (&v)[n], void* room, type start, uint32 across, uint32 x,
                                          uint32 down, uint32 height) {
    type* const own = static_cast<type*>(room) + threadIdx.x;
#pragma unroll
    for (int e = 0; e < n; ++e) own[e * 256] = v[e];
    for (uint32 far = 1; far < height; far *= 2) {
        __syncthreads();
        type left[n];
#pragma unroll
        for (int e = 0; e < n; ++e) left[e] = down < far ? start : (own - far * across)[e * 256];
        __syncthreads();
#pragma unroll
        for (int e = 0; e < n; ++e)
            if (down >= far) own[e * 256] = v[e] = fold::join(left[e], v[e]);
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < n; ++e) v[e] = down == 0 ? start : (own - across)[e * 256];
    const type all = static_cast<type*>(room)[min(down, uint32(n - 1)) * 256 + (height - 1) * across + x];
    __syncthreads();  // the next fold writes the same place
    return all;
}

/// A slot holds a value's halves, each beside a sign that it is there, so that they are known to belong
/// together.
template <class type>
__device__ __forceinline__ void tell(uint64* slot, type v) {
    uint64 bits = 0;
    reinterpret_cast<type&>(bits) = v;
    const uint64 low = bits << 32 | 1, high = (bits >> 32) << 32 | 1;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(low), "l"(high) : "memory");
}

template <class type>
__device__ __forceinline__ bool ask(const uint64* slot, type& v) {
    uint64 low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    const uint64 bits = low >> 32 | (high >> 32) << 32;
    v = reinterpret_cast<const type&>(bits);
    return (low & high & 1) != 0;
}

/// A row of slots of a thread's columns, into shared memory; waits for them.
template <int words, int n, class type>
__device__ __forceinline__ void ask_row(type* told, const uint64* slot, uint32 columns) {
    type v[n];
    for (bool all = false; !all;) {
        all = true;
#pragma unroll
        for (int e = 0; e < n; ++e)
            if (e < columns) all = ask(slot + e * words, v[e]) && all;
    }
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (e < columns) told[e] = v[e];
}

/// What lies before a tile in each of its columns, into the last of the 32 rows of `told`; tells what others
/// wait for. The thread of column x and row `down` answers for column number `down` of those of its x, which
/// here folds to `own`.
template <class fold, int words, int n, class type>
__device__ __forceinline__ void before_tile(type* told, uint64* first, uint64 further, uint64 tile, type own,
                                            type start, uint32 across, uint32 x, uint32 down, uint32 height,
                                            uint32 columns) {
    const uint32 number = uint32(tile % 256), tiles = number % 16, sixteens = number / 16;
    const uint32 width = across * n;
    uint64* const slot = first + down * words;
    if (down < columns && tiles != 15) tell(slot, own);
    for (uint32 r = down; r < tiles; r += height)
        ask_row<words, n>(told + r * width + x * n, first - (tiles - r) * further, columns);
    __syncthreads();
    type near = start;
    if (down < columns) {
        for (uint32 r = 0; r < tiles; ++r) near = fold::join(near, told[r * width + x * n + down]);
        if (tiles == 15 && sixteens != 15) tell(slot, fold::join(near, own));
    }
    type* const farther = told + 15 * width;
    for (uint32 r = down; r <= sixteens; r += height)
        if (r > 0 || tile >= 256)
            ask_row<words, n>(farther + r * width + x * n, first - (number + 1 - 16 * r) * further, columns);
    __syncthreads();
    if (down < columns) {
        type before = start;
        for (uint32 r = tile < 256 ? 1 : 0; r <= sixteens; ++r)
            before = fold::join(before, farther[r * width + x * n + down]);
        before = fold::join(before, near);
        if (number == 255) tell(slot, fold::join(before, own));
        told[31 * width + x * n + down] = before;
    }
    __syncthreads();
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

/// Elements that are not read soon: first out of the caches.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32* scratch;
    uint32 strips;
    uint32 across;
    divisor by_across;
    divisor by_strips;
    uint32 vectors;
    uint32 n1;
    uint32 scanned;
    int32 x0_stride2;
    uint32 tiles;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 3)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // for what earlier kernels write
    __shared__ uint32 taken;
    if (threadIdx.x == 0) taken = atomicAdd(p.scratch, 1u);
    __syncthreads();
    const uint32 ticket = taken;
    const uint32 tile = quotient(ticket, p.by_strips), strip = ticket - tile * p.strips;
    const uint32 down = quotient(threadIdx.x, p.by_across), x = threadIdx.x - down * p.across;
    constexpr uint32 height = 32;
    const uint32 vector = min(strip * p.across + x, p.vectors - 1);
    const bool mine = strip * p.across + x < p.vectors && down < height;
    const uint32 column = vector * 4;
    const uint32 first_column = column;
    const uint32 columns = mine ? min(uint32(4), p.n1 - column) : 0;
    const int32 i1 = int32(column);
    float x1[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const int32 i1 = int32(column + e);
        if (e < columns) x1[e] = __ldg(p.x1 + i1);
    }
    const uint32 first = (tile * height + down) * 8;
    alignas(16) float x0[8][4];
    if (columns == 4) {
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            const uint32 at = first + u;
            const int32 i0 = int32(at);
            if (at >= p.scanned) break;
            load_stream<uint4>(x0[u], p.x0 + (i1 + i0 * p.x0_stride2));
        }
    } else {
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            const uint32 at = first + u;
            const int32 i0 = int32(at);
            if (at >= p.scanned) break;
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const int32 i1 = int32(column + e);
                if (e < columns) x0[u][e] = __ldg(p.x0 + (i1 + i0 * p.x0_stride2));
            }
        }
    }
    float sum0[8][4];
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0[u][e] = x0[u][e] * x0[u][e];
            if (u > 0) sum0[u][e] = sum_float::join(sum0[u - 1][e], sum0[u][e]);
        }
    }
    alignas(16) __shared__ uint64 room[1024];
    float part0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        part0[e] = sum0[7][e];
    }
    const float whole0 = scan_down<sum_float>(part0, room, 0.0f, p.across, x, down, height);
    const uint32 all256 = (p.tiles + 255) / 256 * p.strips, own256 = tile / 256 * p.strips + strip;
    uint64* const slots = reinterpret_cast<uint64*>(p.scratch) + (all256 + 5) / 4 * 2;
    __shared__ double told_sum0[32 * 32];
    const uint64 further = uint64(p.rows) * 2;
    uint64* const own = slots + (tile * uint64(p.rows) + first_column) * 2;
    before_tile<sum_double, 2, 4>(told_sum0, own, further, tile, double(whole0), 0.0, p.across, x, down, height, columns);
    unsigned int arrived = 0;  // of these 256 tiles, before this one
    if (threadIdx.x == 255) {
        __threadfence();
        arrived = atomicAdd(p.scratch + 2 + own256, 1u);
    }
    float base_sum0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        base_sum0[e] = float(sum_double::join(told_sum0[(31 * p.across + x) * 4 + e], part0[e]));
    }
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
        const uint32 at = first + u;
        const int32 i0 = int32(at);
        if (at >= p.scanned) break;
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float all_sum0 = sum_float::join(base_sum0[e], sum0[u][e]);
            r0[e] = all_sum0 + x1[e];
        }
        if (columns == 4) {
            store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const int32 i1 = int32(column + e);
                if (e < columns) {
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0[e]);
                }
            }
        }
    }
    __shared__ bool last;  // nobody reads the slots of these 256 tiles any more
    if (threadIdx.x == 255) last = arrived == min(255u, uint32(p.tiles - 1 - tile / 256 * 256));
    __syncthreads();
    if (!last) return;
    __threadfence();
    const uint32 start = tile / 256 * 256;
    const bool ends = p.tiles - start <= 256;
    const uint32 end = ends ? p.tiles : start + 255;
    for (uint32 t = (start == 0 ? 0 : start - 1) + down; mine && t < end; t += height) {
        for (unsigned int i = 0; i < columns * 2; ++i) {
            (slots + (t * uint64(p.rows) + first_column) * 2)[i] = 0;
        }
    }
    if (threadIdx.x != 0) return;
    p.scratch[2 + own256] = 0;
    if (atomicAdd(p.scratch + 1, 1u) == all256 - 1) p.scratch[0] = p.scratch[1] = 0;
}
