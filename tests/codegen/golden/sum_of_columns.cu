// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, stream, stream.2, load_stream, sum_double, join_pairs, join_down, message, poll_slot, publish, poll,
//// is_there, consume, share_down, store

struct arguments {
    const double* x0;
    double* z0;
    uint64* scratch;
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
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
    const uint32 column = vector * 2;
    const uint32 columns = mine ? min(uint32(2), p.n0 - column) : 0;
    const int32 i0 = int32(column);
    const uint32 first = column;
    alignas(16) __shared__ uint64 room[512];
    double sum0[2] = {0.0, 0.0};
    {
        double part0[2] = {0.0, 0.0};
        const uint32 n = mine ? p.folded : 0, step = gridDim.y * 4 * height;
        uint32 k = blockIdx.y * 4u * height + down;
        do {
            if (columns == 2) {
                for (uint32 tiles = 0; k < n && tiles < 64; ++tiles, k += step) {
                    alignas(16) double x0[4][2] = {};
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
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        double value0[4];
#pragma unroll
                        for (unsigned int u = 0; u < 4; ++u) {
                            value0[u] = x0[u][e];
                        }
                        if (!whole) {
#pragma unroll
                            for (unsigned int u = 0; u < 4; ++u) {
                                if (k + u * height >= n) value0[u] = 0.0;
                            }
                        }
                        part0[e] = sum_double::join(part0[e], join_pairs<sum_double, 4>(value0));
                    }
                }
            } else {
                for (; k < n; k += step) {
#pragma unroll 1
                    for (uint32 u = 0; u < 4 && k + u * height < n; ++u) {
                        const uint32 at = k + u * height;
                        const int32 i1 = int32(at);
#pragma unroll
                        for (unsigned int e = 0; e < 2; ++e) {
                            if (e >= columns) break;
                            const int32 i0 = int32(column + e);
                            const double x0 = __ldg(p.x0 + (i0 + i1 * p.x0_stride1));
                            part0[e] = sum_double::join(part0[e], x0);
                        }
                    }
                }
            }
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                sum0[e] = sum_double::join(sum0[e], part0[e]);
            }
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                part0[e] = 0.0;
            }
        } while (k < n);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        join_down<sum_double, 2>(sum0, room, p.across, down, height);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = 2 * uint64(p.rows);
        if (!last) {
            if (mine && down == 0) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    if (e >= columns) break;
                    publish(slots + blockIdx.y * stride + e, p.rows, sum0[e]);
                }
            }
            return;
        }
        share_down<2>(sum0, room, p.across, down, height);
        double whole0[2] = {0.0, 0.0};
#pragma unroll 1
        for (uint32 s = down; mine && s < gridDim.y; s += 4 * height) {
            message<double> taken0[4][2];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    const uint64* const part = slots + (s + u * height < gridDim.y ? s + u * height : gridDim.y - 1) * stride;
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        poll(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows);
                    }
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    if (s + u * height >= gridDim.y) break;
                    if (s + u * height == blockIdx.y) continue;
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        waits = waits || !is_there(taken0[u][e]);
                    }
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                if (s + u * height >= gridDim.y) break;
                uint64* const part = slots + (s + u * height) * stride;
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    whole0[e] = sum_double::join(whole0[e], s + u * height == blockIdx.y ? sum0[e] : consume(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows));
                }
            }
        }
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            sum0[e] = whole0[e];
        }
    }
    if (mine && down == 0) {
        alignas(16) double r0[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            if (e >= columns) break;
            const int32 i0 = int32(column + e);
            r0[e] = sum0[e];
        }
        if (columns == 2) {
            const int32 i0 = int32(column);
            store<uint4>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                if (e >= columns) break;
                const int32 i0 = int32(column + e);
                __stcs(p.z0 + i0, r0[e]);
            }
        }
    }
}
