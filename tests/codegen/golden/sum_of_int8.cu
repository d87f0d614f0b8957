// sum(astype<int64>(x0))
using int8 = signed char;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// sum_of_int8, stream, stream.2, load_stream, sum_int64, from_lane, join_lanes, join_block, message, poll_slot,
//// publish, poll, is_there, consume

struct arguments {
    const int8* x0;
    int64* z0;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(256, 4)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    int64 sum0 = int64(0);
    {
        int64 part0 = int64(0);
        const uint32 vectors = p.folded / 16;
        const uint32 edge = vectors * 16 + threadIdx.x;
        int8 x0_edge;
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 16) {
            const int32 i0 = int32(edge);
            x0_edge = __ldg(p.x0 + i0);
        }
        const int8* const x0_row = p.x0;
        unsigned int packed0[2] = {sum_of_int8::start, sum_of_int8::start};
        const uint32 round = gridDim.y * 512u;
        const bool deals = gridDim.y > 1 && vectors >= 6 * round;
        const uint32 even = deals ? vectors - vectors / 16 - 2 * round : vectors;
        uint32 rounds = 0;
        for (; rounds + round <= even; rounds += round) {
            const uint32 v = rounds + blockIdx.y * 512u + threadIdx.x;
            alignas(16) int8 x0[2][16];
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 16 + u * 4096u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                sum_of_int8::take(packed0, x0[u]);
            }
        }
        const uint32 piece = deals ? 512u : ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
        __shared__ uint32 dealt_piece[2];
        for (uint32 at = blockIdx.y, turn = 0; at * piece < vectors - rounds; turn ^= 1) {
            const uint32 v = rounds + at * piece + threadIdx.x, end = min(vectors, rounds + (at + 1) * piece);
            uint32 number = at;
            if (deals && threadIdx.x == 0) number = atomicInc(reinterpret_cast<uint32*>(p.scratch) + 1, 0x7fffffffu);
            if (v < end) {
                alignas(16) int8 x0[2][16];
#pragma unroll
                for (unsigned int u = 0; u < 2; ++u) {
                    if (v + u * 256u >= end) continue;
                    load_stream<uint4>(x0[u], x0_row + v * 16 + u * 4096u);
                }
                if (threadIdx.x == 0) dealt_piece[turn] = gridDim.y + number;
#pragma unroll
                for (unsigned int u = 0; u < 2; ++u) {
                    if (v + u * 256u >= end) break;
                    sum_of_int8::take(packed0, x0[u]);
                }
            }
            __syncthreads();
            at = dealt_piece[turn];
        }
        part0 = sum_int64::join(part0, sum_of_int8::whole(packed0));
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 16) {
            part0 = sum_int64::join(part0, int64(x0_edge));
        }
        sum0 = sum_int64::join(sum0, part0);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        sum0 = join_block<sum_int64, 8>(sum0);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x;
        const uint64 stride = 2 * uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, sum0);
            }
            return;
        }
        int64 whole0 = int64(0);
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 2 * 256u) {
            message<int64> taken0[2];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 2; ++u) {
                    const uint64* const part = slots + (s + u * 256u < gridDim.y ? s + u * 256u : gridDim.y - 1) * stride;
                    poll(taken0[u], part, p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 2; ++u) {
                    if (s + u * 256u >= gridDim.y) break;
                    if (s + u * 256u == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                if (s + u * 256u >= gridDim.y) break;
                uint64* const part = slots + (s + u * 256u) * stride;
                whole0 = sum_int64::join(whole0, s + u * 256u == blockIdx.y ? sum0 : consume(taken0[u], part, p.rows));
            }
        }
        __syncthreads();  // each thread has polled some blocks only; the others may still take pieces
        if (threadIdx.x == 0) reinterpret_cast<uint32*>(p.scratch)[1] = 0;
        sum0 = whole0;
    }
    if (threadIdx.x == 0) {
        __stcs(p.z0, sum0);
    }
}
