// min(x0); count_nonzero(x0)
using uint16 = unsigned short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// least_uint16, stream, stream.2, load_stream, count_nonzero_int64, join_pairs, min_uint16, from_lane, join_lanes,
//// join_lanes.3, join_block, message, poll_slot, publish, poll, is_there, consume

struct arguments {
    const uint16* x0;
    uint16* z0;
    int64* z1;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    uint16 min0 = uint16(~0ull);
    int64 count_nonzero1 = int64(0);
    {
        uint16 part0 = uint16(~0ull);
        int64 part1 = int64(0);
        const uint32 vectors = p.folded / 8;
        const uint32 edge = vectors * 8 + threadIdx.x;
        uint16 x0_edge;
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 8) {
            const int32 i0 = int32(edge);
            x0_edge = __ldg(p.x0 + i0);
        }
        const uint16* const x0_row = p.x0;
        unsigned int packed0[2] = {least_uint16::start, least_uint16::start};
        const uint32 round = gridDim.y * 4096u;
        const bool deals = gridDim.y > 1 && vectors >= 6 * round;
        const uint32 even = deals ? vectors - vectors / 16 - 2 * round : vectors;
        uint32 rounds = 0;
        for (; rounds + round <= even; rounds += round) {
            const uint32 v = rounds + blockIdx.y * 4096u + threadIdx.x;
            alignas(16) uint16 x0[8][8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 8 + u * 4096u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                least_uint16::take(packed0, x0[u]);
                int64 value1[8];
#pragma unroll
                for (unsigned int e = 0; e < 8; ++e) {
                    value1[e] = int64((x0[u][e]) != 0);
                }
                part1 = count_nonzero_int64::join(part1, join_pairs<count_nonzero_int64, 8>(value1));
            }
        }
        const uint32 piece = deals ? 4096u : ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
        __shared__ uint32 dealt_piece[2];
        for (uint32 at = blockIdx.y, turn = 0; at * piece < vectors - rounds; turn ^= 1) {
            const uint32 v = rounds + at * piece + threadIdx.x, end = min(vectors, rounds + (at + 1) * piece);
            uint32 number = at;
            if (deals && threadIdx.x == 0) number = atomicInc(reinterpret_cast<uint32*>(p.scratch) + 1, 0x7fffffffu);
            if (v < end) {
                alignas(16) uint16 x0[8][8];
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) continue;
                    load_stream<uint4>(x0[u], x0_row + v * 8 + u * 4096u);
                }
                if (threadIdx.x == 0) dealt_piece[turn] = gridDim.y + number;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    if (v + u * 512u >= end) break;
                    least_uint16::take(packed0, x0[u]);
                    int64 value1[8];
#pragma unroll
                    for (unsigned int e = 0; e < 8; ++e) {
                        value1[e] = int64((x0[u][e]) != 0);
                    }
                    part1 = count_nonzero_int64::join(part1, join_pairs<count_nonzero_int64, 8>(value1));
                }
            }
            __syncthreads();
            at = dealt_piece[turn];
        }
        part0 = min_uint16::join(part0, least_uint16::whole(packed0));
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 8) {
            part0 = min_uint16::join(part0, x0_edge);
            part1 = count_nonzero_int64::join(part1, int64((x0_edge) != 0));
        }
        min0 = min_uint16::join(min0, part0);
        count_nonzero1 = count_nonzero_int64::join(count_nonzero1, part1);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        min0 = join_block<min_uint16, 16>(min0);
        count_nonzero1 = join_block<count_nonzero_int64, 16>(count_nonzero1);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x;
        const uint64 stride = 3 * uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, min0);
                publish(slots + blockIdx.y * stride + p.rows, p.rows, count_nonzero1);
            }
            return;
        }
        uint16 whole0 = uint16(~0ull);
        int64 whole1 = int64(0);
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 1 * 512u) {
            message<uint16> taken0[1];
            message<int64> taken1[1];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    const uint64* const part = slots + s * stride;
                    poll(taken0[u], part, p.rows);
                    poll(taken1[u], part + 1 * uint64(p.rows), p.rows);
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    if (s == blockIdx.y) continue;
                    waits = waits || !is_there(taken0[u]);
                    waits = waits || !is_there(taken1[u]);
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                uint64* const part = slots + s * stride;
                whole0 = min_uint16::join(whole0, s == blockIdx.y ? min0 : consume(taken0[u], part, p.rows));
                whole1 = count_nonzero_int64::join(whole1, s == blockIdx.y ? count_nonzero1 : consume(taken1[u], part + 1 * uint64(p.rows), p.rows));
            }
        }
        __syncthreads();  // each thread has polled some blocks only; the others may still take pieces
        if (threadIdx.x == 0) reinterpret_cast<uint32*>(p.scratch)[1] = 0;
        min0 = whole0;
        count_nonzero1 = whole1;
    }
    if (threadIdx.x == 0) {
        __stcs(p.z0, min0);
        __stcs(p.z1, count_nonzero1);
    }
}
