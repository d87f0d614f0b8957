// cumprod(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, copy16, prod_double, scan_lanes, publish.2, poll.2, poll_all, before_tile.2, clear_slot.2, before_columns,
//// store

struct arguments {
    const double* x0;
    double* z0;
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

extern "C" __global__ void __launch_bounds__(512, 2)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    __shared__ uint32 taken;
    if (threadIdx.x == 0) taken = atomicAdd(p.scratch, 1u);
    __syncthreads();
    const uint32 ticket = taken;
    const uint32 tile = quotient(ticket, p.by_strips), strip = ticket - tile * p.strips;
    constexpr uint32 height = 64;
    const uint32 down = quotient(threadIdx.x, p.by_across), x = threadIdx.x - down * p.across;
    const uint32 vector = min(strip * p.across + x, p.vectors - 1);
    const bool mine = strip * p.across + x < p.vectors && down < height;
    const uint32 column = vector * 2;
    const uint32 first_column = column;
    const uint32 columns = mine ? min(uint32(2), p.n1 - column) : 0;
    const int32 i1 = int32(column);
    const uint32 first = (tile * height + down) * 13, own_smem_index = down * 13 * p.across + x;
    extern __shared__ uint4 staged[];
    double* const x0_staged = reinterpret_cast<double*>(staged);
    if (columns == 2) {
#pragma unroll 13
        for (unsigned int u = 0; u < 13; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            if (at < p.scanned) {
                copy16(x0_staged + smem_index * 2, p.x0 + (i1 + i0 * p.x0_stride2));
            } else {
                *reinterpret_cast<uint4*>(x0_staged + smem_index * 2) = {};
            }
        }
    }
    if (mine && columns < 2) {
#pragma unroll 1
        for (unsigned int u = 0; u < 13; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            if (at < p.scanned) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    const int32 i1 = int32(column + e);
                    (x0_staged + smem_index * 2)[e] = e < columns ? __ldg(p.x0 + (i1 + i0 * p.x0_stride2)) : 0.0;
                }
            } else {
                *reinterpret_cast<uint4*>(x0_staged + smem_index * 2) = {};
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    double part0[2];
#pragma unroll
    for (unsigned int e = 0; e < 2; ++e) {
        part0[e] = 1.0;
    }
    if (mine) {
#pragma unroll 13
        for (unsigned int u = 0; u < 13; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            alignas(16) double x0[2];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 2);
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                part0[e] = prod_double::join(part0[e], x0[e]);
            }
        }
    }
    const uint32 runs = (p.tiles + 31) / 32 * p.strips, own_run = tile / 32 * p.strips + strip;
    uint64* const slots = reinterpret_cast<uint64*>(p.scratch) + (runs + 5) / 4 * 2;
    __shared__ uint32 numbers[32];
#pragma unroll
    for (unsigned int e = 0; e < 2; ++e) {
        if (down == 0) numbers[x * 2 + e] = e < columns ? first_column + e : ~uint32(0);
    }
    __shared__ double room_prod0[1088];
    __shared__ double prefix_prod0[32];
#pragma unroll
    for (unsigned int e = 0; e < 2; ++e) {
        if (down < height) room_prod0[(x * 2 + e) * (height | 1) + down] = part0[e];
    }
    __syncthreads();
    before_columns<prod_double, prod_double, 2>(room_prod0, prefix_prod0, numbers, slots, p.rows, tile, p.across * 2, height, 1.0, 1.0);
    __syncthreads();
    unsigned int arrived = 0;  // tiles of this run that have arrived before this tile
    if (threadIdx.x == 511) {
        __threadfence();
        arrived = atomicAdd(p.scratch + 2 + own_run, 1u);
    }
    double base_prod0[2], prod0[2];
#pragma unroll
    for (unsigned int e = 0; e < 2; ++e) {
        if (down < height) base_prod0[e] = prod_double::join(prefix_prod0[x * 2 + e], room_prod0[(x * 2 + e) * (height | 1) + down]);
        prod0[e] = 1.0;
    }
    if (columns == 2) {
#pragma unroll 13
        for (unsigned int u = 0; u < 13; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            alignas(16) double x0[2];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 2);
            alignas(16) double r0[2];
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                prod0[e] = prod_double::join(prod0[e], x0[e]);
                const double all_prod0 = prod_double::join(base_prod0[e], prod0[e]);
                r0[e] = all_prod0;
            }
            if (at < p.scanned) {
                store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), r0);
            }
        }
    }
    if (mine && columns < 2) {
#pragma unroll 1
        for (unsigned int u = 0; u < 13; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            alignas(16) double x0[2];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 2);
            alignas(16) double r0[2];
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                prod0[e] = prod_double::join(prod0[e], x0[e]);
                const double all_prod0 = prod_double::join(base_prod0[e], prod0[e]);
                r0[e] = all_prod0;
            }
            if (at < p.scanned) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    const int32 i1 = int32(column + e);
                    if (e < columns) {
                        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0[e]);
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
