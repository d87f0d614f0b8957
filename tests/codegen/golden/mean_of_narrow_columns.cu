// sum(x0) / s0
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, message, poll_slot, publish, poll, is_there, consume, stream, stream.2, load_stream, sum_float,
//// join_pairs, run_of_columns, join_run, join_down, sum_double, from_lane, join_lanes, join_block

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    float s0;
    uint32 width;
    divisor by_width;
    uint32 n0;
    uint32 cells;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 most = quotient(512u, p.by_width), height = most > 8 ? most - (most & p.width & 1) : most;
    const uint32 active = height * p.width, lane = threadIdx.x;
    const uint32 down = quotient(lane, p.by_width);
    const bool mine = down < height;
    const int32 i0 = int32((lane - quotient(lane, p.by_width) * p.width));
    const uint32 first = i0;
    alignas(16) __shared__ uint64 room[2560];
    uint32* const counters = reinterpret_cast<uint32*>(p.scratch);
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(counters + 1, gridDim.y - 1);
    if (gridDim.y > 1 && threadIdx.x == 0) atomicAdd(counters, 2u);
    uint32 found = 0;  // the first counter's value when this block is about to end
    uint64* const slots = p.scratch + 2;
    const uint64 stride = uint64(p.rows);
    float sum0 = 0.0f;
    {
        const float* const x0_run = p.x0;
        const uint32 head = min(p.cells, uint32(-(reinterpret_cast<uint64>(x0_run) / 4) % 4));
        const uint32 vectors = (p.cells - head) / 4, edges = p.cells - vectors * 4;
        float edge0 = 0.0f;
        if (blockIdx.y == 0 && mine && lane < edges) {
            const uint32 at = lane < head ? lane : lane + vectors * 4;
            const float x0 = x0_run[at];
            edge0 = x0;
        }
        const float* const x0_from = x0_run + head;
        float held0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float part0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        uint32 tiles = 0;
        const uint32 round = gridDim.y * 8 * active, rounds = vectors / round * round;
        uint32 k = blockIdx.y * 8 * active + lane, end = mine ? rounds : 0;
        for (bool of_round = true; of_round; k += round) {
            if (k >= end) {
                if (gridDim.y > 1 && threadIdx.x == 0) found = atomicMax(counters, 2 * gridDim.y - 1);
                const uint32 pieces = gridDim.y * p.width, piece = (vectors - rounds + pieces - 1) / pieces * p.width;
                of_round = false, k = rounds + blockIdx.y * piece + lane;
                end = mine ? min(vectors, rounds + (blockIdx.y + 1) * piece) : 0;
            }
            if (k < end) {
                alignas(16) float x0[8][4] = {};
                const bool whole = k + 7 * active < end;
                if (whole) {
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        load_stream<uint4>(x0[u], x0_from + (k + u * active) * 4);
                    }
                } else {
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        if (k + u * active >= end) break;
                        load_stream<uint4>(x0[u], x0_from + (k + u * active) * 4);
                    }
                }
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    float value0[8];
#pragma unroll
                    for (unsigned int u = 0; u < 8; ++u) {
                        value0[u] = x0[u][e];
                    }
                    if (!whole) {
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            if (k + u * active >= end) value0[u] = 0.0f;
                        }
                    }
                    part0[e] = sum_float::join(part0[e], join_pairs<sum_float, 8>(value0));
                }
            }
            if (++tiles % 64 == 0 || !of_round) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    held0[e] = sum_float::join(held0[e], part0[e]);
                    part0[e] = 0.0f;
                }
            }
        }
        const run_of_columns run{p.width, (lane - quotient(lane, p.by_width) * p.width), down, height, head, vectors * 4, edges, 0, p.by_width};
        sum0 = join_run<sum_float, 4, 512>(held0, edge0, 0.0f, room, run);
    }
    join_down<sum_float, 1>(&sum0, room, p.width, down, height);
    if (gridDim.y > 1) {
        if (mine && down == 0) {
            publish(slots + first + blockIdx.y * stride, p.rows, sum0);
        }
        __shared__ bool last;  // whether this block has the last ticket: all others have begun
        __shared__ bool all_finish;  // whether every block finishes some of the results
        if (threadIdx.x == 0) {
            last = ticket == gridDim.y - 1;
            all_finish = found == 2 * gridDim.y;
            if (!last) atomicAdd(counters + 2, 1u);
        }
        __syncthreads();
        if (!all_finish && !last) return;
        const uint32 finishers = all_finish ? gridDim.y : 1;
        for (uint32 result = all_finish ? blockIdx.y : 0; result < p.rows; result += finishers) {
            const int32 i0 = int32(result);
            double whole0 = 0.0;
            for (uint32 s = threadIdx.x; s < gridDim.y; s += 512u) {
                message<float> taken0 = {};
                do {
                    poll(taken0, slots + result + s * stride, p.rows);
                } while (!(is_there(taken0)));
                whole0 = sum_double::join(whole0, consume(taken0, slots + result + s * stride, p.rows));
            }
            whole0 = join_block<sum_double, 16>(whole0);
            sum0 = float(whole0);
            if (threadIdx.x == 0) {
                __stcs(p.z0 + i0, sum0 / p.s0);
            }
        }
        if (last && threadIdx.x == 0) {
            while (poll_slot(p.scratch + 1) < gridDim.y - 1) continue;
            p.scratch[0] = p.scratch[1] = 0;
        }
        return;
    }
    if (mine && down == 0) {
        __stcs(p.z0 + i0, sum0 / p.s0);
    }
}
