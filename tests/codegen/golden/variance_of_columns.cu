// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, moments, share_of, sums_near, squares, stream, stream.3, load_stream, join_down_at_once, message,
//// poll_slot, publish, poll, is_there, consume, share_down, store

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    float s0;
    float s1;
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n0;
    uint32 folded;
    int32 x0_stride2;
    uint32 rows;
};

extern "C" __global__ void __launch_bounds__(256, 4)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    uint32 ticket = 0;
    if (gridDim.y > 1 && threadIdx.x == 0) ticket = atomicInc(reinterpret_cast<uint32*>(p.scratch + blockIdx.x), gridDim.y - 1);
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across);
    const uint32 at = blockIdx.x * p.across + threadIdx.x - down * p.across;
    const bool mine = at < p.vectors && down < height;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const uint32 column = vector * 2;
    const uint32 columns = mine ? min(uint32(2), p.n0 - column) : 0;
    const int32 i0 = int32(column);
    const uint32 first = column;
    alignas(16) __shared__ uint64 room[1024];
    moments<float> squares0[2] = {moments<float>{0, 0, 0, 0}, moments<float>{0, 0, 0, 0}};
    {
        sums_near<float> part0[2] = {sums_near<float>{0, 0, 0, 0}, sums_near<float>{0, 0, 0, 0}};
        const uint32 n = mine ? p.folded : 0, step = gridDim.y * 8 * height;
        uint32 k = blockIdx.y * 8u * height + down;
        do {
            if (columns == 2) {
                for (uint32 tiles = 0; k < n && tiles < 64; ++tiles, k += step) {
                    alignas(8) float x0[8][2] = {};
                    const bool whole = k + 7 * height < n;
                    unsigned int present = whole ? 8 : 0;
                    if (whole) {
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint2>(x0[u], p.x0 + (i0 + i1 * p.x0_stride2));
                        }
                    } else {
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            if (k + u * height >= n) break;
                            ++present;
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint2>(x0[u], p.x0 + (i0 + i1 * p.x0_stride2));
                        }
                    }
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        float value0[8];
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            value0[u] = x0[u][e];
                        }
                        part0[e] = squares::with(part0[e], value0, present);
                    }
                }
            } else {
                for (; k < n; k += step) {
#pragma unroll 1
                    for (uint32 u = 0; u < 8 && k + u * height < n; ++u) {
                        const uint32 at = k + u * height;
                        const int32 i1 = int32(at);
#pragma unroll
                        for (unsigned int e = 0; e < 2; ++e) {
                            if (e >= columns) break;
                            const int32 i0 = int32(column + e);
                            const float x0 = __ldg(p.x0 + (i0 + i1 * p.x0_stride2));
                            part0[e] = squares::with<float, 1>(part0[e], {x0});
                        }
                    }
                }
            }
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                squares0[e] = squares::join(squares0[e], squares::of_part(part0[e]));
            }
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                part0[e] = sums_near<float>{0, 0, 0, 0};
            }
        } while (k < n);
    }
#pragma unroll 1
    for (bool of_blocks = false;; of_blocks = true) {
        join_down_at_once<squares, 2>(squares0, room, p.across, down, height);
        if (of_blocks || gridDim.y == 1) break;
        // Thread 0 holds the block's ticket; the barrier broadcasts whether it is the last one.
        const bool last = __syncthreads_or(threadIdx.x == 0 && ticket == gridDim.y - 1);
        uint64* const slots = p.scratch + gridDim.x + first;
        const uint64 stride = 4 * uint64(p.rows);
        if (!last) {
            if (mine && down == 0) {
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    if (e >= columns) break;
                    publish(slots + blockIdx.y * stride + e, p.rows, squares0[e]);
                }
            }
            return;
        }
        share_down<2>(squares0, room, p.across, down, height);
        moments<float> whole0[2] = {moments<float>{0, 0, 0, 0}, moments<float>{0, 0, 0, 0}};
#pragma unroll 1
        for (uint32 s = down; mine && s < gridDim.y; s += 1 * height) {
            message<moments<float>> taken0[1][2];
            bool waits = true;
#pragma unroll 1
            while (waits) {
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    const uint64* const part = slots + s * stride;
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        poll(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows);
                    }
                }
                waits = false;
#pragma unroll
                for (unsigned int u = 0; u < 1; ++u) {
                    if (s == blockIdx.y) continue;
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        waits = waits || !is_there(taken0[u][e]);
                    }
                }
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                uint64* const part = slots + s * stride;
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    whole0[e] = squares::join(whole0[e], s == blockIdx.y ? squares0[e] : consume(taken0[u][e], part + (e < columns ? e : columns - 1), p.rows));
                }
            }
        }
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            squares0[e] = whole0[e];
        }
    }
    if (mine && down == 0) {
        alignas(8) float r0[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            if (e >= columns) break;
            const int32 i0 = int32(column + e);
            const float t0 = squares::about_share(squares0[e], p.s0);
            r0[e] = t0 / p.s1;
        }
        if (columns == 2) {
            const int32 i0 = int32(column);
            store<uint2>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                if (e >= columns) break;
                const int32 i0 = int32(column + e);
                __stcs(p.z0 + i0, r0[e]);
            }
        }
    }
}
