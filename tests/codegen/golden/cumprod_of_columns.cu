// cumprod(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

struct prod_double {
    static __device__ __forceinline__ double join(double a, double b) { return a * b; }
};

/// What lies before a warp; `all`: what the block folds to. Warp w's part stands at w * step.
template <class fold, int warps, int step, class type>
__device__ __forceinline__ type scan_warps(const type* parts, type start, unsigned int warp, type& all) {
    type before = start;
    all = start;
#pragma unroll
    for (unsigned int w = 0; w < warps; ++w) {
        if (w == warp) before = all;
        all = fold::join(all, parts[w * step]);
    }
    return before;
}

/// What a tile has told: what it folds to, or all up to its end. A value's halves each have the state
/// beside them, so that they are known to belong together.
enum state : uint32 { nothing_told, part_told, all_told };

template <class type>
__device__ __forceinline__ void tell(uint64* slot, state what, type v) {
    uint64 bits = 0;
    reinterpret_cast<type&>(bits) = v;
    const uint64 low = bits << 32 | what, high = (bits >> 32) << 32 | what;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(low), "l"(high) : "memory");
}

template <class type>
__device__ __forceinline__ state ask(const uint64* slot, type& v) {
    uint64 low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    const uint64 bits = low >> 32 | (high >> 32) << 32;
    v = reinterpret_cast<const type&>(bits);
    return uint32(low) == uint32(high) ? state(uint32(low)) : nothing_told;
}

/// All that lies before a tile, which itself folds to `own`: lane i asks the tile i + 1 before it, until one of
/// them has told all and those after it their parts, which are folded from the left.
template <class fold, class type>
__device__ __forceinline__ type look_back(uint64* slot, uint64 further, uint64 tile, uint32 lane, type own,
                                          type start) {
    type so_far;
    for (;;) {
        type v = start;
        const state what = lane < tile ? ask(slot - (lane + 1) * further, v) : all_told;
        const uint32 told = __ballot_sync(0xffffffffu, what != nothing_told);
        const uint32 all = __ballot_sync(0xffffffffu, what == all_told);
        const int nearest = __ffs(all) - 1;
        if (nearest < 0 || (~told & ((1u << nearest) - 1)) != 0) continue;
        so_far = __shfl_sync(0xffffffffu, v, nearest);
        for (int i = nearest - 1; i >= 0; --i)
            so_far = fold::join(so_far, __shfl_sync(0xffffffffu, v, i));
        break;
    }
    if (lane == 0) tell(slot, all_told, fold::join(so_far, own));
    return so_far;
}

struct arguments {
    const double* x0;
    double* z0;
    uint64* scratch;
    uint32 n1;
    divisor by_strips;
    uint32 strips;
    uint32 scanned;
    int32 x0_stride2;
    uint32 tiles;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(512, 2)
scan(const __grid_constant__ arguments p) {
    __shared__ uint32 taken;
    if (threadIdx.x == 0) taken = atomicAdd(reinterpret_cast<uint32*>(p.scratch), 1u);
    __syncthreads();
    const uint32 ticket = taken;
    const uint32 lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32 tile = quotient(ticket, p.by_strips);
    const uint32 strip = ticket - tile * p.strips;
    const uint32 column = strip * 32u, first_row = column;
    const bool active = column + lane < p.n1;
    const int32 i1 = int32(active ? column + lane : p.n1 - 1);
    const uint32 first = tile * 256u + warp * 16u;
    double x0[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = first + u;
        const int32 i0 = int32(at);
        x0[u] = at < p.scanned ? __ldg(p.x0 + i1 + i0 * p.x0_stride2) : 0.0;
    }
    double prod0[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        prod0[u] = x0[u];
    }
#pragma unroll
    for (unsigned int u = 1; u < 16; ++u) {
        prod0[u] = prod_double::join(prod0[u - 1], prod0[u]);
    }
    __shared__ double parts_prod0[512];
    parts_prod0[threadIdx.x] = prod0[15];
    __syncthreads();
    double whole0;
    const double ahead_prod0 = scan_warps<prod_double, 16, 32>(parts_prod0 + lane, 1.0, warp, whole0);
    const uint64 further = uint64(p.rows) * 2;
    uint64* const slots = p.scratch + 2 + 2 * uint64(p.strips) + uint64(first_row) * 2;
    __shared__ double told_prod0[32];
    for (uint32 c = warp; c < 32 && column + c < p.n1; c += 16) {
        uint64* const slot = slots + c * 2 + tile * further;
        const double own_prod0 = __shfl_sync(0xffffffffu, whole0, c);
        if (lane == 0) tell(slot, part_told, own_prod0);
    }
    for (uint32 c = warp; c < 32 && column + c < p.n1; c += 16) {
        uint64* const slot = slots + c * 2 + tile * further;
        const double own_prod0 = __shfl_sync(0xffffffffu, whole0, c);
        const double before_prod0 = look_back<prod_double>(slot, further, tile, lane, own_prod0, 1.0);
        if (lane == 0) told_prod0[c] = before_prod0;
    }
    __syncthreads();
    __shared__ bool last;  // tile of the strip: nobody looks back any more
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(reinterpret_cast<uint32*>(p.scratch + 2 + 2 * strip), 1u) == p.tiles - 1;
        __threadfence();
    }
    const double base_prod0 = prod_double::join(told_prod0[lane], ahead_prod0);
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = first + u;
        const int32 i0 = int32(at);
        const double all_prod0 = prod_double::join(base_prod0, prod0[u]);
        if (active && at < p.scanned) {
            __stcs(p.z0 + i0 * p.z0_stride0 + i1, all_prod0);
        }
    }
    __syncthreads();
    if (!last || !active) return;
    for (uint32 t = warp; t < p.tiles; t += 16)
        for (uint32 w = 0; w < 2; ++w) slots[t * further + lane * 2 + w] = 0;
    if (threadIdx.x != 0) return;
    p.scratch[2 + 2 * strip] = 0;
    if (atomicAdd(reinterpret_cast<uint32*>(p.scratch + 1), 1u) == p.strips - 1) p.scratch[0] = p.scratch[1] = 0;
}
