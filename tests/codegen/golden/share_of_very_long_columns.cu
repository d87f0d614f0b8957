namespace step1 {
// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, sum_float, join_pairs, join_down, message, poll_slot, publish, poll, is_there, consume, share_down,
//// sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(1024, 1)
step1_reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(1024u, p.by_across);
    const uint32 at = blockIdx.x * p.across + threadIdx.x - down * p.across;
    const bool mine = at < p.vectors && down < height;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const int32 i0 = int32(vector);
    const uint32 first = i0;
    alignas(16) __shared__ uint64 room[1024];
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        const uint32 n = mine ? p.folded : 0, step = gridDim.y * 16 * height;
        uint32 k = blockIdx.y * 16u * height + down;
        do {
            for (uint32 tiles = 0; k < n && tiles < 64; ++tiles, k += step) {
                float x0[16] = {};
                const bool whole = k + 15 * height < n;
                if (whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 16; ++u) {
                        const int32 i1 = int32(k + u * height);
                        x0[u] = __ldg(p.x0 + (i0 + i1 * p.x0_stride1));
                    }
                } else {
#pragma unroll
                    for (unsigned int u = 0; u < 16; ++u) {
                        if (k + u * height >= n) break;
                        const int32 i1 = int32(k + u * height);
                        x0[u] = __ldg(p.x0 + (i0 + i1 * p.x0_stride1));
                    }
                }
                float value0[16];
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    value0[u] = x0[u];
                }
                if (!whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 16; ++u) {
                        if (k + u * height >= n) value0[u] = 0.0f;
                    }
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 16>(value0));
            }
            sum0 = sum_float::join(sum0, part0);
            part0 = 0.0f;
        } while (k < n);
    }
    join_down<sum_float, 1>(&sum0, room, p.across, down, height);
    if (gridDim.y > 1) {
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = uint64(p.rows);
        if (!last) {
            if (mine && down == 0) {
                publish(slots + blockIdx.y * stride, p.rows, sum0);
            }
            return;
        }
        share_down<1>(&sum0, room, p.across, down, height);
        double whole0 = 0.0;
#pragma unroll 1
        for (uint32 s = down; mine && s < gridDim.y; s += 8 * height) {
            message<float> taken0[8];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    const uint64* const part = slots + (s + u * height < gridDim.y ? s + u * height : gridDim.y - 1) * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (s + u * height >= gridDim.y) break;
                    if (s + u * height == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (s + u * height >= gridDim.y) break;
                uint64* const part = slots + (s + u * height) * stride;
                whole0 = sum_double::join(whole0, s + u * height == blockIdx.y ? sum0 : consume(taken0[u], part, p.rows));
            }
        }
        join_down<sum_double, 1>(&whole0, room, p.across, down, height);
        sum0 = float(whole0);
    }
    if (mine && down == 0) {
        __stcs(p.z0 + i0, sum0);
    }
}
}  // namespace step1

namespace step2 {
// x0 / x1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, stream, stream.2, load_stream, rcp_approx, quick_divide_float, bits_of.2, quick_shared_divide_float,
//// store

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 n1;
    divisor by_n1;
    uint32 groups;
    int32 x0_stride0;
    int32 z0_stride0;
    uint32 total;
};

extern "C" __global__ void __launch_bounds__(256)
step2_map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 q = (gridDim.x - 1 - blockIdx.x) * 256u + threadIdx.x;
    if (q >= p.groups * 8u) return;
    const uint32 line = quotient(q, p.by_n1), vector = q - line * p.n1;
    const uint32 first = line / 8u * 32 + line % 8u;  // the thread's first period
    const uint32 shift = uint32(reinterpret_cast<uint64>(p.z0) / 4 % 4);
    const bool x0_fits = p.x0_stride0 == p.n1 && uint32(reinterpret_cast<uint64>(p.x0) / 4 % 4) == shift;
    const bool z0_fits = p.z0_stride0 == p.n1 && uint32(reinterpret_cast<uint64>(p.z0) / 4 % 4) == shift;
    // Rows and columns of the thread's four elements; rows count from one period before the slab.
    int32 row[4], column[4];
    const uint32 begin = (vector + p.n1) * 4 - shift, down = quotient(begin, p.by_n1);
    row[0] = int32(down), column[0] = int32(begin - down * p.n1);
#pragma unroll
    for (int i = 1; i < 4; ++i) {
        const bool ends = uint32(column[i - 1]) + 1 == p.n1;
        row[i] = row[i - 1] + ends, column[i] = ends ? 0 : column[i - 1] + 1;
    }
    alignas(16) float x0[4][4] = {};
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const uint32 period = first + e * 8u, k = (period * p.n1 + vector) * 4 - shift;
        if (x0_fits && k < p.total - 3) {
            load_stream<uint4>(x0[e], p.x0 + k);
        } else {
#pragma unroll
            for (unsigned int i = 0; i < 4; ++i) {
                if (k + i >= p.total) continue;
                const int32 i0 = int32(period * 4) - 4 + row[i], i1 = column[i];
                x0[e][i] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
            }
        }
    }
    float x1[4];
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i) {
        const int32 i1 = column[i];
        x1[i] = __ldg(p.x1 + i1);
    }
    alignas(16) float z0[4][4];
#pragma unroll
    for (unsigned int i = 0; i < 4; ++i) {
        bool rare = false;
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[e][i] = quick_shared_divide_float(x0[e][i], x1[i], rare);
        }
        if (rare) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                z0[e][i] = x0[e][i] / x1[i];
            }
        }
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const uint32 period = first + e * 8u, k = (period * p.n1 + vector) * 4 - shift;
        if (z0_fits && k < p.total - 3) {
            store<uint4>(p.z0 + k, z0[e]);
        } else {
#pragma unroll
            for (unsigned int i = 0; i < 4; ++i) {
                if (k + i >= p.total) continue;
                const int32 i0 = int32(period * 4) - 4 + row[i], i1 = column[i];
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0[e][i]);
            }
        }
    }
}
}  // namespace step2
