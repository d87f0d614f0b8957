// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, stream, stream.2, load_stream, sum_float, join_pairs, join_strip, join_down, message, poll_slot, publish,
//// poll, is_there, consume, share_down, sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 n1;
    uint32 across;
    divisor by_across;
    divisor by_strips;
    uint32 strips;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 outer = quotient(blockIdx.x, p.by_strips);
    const int32 i0 = int32(outer);
    const uint32 width = (p.across - 1) * 4, begin = (blockIdx.x - outer * p.strips) * width, there = min(width, p.n1 - begin);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across) & ~3u;
    const uint32 vector = threadIdx.x - down * p.across;
    const uint32 share = threadIdx.x / uint32(width), shares = 256u / uint32(width);
    const uint32 column = threadIdx.x - share * width;
    const bool mine = column < there && share < shares;
    const int32 i1 = int32(begin + min(column, there - 1));
    const uint32 first = outer * p.n1 + begin + column;
    alignas(16) __shared__ uint64 room[1088];
    float sum0 = 0.0f;
    {
        const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + begin;
        const uint32 shift = uint32(reinterpret_cast<uint64>(x0_strip + down * p.n1) / 4 % 4);
        const bool active = down < height && vector * 4 < there + shift;
        const float* const x0_from = x0_strip + vector * 4 - shift;
        float held0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float part0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        uint32 tiles = 0;
        const uint32 cut = blockIdx.x + 1 == gridDim.x && (p.folded - 1) / (8 * height) % gridDim.y == blockIdx.y && (vector + 1) * 4 > there + shift;
        const uint32 n = active ? p.folded - cut : 0;
        uint32 k = blockIdx.y * 8 * height + down;
        for (; k < n; k += gridDim.y * 8 * height) {
            alignas(16) float x0[8][4] = {};
            const bool whole = k + 7 * height < n;
            if (whole) {
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    load_stream<uint4>(x0[u], x0_from + (k + u * height) * p.n1);
                }
            } else {
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (k + u * height >= n) break;
                    load_stream<uint4>(x0[u], x0_from + (k + u * height) * p.n1);
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
                        if (k + u * height >= n) value0[u] = 0.0f;
                    }
                }
                part0[e] = sum_float::join(part0[e], join_pairs<sum_float, 8>(value0));
            }
            if (++tiles % 64 == 0) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    held0[e] = sum_float::join(held0[e], part0[e]);
                    part0[e] = 0.0f;
                }
            }
        }
        if (cut && active && (p.folded - 1 - (blockIdx.y * 8 * height + down)) % height == 0) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (vector * 4 + e >= there + shift) break;
                const float x0 = __ldg(x0_from + (p.folded - 1) * p.n1 + e);
                part0[e] = sum_float::join(part0[e], x0);
            }
        }
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            held0[e] = sum_float::join(held0[e], part0[e]);
        }
        sum0 = join_strip<sum_float, 4>(held0, 0.0f, room, active, width + 2 * 4, down, vector * 4 + 3 - shift, height, mine ? column + 3 : 0, share, shares);
    }
    join_down<sum_float, 1>(&sum0, room, width, share, shares);
    if (gridDim.y > 1) {
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = uint64(p.rows);
        if (!last) {
            if (mine && share == 0) {
                publish(slots + blockIdx.y * stride, p.rows, sum0);
            }
            return;
        }
        share_down<1>(&sum0, room, width, share, shares);
        double whole0 = 0.0;
#pragma unroll 1
        for (uint32 s = share; mine && s < gridDim.y; s += 6 * shares) {
            message<float> taken0[6];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 6; ++u) {
                    const uint64* const part = slots + (s + u * shares < gridDim.y ? s + u * shares : gridDim.y - 1) * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 6; ++u) {
                    if (s + u * shares >= gridDim.y) break;
                    if (s + u * shares == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 6; ++u) {
                if (s + u * shares >= gridDim.y) break;
                uint64* const part = slots + (s + u * shares) * stride;
                whole0 = sum_double::join(whole0, s + u * shares == blockIdx.y ? sum0 : consume(taken0[u], part, p.rows));
            }
        }
        join_down<sum_double, 1>(&whole0, room, width, share, shares);
        sum0 = float(whole0);
    }
    if (mine && share == 0) {
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), sum0);
    }
}
