// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// moments, share_of, sums_near, squares, stream, stream.4, load_stream, join_block_at_once, message, poll_slot,
//// publish, poll, is_there, consume

struct arguments {
    const double* x0;
    double* z0;
    double s0;
    double s1;
    uint64* scratch;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(256, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    moments<double> squares0 = moments<double>{0, 0, 0, 0};
    {
        sums_near<double> part0 = sums_near<double>{0, 0, 0, 0};
        uint32 tiles = 0;
        const uint32 head = min(p.folded, uint32(-(reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 8) % 16));
        const uint32 vectors = (p.folded - head) / 2;
        const uint32 edge = threadIdx.x < head ? threadIdx.x : threadIdx.x + vectors * 2;
        double x0_edge;
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 2) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const double* const x0_row = p.x0 + i0 * p.x0_stride0 + head;
        const uint32 round = gridDim.y * 2048u;
        uint32 rounds = 0;
        for (; rounds + round <= vectors; rounds += round) {
            const uint32 v = rounds + blockIdx.y * 2048u + threadIdx.x;
            alignas(16) double x0[8][2];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                load_stream<double2>(x0[u], x0_row + v * 2 + u * 512u);
            }
            double value0[16];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[u * 2 + e] = x0[u][e];
                }
            }
            part0 = squares::with(part0, value0);
            if (++tiles % 8 == 0) {
                squares0 = squares::join(squares0, squares::of_part(part0));
                part0 = sums_near<double>{0, 0, 0, 0};
            }
        }
        const uint32 piece = ((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;
        const uint32 v = rounds + blockIdx.y * piece + threadIdx.x, end = min(vectors, rounds + (blockIdx.y + 1) * piece);
        if (v < end) {
            alignas(16) double x0[8][2];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 256u >= end) continue;
                load_stream<double2>(x0[u], x0_row + v * 2 + u * 512u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 256u >= end) break;
                double value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = squares::with(part0, value0);
            }
            if (++tiles % 8 == 0) {
                squares0 = squares::join(squares0, squares::of_part(part0));
                part0 = sums_near<double>{0, 0, 0, 0};
            }
        }
        if (blockIdx.y == 0 && threadIdx.x < p.folded - vectors * 2) {
            part0 = squares::with<double, 1>(part0, {x0_edge});
        }
        squares0 = squares::join(squares0, squares::of_part(part0));
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        squares0 = join_block_at_once<squares, 8>(squares0);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + row;
        const uint64 stride = 8 * uint64(p.rows);
        if (!last) {
            if (threadIdx.x == 0) {
                publish(slots + blockIdx.y * stride, p.rows, squares0);
            }
            return;
        }
        moments<double> whole0 = moments<double>{0, 0, 0, 0};
#pragma unroll 1
        for (uint32 s = threadIdx.x; s < gridDim.y; s += 1 * 256u) {
            message<moments<double>> taken0[1];
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
                whole0 = squares::join(whole0, s == blockIdx.y ? squares0 : consume(taken0[u], part, p.rows));
            }
        }
        squares0 = whole0;
    }
    if (threadIdx.x == 0) {
        const double t0 = squares::about_share(squares0, p.s0);
        __stcs(p.z0 + i0, t0 / p.s1);
    }
}
