// sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, exponential, exponential_sum, exponentials_near, exponentials, bits_of, from_bits, exp_double,
//// exponential.2, copy8, run_of_columns, join_pairs, join_run.2, join_down, message, poll_slot, publish, poll,
//// is_there, consume, share_down

struct arguments {
    const double* x0;
    double* z0;
    uint64* scratch;
    uint32 width;
    divisor by_width;
    uint32 outers;
    uint32 n1;
    uint32 cells;
    int32 x0_stride0;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 groups = (p.outers + gridDim.x - 1) / gridDim.x;
    const uint32 height = quotient(256u, p.by_width) / groups, active = height * p.width;
    const uint32 group = threadIdx.x / active, lane = threadIdx.x - group * active;
    const uint32 at = blockIdx.x * groups + group;
    const bool mine = group < groups && at < p.outers;
    const uint32 down = group < groups ? quotient(lane, p.by_width) : height;
    const uint32 outer = at < p.outers ? at : p.outers - 1;
    const int32 i0 = int32(outer);
    const int32 i1 = int32((lane - quotient(lane, p.by_width) * p.width));
    const uint32 first = outer * p.n1 + i1;
    alignas(16) __shared__ uint64 room[1024];
    exponential_sum<double> exponentials0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
    {
        const double* const x0_run = p.x0 + i0 * p.x0_stride0;
        const uint32 head = min(p.cells, uint32(-(reinterpret_cast<uint64>(x0_run) / 8) % 1));
        const uint32 vectors = (p.cells - head) / 1, edges = p.cells - vectors * 1;
        exponential_sum<double> edge0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
        if (blockIdx.y == 0 && mine && lane < edges) {
            const uint32 at = lane < head ? lane : lane + vectors * 1;
            const double x0 = x0_run[at];
            edge0 = exponentials::of_part(exponentials::with<double, 1>(exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308}, {x0}));
        }
        const double* const x0_from = x0_run + head;
        exponential_sum<double> held0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
        exponentials_near<double> part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
        const uint32 round = gridDim.y * 8 * active, rounds = vectors / round * round;
        uint32 k = blockIdx.y * 8 * active + lane, end = mine ? rounds : 0;
        __shared__ double x0_ahead[2][8][256];
        uint32 stage = 0;
        if (k < end) {
            const double* const x0_next = x0_from + (k);
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                copy8(&x0_ahead[0][u][threadIdx.x], x0_next + u * uint64(active));
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        for (; k < end; k += round) {
            if (k + round < end) {
                const double* const x0_next = x0_from + (k + round);
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    copy8(&x0_ahead[stage ^ 1][u][threadIdx.x], x0_next + u * uint64(active));
                }
            }
            asm volatile("cp.async.commit_group;" ::: "memory");
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            double x0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                x0[u] = x0_ahead[stage][u][threadIdx.x];
            }
            stage ^= 1;
            double value0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
        }
        for (bool of_round = true; of_round; k += round) {
            if (k >= end) {
                const uint32 pieces = gridDim.y * p.width, piece = (vectors - rounds + pieces - 1) / pieces * p.width;
                of_round = false, k = rounds + blockIdx.y * piece + lane;
                end = mine ? min(vectors, rounds + (blockIdx.y + 1) * piece) : 0;
            }
            if (k < end) {
                double x0[8] = {};
                const bool whole = k + 7 * active < end;
                unsigned int present = whole ? 8 : 0;
                if (whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        x0[u] = __ldg(x0_from + (k + u * active));
                    }
                } else {
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        if (k + u * active >= end) break;
                        ++present;
                        x0[u] = __ldg(x0_from + (k + u * active));
                    }
                }
                double value0[8];
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    value0[u] = x0[u];
                }
                part0 = exponentials::with(part0, value0, present);
            }
        }
        held0 = exponentials::join(held0, exponentials::of_part(part0));
        const run_of_columns run{p.width, (lane - quotient(lane, p.by_width) * p.width), down, height, head, vectors * 1, edges, group < groups ? group * active : 0, p.by_width};
        exponentials0 = join_run<exponentials, 1, 256>(&held0, edge0, exponential_sum<double>{-1.7976931348623157e+308, 0}, room, run);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        join_down<exponentials, 1>(&exponentials0, room, p.width, down, height);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = 4 * uint64(p.rows);
        if (!last) {
            if (mine && down == 0) {
                publish(slots + blockIdx.y * stride, p.rows, exponentials0);
            }
            return;
        }
        share_down<1>(&exponentials0, room, p.width, down, height);
        exponential_sum<double> whole0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
#pragma unroll 1
        for (uint32 s = down; mine && s < gridDim.y; s += 1 * height) {
            message<exponential_sum<double>> taken0[1];
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
                whole0 = exponentials::join(whole0, s == blockIdx.y ? exponentials0 : consume(taken0[u], part, p.rows));
            }
        }
        exponentials0 = whole0;
    }
    if (mine && down == 0) {
        const double t0 = exponentials::greatest(exponentials0);
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), exponentials::about(exponentials0, t0));
    }
}
