// argmax(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// indexed_float, stream, stream.2, load_stream, ordered_argmax_float, join_pairs, argmax_float, from_lane,
//// from_lane.3, join_lanes, join_block, message, poll_slot, publish, poll, is_there, consume

struct arguments {
    const float* x0;
    int64* z0;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    indexed_float argmax0 = indexed_float{-__int_as_float(0x7f800000), int64(0)};
    {
        indexed_float part0 = indexed_float{-__int_as_float(0x7f800000), int64(0)};
        const uint32 vectors = p.folded / 4;
        const uint32 edge = vectors * 4 + threadIdx.x;
        float x0_edge;
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 4) {
            const int32 i0 = int32(edge);
            x0_edge = __ldg(p.x0 + i0);
        }
        const float* const x0_row = p.x0;
        const uint32 round = gridDim.y * 4096u;
        const bool deals = gridDim.y > 1 && vectors >= 6 * round;
        const uint32 even = deals ? vectors - vectors / 16 - 2 * round : vectors;
        uint32 rounds = 0;
        for (; rounds + round <= even; rounds += round) {
            const uint32 v = rounds + blockIdx.y * 4096u + threadIdx.x;
            alignas(16) float x0[8][4];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                indexed_float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = indexed_float{x0[u][e], int64((v + u * 512u) * 4 + e)};
                }
                part0 = ordered_argmax_float::join(part0, join_pairs<ordered_argmax_float, 4>(value0));
            }
        }
        const uint32 piece = deals ? 4096u : ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
        __shared__ uint32 dealt_piece[2];
        for (uint32 at = blockIdx.y, turn = 0; at * piece < vectors - rounds; turn ^= 1) {
            const uint32 v = rounds + at * piece + threadIdx.x, end = min(vectors, rounds + (at + 1) * piece);
            uint32 number = at;
            if (deals && threadIdx.x == 0) number = atomicInc(reinterpret_cast<uint32*>(p.scratch) + 1, 0x7fffffffu);
            if (v < end) {
                alignas(16) float x0[8][4];
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) continue;
                    load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
                }
                if (threadIdx.x == 0) dealt_piece[turn] = gridDim.y + number;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) break;
                    indexed_float value0[4];
#pragma unroll
                    for (unsigned int e = 0; e < 4; ++e) {
                        value0[e] = indexed_float{x0[u][e], int64((v + u * 512u) * 4 + e)};
                    }
                    part0 = ordered_argmax_float::join(part0, join_pairs<ordered_argmax_float, 4>(value0));
                }
            }
            __syncthreads();
            at = dealt_piece[turn];
        }
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 4) {
            part0 = argmax_float::join(part0, indexed_float{x0_edge, int64(edge)});
        }
        argmax0 = argmax_float::join(argmax0, part0);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        argmax0 = join_block<argmax_float, 16>(argmax0);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x;
        const uint64 stride = 4 * uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, argmax0);
            }
            return;
        }
        indexed_float whole0 = indexed_float{-__int_as_float(0x7f800000), int64(0)};
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 1 * 512u) {
            message<indexed_float> taken0[1];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    const uint64* const part = slots + s * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    if (s == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                uint64* const part = slots + s * stride;
                whole0 = argmax_float::join(whole0, s == blockIdx.y ? argmax0 : consume(taken0[u], part, p.rows));
            }
        }
        __syncthreads();  // each thread has polled some blocks only; the others may still take pieces
        if (threadIdx.x == 0) reinterpret_cast<uint32*>(p.scratch)[1] = 0;
        argmax0 = whole0;
    }
    if (threadIdx.x == 0) {
        __stcs(p.z0, argmax0.at);
    }
}
