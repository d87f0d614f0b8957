// max(x0)
using int32 = int;
using uint32 = unsigned int;

//// divisor, stream, stream.2, load_stream, max_or_nan, max_float, join_pairs, store

struct arguments {
    const float* x0;
    float* z0;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    uint32 width;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride2;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 begin = blockIdx.x * 128u + threadIdx.x;
    alignas(16) float x0[1][8][4];
#pragma unroll
    for (unsigned int j = 0; j < 1; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const uint32 column = (vector - outer * p.row_vectors) * 4, columns = min(uint32(4), p.width - column);
        if (columns == 4) {
            const int32 i1 = int32(column);
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (u >= p.folded) break;
                const int32 i2 = int32(u);
                load_stream<uint4>(x0[j][u], p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2));
            }
        } else {
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (u >= p.folded) break;
                const int32 i2 = int32(u);
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (e >= columns) break;
                    const int32 i1 = int32(column + e);
                    x0[j][u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2));
                }
            }
        }
    }
#pragma unroll
    for (unsigned int j = 0; j < 1; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const uint32 column = (vector - outer * p.row_vectors) * 4, columns = min(uint32(4), p.width - column);
        float max0[4] = {-__int_as_float(0x7f800000), -__int_as_float(0x7f800000), -__int_as_float(0x7f800000), -__int_as_float(0x7f800000)};
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            if (e >= columns) break;
            const int32 i1 = int32(column + e);
            float value0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                value0[u] = u < p.folded ? x0[j][u][e] : -__int_as_float(0x7f800000);
            }
            max0[e] = join_pairs<max_float, 8>(value0);
        }
        if (at < p.vectors) {
            alignas(16) float r0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (e >= columns) break;
                const int32 i1 = int32(column + e);
                r0[e] = max0[e];
            }
            if (columns == 4) {
                const int32 i1 = int32(column);
                store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), r0);
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (e >= columns) break;
                    const int32 i1 = int32(column + e);
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0[e]);
                }
            }
        }
    }
}
