// cumsum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, copy16, sum_float, scan_lanes, publish.2, poll.2, poll_all, before_tile.2, clear_slot.2, before_columns,
//// sum_double, store

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
