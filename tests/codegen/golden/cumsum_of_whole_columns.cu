// cumsum(x0)
using int32 = int;
using uint32 = unsigned int;

//// divisor, copy16, sum_float, scan_down, store

struct arguments {
    const float* x0;
    float* z0;
    uint32 vectors;
    uint32 across;
    divisor by_across;
    uint32 n1;
    uint32 scanned;
    int32 x0_stride2;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 2)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    constexpr uint32 height = 32;
    const uint32 down = quotient(threadIdx.x, p.by_across), x = threadIdx.x - down * p.across;
    const uint32 own = blockIdx.x * p.across + x;
    const bool mine = own < p.vectors && down < height;
    const uint32 vector = min(own, p.vectors - 1);
    const uint32 column = vector * 4;
    const uint32 columns = mine ? min(uint32(4), p.n1 - column) : 0;
    const int32 i1 = int32(column);
    const uint32 first = down * 17, own_smem_index = first * p.across + x;
    extern __shared__ uint4 staged[];
    float* const x0_staged = reinterpret_cast<float*>(staged);
    if (columns == 4) {
#pragma unroll 17
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            if (at < p.scanned) {
                copy16(x0_staged + smem_index * 4, p.x0 + (i1 + i0 * p.x0_stride2));
            } else {
                *reinterpret_cast<uint4*>(x0_staged + smem_index * 4) = {};
            }
        }
    }
    if (mine && columns < 4) {
#pragma unroll 1
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            if (at < p.scanned) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const int32 i1 = int32(column + e);
                    (x0_staged + smem_index * 4)[e] = e < columns ? __ldg(p.x0 + (i1 + i0 * p.x0_stride2)) : 0.0f;
                }
            } else {
                *reinterpret_cast<uint4*>(x0_staged + smem_index * 4) = {};
            }
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    float part0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        part0[e] = -0.0f;
    }
    if (mine) {
#pragma unroll 17
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 4);
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                part0[e] = sum_float::join(part0[e], x0[e]);
            }
        }
    }
    __shared__ float room_sum0[1024];
    scan_down<sum_float, 256>(part0, room_sum0, down, height, p.across, -0.0f);
    float base_sum0[4], sum0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (down < height) base_sum0[e] = part0[e];
        sum0[e] = -0.0f;
    }
    if (columns == 4) {
#pragma unroll 17
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 4);
            alignas(16) float r0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                sum0[e] = sum_float::join(sum0[e], x0[e]);
                const float all_sum0 = sum_float::join(base_sum0[e], sum0[e]);
                r0[e] = all_sum0;
            }
            if (at < p.scanned) {
                store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), r0);
            }
        }
    }
    if (mine && columns < 4) {
#pragma unroll 1
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + u * p.across;
            const int32 i0 = int32(at);
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = *reinterpret_cast<const uint4*>(x0_staged + smem_index * 4);
            alignas(16) float r0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                sum0[e] = sum_float::join(sum0[e], x0[e]);
                const float all_sum0 = sum_float::join(base_sum0[e], sum0[e]);
                r0[e] = all_sum0;
            }
            if (at < p.scanned) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const int32 i1 = int32(column + e);
                    if (e < columns) {
                        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0[e]);
                    }
                }
            }
        }
    }
}
