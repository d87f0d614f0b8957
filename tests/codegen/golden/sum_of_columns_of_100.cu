// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, stream, stream.2, load_stream, sum_float, join_pairs, join_down, store

struct arguments {
    const float* x0;
    float* z0;
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n0;
    uint32 folded;
    int32 x0_stride1;
};

extern "C" __global__ void __launch_bounds__(256)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 down = quotient(threadIdx.x, p.by_across), height = quotient(256u, p.by_across);
    const uint32 at = blockIdx.x * p.across + threadIdx.x - down * p.across;
    const bool mine = at < p.vectors && down < height;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const uint32 column = vector * 4;
    const uint32 columns = mine ? min(uint32(4), p.n0 - column) : 0;
    const int32 i0 = int32(column);
    alignas(16) __shared__ uint64 room[1024];
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    {
        float part0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        const uint32 n = mine ? p.folded : 0, step = 8 * height;
        uint32 k = down;
        do {
            if (columns == 4) {
                for (uint32 tiles = 0; k < n && tiles < 64; ++tiles, k += step) {
                    alignas(16) float x0[8][4] = {};
                    const bool whole = k + 7 * height < n;
                    if (whole) {
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint4>(x0[u], p.x0 + (i0 + i1 * p.x0_stride1));
                        }
                    } else {
#pragma unroll
                        for (unsigned int u = 0; u < 8; ++u) {
                            if (k + u * height >= n) break;
                            const int32 i1 = int32(k + u * height);
                            load_stream<uint4>(x0[u], p.x0 + (i0 + i1 * p.x0_stride1));
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
                                if (k + u * height >= n) value0[u] = 0.0f;
                            }
                        }
                        part0[e] = sum_float::join(part0[e], join_pairs<sum_float, 8>(value0));
                    }
                }
            } else {
                for (; k < n; k += step) {
#pragma unroll 1
                    for (uint32 u = 0; u < 8 && k + u * height < n; ++u) {
                        const uint32 at = k + u * height;
                        const int32 i1 = int32(at);
#pragma unroll
                        for (unsigned int e = 0; e < 4; ++e) {
                            if (e >= columns) break;
                            const int32 i0 = int32(column + e);
                            const float x0 = __ldg(p.x0 + (i0 + i1 * p.x0_stride1));
                            part0[e] = sum_float::join(part0[e], x0);
                        }
                    }
                }
            }
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                sum0[e] = sum_float::join(sum0[e], part0[e]);
            }
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                part0[e] = 0.0f;
            }
        } while (k < n);
    }
    join_down<sum_float, 4>(sum0, room, p.across, down, height);
    if (mine && down == 0) {
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            if (e >= columns) break;
            const int32 i0 = int32(column + e);
            r0[e] = sum0[e];
        }
        if (columns == 4) {
            const int32 i0 = int32(column);
            store<uint4>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (e >= columns) break;
                const int32 i0 = int32(column + e);
                __stcs(p.z0 + i0, r0[e]);
            }
        }
    }
}
