// sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, exponential, exponential_sum, exponentials_near, exponentials, bits_of, from_bits, exp_double,
//// exponential.2, copy8, join_strip, join_down, message, poll_slot, publish, poll, is_there, consume, share_down

struct arguments {
    const double* x0;
    double* z0;
    uint64* scratch;
    uint32 n1;
    uint32 across;
    divisor by_across;
    divisor by_strips;
    uint32 strips;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 2)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 outer = quotient(blockIdx.x, p.by_strips);
    const int32 i0 = int32(outer);
    const uint32 width = p.across * 1, begin = (blockIdx.x - outer * p.strips) * width, there = min(width, p.n1 - begin);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across);
    const uint32 vector = threadIdx.x - down * p.across;
    const uint32 share = threadIdx.x / uint32(width), shares = 256u / uint32(width);
    const uint32 column = threadIdx.x - share * width;
    const bool mine = column < there && share < shares;
    const int32 i1 = int32(begin + min(column, there - 1));
    const uint32 first = outer * p.n1 + begin + column;
    alignas(16) __shared__ uint64 room[544];
    exponential_sum<double> exponentials0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
    {
        const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + begin;
        const bool active = down < height && vector * 1 < there;
        const double* const x0_from = x0_strip + vector * 1;
        exponential_sum<double> held0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
        exponentials_near<double> part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
        uint32 tiles = 0;
        const uint32 n = active ? p.folded : 0;
        uint32 k = blockIdx.y * 8 * height + down;
        __shared__ double x0_ahead[2][8][256];
        uint32 stage = 0;
        if (k + 7 * height < n) {
            const double* const x0_next = x0_from + (k) * p.n1;
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                copy8(&x0_ahead[0][u][threadIdx.x], x0_next + u * uint64(height * p.n1));
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        for (; k + 7 * height < n; k += gridDim.y * 8 * height) {
            if (k + gridDim.y * 8 * height + 7 * height < n) {
                const double* const x0_next = x0_from + (k + gridDim.y * 8 * height) * p.n1;
#pragma unroll
                for (unsigned int u = 0; u < 8; ++u) {
                    copy8(&x0_ahead[stage ^ 1][u][threadIdx.x], x0_next + u * uint64(height * p.n1));
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
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
        }
        if (k + 3 * height < n) {
            double x0[4];
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                x0[u] = __ldg(x0_from + (k + u * height) * p.n1);
            }
            double value0[4];
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
            k += 4 * height;
        }
        if (k + 1 * height < n) {
            double x0[2];
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                x0[u] = __ldg(x0_from + (k + u * height) * p.n1);
            }
            double value0[2];
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
            k += 2 * height;
        }
        if (k < n) {
            double x0[1];
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                x0[u] = __ldg(x0_from + (k) * p.n1);
            }
            double value0[1];
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                value0[u] = x0[u];
            }
            part0 = exponentials::with(part0, value0);
            if (++tiles % 64 == 0) {
                held0 = exponentials::join(held0, exponentials::of_part(part0));
                part0 = exponentials_near<double>{-1.7976931348623157e+308, 0, -1.7976931348623157e+308};
            }
        }
        held0 = exponentials::join(held0, exponentials::of_part(part0));
        exponentials0 = join_strip<exponentials, 1>(&held0, exponential_sum<double>{-1.7976931348623157e+308, 0}, room, active, width, down, vector * 1, height, mine ? column : 0, share, shares);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        join_down<exponentials, 1>(&exponentials0, room, width, share, shares);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = 4 * uint64(p.rows);
        if (!last) {
            if (mine && share == 0) {
                publish(slots + blockIdx.y * stride, p.rows, exponentials0);
            }
            return;
        }
        share_down<1>(&exponentials0, room, width, share, shares);
        exponential_sum<double> whole0 = exponential_sum<double>{-1.7976931348623157e+308, 0};
#pragma unroll 1
        for (uint32 s = share; mine && s < gridDim.y; s += 1 * shares) {
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
    if (mine && share == 0) {
        const double t0 = exponentials::greatest(exponentials0);
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), exponentials::about(exponentials0, t0));
    }
}
