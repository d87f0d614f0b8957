// log(sum(exp(x0 - max(x0))))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// exponential, exponential_sum, exponentials_near, exponentials, exp_float, exp2_of_weight, exponential.3, stream,
//// stream.2, load_stream, from_lane, from_lane.2, join_lanes, join_block, message, poll_slot, publish, poll, is_there,
//// consume, bits_of.2, from_bits.2, log2_approx, log_float

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
    exponential_sum<float> exponentials0 = exponential_sum<float>{-3.402823466e+38f, 0};
    {
        exponentials_near<float> part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
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
            float value0[32];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[u * 4 + e] = x0[u][e];
                }
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 8 == 0) {
                exponentials0 = exponentials::join(exponentials0, exponentials::of_part(part0));
                part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
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
                part0 = exponentials::with(part0, value0);
            }
            if (++tiles % 8 == 0) {
                exponentials0 = exponentials::join(exponentials0, exponentials::of_part(part0));
                part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
            }
        }
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 4) {
            part0 = exponentials::with<float, 1>(part0, {x0_edge});
        }
        exponentials0 = exponentials::join(exponentials0, exponentials::of_part(part0));
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        exponentials0 = join_block<exponentials, 16>(exponentials0);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + row;
        const uint64 stride = 2 * uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, exponentials0);
            }
            return;
        }
        exponential_sum<float> whole0 = exponential_sum<float>{-3.402823466e+38f, 0};
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 2 * 512u) {
            message<exponential_sum<float>> taken0[2];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 2; ++u) {
                    const uint64* const part = slots + (s + u * 512u < gridDim.y ? s + u * 512u : gridDim.y - 1) * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 2; ++u) {
                    if (s + u * 512u >= gridDim.y) break;
                    if (s + u * 512u == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                if (s + u * 512u >= gridDim.y) break;
                uint64* const part = slots + (s + u * 512u) * stride;
                whole0 = exponentials::join(whole0, s + u * 512u == blockIdx.y ? exponentials0 : consume(taken0[u], part, p.rows));
            }
        }
        exponentials0 = whole0;
    }
    if (threadIdx.x == 0) {
        const float t0 = exponentials::greatest(exponentials0);
        const float t1 = exponentials::about(exponentials0, t0);
        __stcs(p.z0 + i0, log_float(t1));
    }
}
