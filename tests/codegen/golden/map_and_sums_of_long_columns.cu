// sum(x0); x0 + s0
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, stream, stream.2, load_stream, sum_float, join_pairs, store, join_down, message, poll_slot, publish, poll,
//// is_there, consume, share_down, sum_double

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    uint64* scratch;
    float s0;
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
    int32 z1_stride1;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(256, 4)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across);
    const uint32 at = blockIdx.x * p.across + threadIdx.x - down * p.across;
    const bool mine = at < p.vectors && down < height;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const uint32 column = vector * 4;
    const uint32 columns = mine ? min(uint32(4), p.n0 - column) : 0;
    const int32 i0 = int32(column);
    const uint32 first = column;
    alignas(16) __shared__ uint64 room[1024];
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    {
        float part0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        const uint32 n = mine ? p.folded : 0, step = gridDim.y * 4 * height;
        uint32 k = blockIdx.y * 4u * height + down;
        do {
            if (columns == 4) {
                for (uint32 tiles = 0; k < n && tiles < 64; ++tiles, k += step) {
                    alignas(16) float x0[4][4] = {};
                    const bool whole = k + 3 * height < n;
                    if (whole) {
#pragma unroll
                        for (unsigned int u = 0; u < 4; ++u) {
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint4>(x0[u], p.x0 + (i0 + i1 * p.x0_stride1));
                        }
                    } else {
#pragma unroll
                        for (unsigned int u = 0; u < 4; ++u) {
                            if (k + u * height >= n) break;
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint4>(x0[u], p.x0 + (i0 + i1 * p.x0_stride1));
                        }
                    }
                    alignas(16) float r1[4][4];
#pragma unroll
                    for (unsigned int e = 0; e < 4; ++e) {
                        float value0[4];
#pragma unroll
                        for (unsigned int u = 0; u < 4; ++u) {
                            value0[u] = x0[u][e];
                            r1[u][e] = x0[u][e] + p.s0;
                        }
                        if (!whole) {
#pragma unroll
                            for (unsigned int u = 0; u < 4; ++u) {
                                if (k + u * height >= n) value0[u] = 0.0f;
                            }
                        }
                        part0[e] = sum_float::join(part0[e], join_pairs<sum_float, 4>(value0));
                    }
#pragma unroll
                    for (unsigned int u = 0; u < 4; ++u) {
                        if (k + u * height >= n) break;
                        const int32 i1 = int32(k + u * height);
                        store<uint4>(p.z1 + (i0 + i1 * p.z1_stride1), r1[u]);
                    }
                }
            } else {
                for (; k < n; k += step) {
#pragma unroll 1
                    for (uint32 u = 0; u < 4 && k + u * height < n; ++u) {
                        const uint32 at = k + u * height;
                        const int32 i1 = int32(at);
#pragma unroll
                        for (unsigned int e = 0; e < 4; ++e) {
                            if (e >= columns) break;
                            const int32 i0 = int32(column + e);
                            const float x0 = __ldg(p.x0 + (i0 + i1 * p.x0_stride1));
                            part0[e] = sum_float::join(part0[e], x0);
                            __stcs(p.z1 + (i0 + i1 * p.z1_stride1), x0 + p.s0);
                        }
                    }
                }
            }
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                sum0[e] = sum_float::join(sum0[e], part0[e]);
            }
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                part0[e] = 0.0f;
            }
        } while (k < n);
    }
    join_down<sum_float, 4>(sum0, room, p.across, down, height);
    if (gridDim.y > 1) {
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = uint64(p.rows);
        if (!last) {
            if (mine && down == 0) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (e >= columns) break;
                    publish(slots + blockIdx.y * stride + e, p.rows, sum0[e]);
                }
            }
            return;
        }
        share_down<4>(sum0, room, p.across, down, height);
        double whole0[4] = {0.0, 0.0, 0.0, 0.0};
#pragma unroll 1
        for (uint32 s = down; mine && s < gridDim.y; s += 4 * height) {
            message<float> taken0[4][4];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    const uint64* const part = slots + (s + u * height < gridDim.y ? s + u * height : gridDim.y - 1) * stride;
#pragma unroll
                    for (unsigned int e = 0; e < 4; ++e) {
                        poll(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows);
                    }
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    if (s + u * height >= gridDim.y) break;
                    if (s + u * height == blockIdx.y) continue;
#pragma unroll
                    for (unsigned int e = 0; e < 4; ++e) {
                        waits = waits || !is_there(taken0[u][e]);
                    }
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                if (s + u * height >= gridDim.y) break;
                uint64* const part = slots + (s + u * height) * stride;
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    whole0[e] = sum_double::join(whole0[e], s + u * height == blockIdx.y ? sum0[e] : consume(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows));
                }
            }
        }
        join_down<sum_double, 4>(whole0, room, p.across, down, height);
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0[e] = float(whole0[e]);
        }
    }
    if (mine && down == 0) {
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            if (e >= columns) break;
            const int32 i0 = int32(column + e);
            r0[e] = sum0[e];
        }
        if (columns == 4) {
            const int32 i0 = int32(column);
            store<uint4>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (e >= columns) break;
                const int32 i0 = int32(column + e);
                __stcs(p.z0 + i0, r0[e]);
            }
        }
    }
}
