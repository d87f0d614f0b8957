// sqrt(sum(x0))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// stream, stream.2, load_stream, sum_float, join_pairs, from_lane, join_lanes, join_block, message, poll_slot,
//// publish, poll, is_there, consume, sum_double

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        uint32 tiles = 0;
        const uint32 head = min(p.folded, uint32(-(reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 4) % 32));
        const uint32 vectors = (p.folded - head) / 4;
        const uint32 edge = threadIdx.x < head ? threadIdx.x : threadIdx.x + vectors * 4;
        float x0_edge;
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + head;
        const uint32 round = gridDim.y * 4096u;
        uint32 rounds = 0;
        for (; rounds + round <= vectors; rounds += round) {
            const uint32 v = rounds + blockIdx.y * 4096u + threadIdx.x;
            alignas(16) float x0[8][4];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
            if (++tiles % 8 == 0) {
                sum0 = sum_float::join(sum0, part0);
                part0 = 0.0f;
            }
        }
        const uint32 piece = ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
        const uint32 v = rounds + blockIdx.y * piece + threadIdx.x, end = min(vectors, rounds + (blockIdx.y + 1) * piece);
        if (v < end) {
            alignas(16) float x0[8][4];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 512u >= end) continue;
                load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 512u >= end) break;
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
            if (++tiles % 8 == 0) {
                sum0 = sum_float::join(sum0, part0);
                part0 = 0.0f;
            }
        }
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 4) {
            part0 = sum_float::join(part0, x0_edge);
        }
        sum0 = sum_float::join(sum0, part0);
    }
    sum0 = join_block<sum_float, 16>(sum0);
    if (gridDim.y > 1) {
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + row;
        const uint64 stride = uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, sum0);
            }
            return;
        }
        double whole0 = 0.0;
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 4 * 512u) {
            message<float> taken0[4];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    const uint64* const part = slots + (s + u * 512u < gridDim.y ? s + u * 512u : gridDim.y - 1) * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    if (s + u * 512u >= gridDim.y) break;
                    if (s + u * 512u == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                if (s + u * 512u >= gridDim.y) break;
                uint64* const part = slots + (s + u * 512u) * stride;
                whole0 = sum_double::join(whole0, s + u * 512u == blockIdx.y ? sum0 : consume(taken0[u], part, p.rows));
            }
        }
        whole0 = join_block<sum_double, 16>(whole0);
        sum0 = float(whole0);
    }
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, sqrt(sum0));
    }
}
