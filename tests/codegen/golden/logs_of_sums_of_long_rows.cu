// log(sum(exp(x0 - max(x0))))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// message, poll_slot, publish, poll, is_there, consume, exponential, exponential_sum, exponentials_near,
//// exponentials, exp_float, exp2_of_weight, exponential.3, stream, stream.2, load_stream, from_lane, from_lane.2,
//// join_lanes, join_block, bits_of.2, from_bits.2, log2_approx, log_float

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 folded;
    uint32 rows;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(512, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32* const counters = reinterpret_cast<uint32*>(p.scratch);
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(counters + 1, gridDim.y - 1);
    if (gridDim.y > 1 && threadIdx.x == 0) atomicAdd(counters, 2u);
    uint32 found = 0;  // the first counter's value when this block is about to end
    uint64* const slots = p.scratch + 2;
    const uint64 stride = 2 * uint64(p.rows);
    exponential_sum<float> exponentials0 = exponential_sum<float>{-3.402823466e+38f, 0};
    exponentials_near<float> part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
    uint32 tiles = 0;
    const uint32 row_tiles = (p.folded + 16383u) / 16384;
    uint32 row = 0, tile = blockIdx.y;
    for (; tile >= row_tiles; tile -= row_tiles) ++row;
    uint32 held = row, publisher = tile;  // the row in progress, and this block's first tile of it
    while (true) {
        const int32 i0 = int32(row);
        const uint32 head = min(p.folded, uint32(-(reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 4) % 32));
        const bool is_row = row < p.rows;
        const uint32 vectors = is_row ? (p.folded - head) / 4 : 0;
        const uint32 edge = threadIdx.x < head ? threadIdx.x : threadIdx.x + vectors * 4;
        const bool edges = is_row && tile == 0 && threadIdx.x < p.folded - vectors * 4;
        float x0_edge;
        if (edges) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + head;
        const uint32 v = tile * 4096u + threadIdx.x;
        alignas(16) float x0[8][4];
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            if (v + u * 512u >= vectors) continue;
            load_stream<uint4>(x0[u], x0_row + v * 4 + u * 2048u);
        }
        uint32 next = row, next_tile = tile + gridDim.y;
        for (; next_tile >= row_tiles; next_tile -= row_tiles) ++next;
        if (is_row && next >= p.rows && gridDim.y > 1 && threadIdx.x == 0) found = atomicMax(counters, 2 * gridDim.y - 1);
        if (row != held) {
            exponentials0 = exponentials::join(exponentials0, exponentials::of_part(part0));
            exponentials0 = join_block<exponentials, 16>(exponentials0);
            if (threadIdx.x == 0) {
                publish(slots + held + publisher * stride, p.rows, exponentials0);
            }
            if (!is_row) break;
            held = row, publisher = tile;
            exponentials0 = exponential_sum<float>{-3.402823466e+38f, 0};
            part0 = exponentials_near<float>{-3.402823466e+38f, 0, -3.402823466e+38f};
        }
        if ((tile + 1) * 4096u <= vectors) {
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
        } else {
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 512u >= vectors) break;
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
        if (edges) {
            part0 = exponentials::with<float, 1>(part0, {x0_edge});
        }
        row = next, tile = next_tile;
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
        exponential_sum<float> whole0 = exponential_sum<float>{-3.402823466e+38f, 0};
        for (uint32 s = threadIdx.x; s < min(row_tiles, uint32(gridDim.y)); s += 512u) {
            message<exponential_sum<float>> taken0 = {};
            do {
                poll(taken0, slots + result + s * stride, p.rows);
            } while (!(is_there(taken0)));
            whole0 = exponentials::join(whole0, consume(taken0, slots + result + s * stride, p.rows));
        }
        whole0 = join_block<exponentials, 16>(whole0);
        exponentials0 = whole0;
        if (threadIdx.x == 0) {
            const float t0 = exponentials::greatest(exponentials0);
            const float t1 = exponentials::about(exponentials0, t0);
            __stcs(p.z0 + i0, log_float(t1));
        }
    }
    if (last && threadIdx.x == 0) {
        while (poll_slot(p.scratch + 1) < gridDim.y - 1) continue;
        p.scratch[0] = p.scratch[1] = 0;
    }
}
