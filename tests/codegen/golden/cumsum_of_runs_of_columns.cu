// cumsum(x0)
using int32 = int;
using uint32 = unsigned int;

//// divisor, copy16, load_run, store_run.2, sum_float, scan_down

struct arguments {
    const float* x0;
    float* z0;
    uint32 outers;
    uint32 height;
    uint32 groups;
    divisor by_height;
    uint32 scanned;
    divisor by_cells;
};

extern "C" __global__ void __launch_bounds__(256, 4)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    constexpr uint32 across = 3;
    const uint32 height = p.height, groups = p.groups;
    const uint32 slot = threadIdx.x / across, x = threadIdx.x - slot * across;
    const uint32 group = quotient(slot, p.by_height), down = slot - group * height;
    const uint32 first_outer = blockIdx.x * groups;
    const bool mine = group < groups && first_outer + group < p.outers;
    const uint32 outer = min(first_outer + group, p.outers - 1);
    const uint32 column = x * 1;
    const uint32 gap = p.scanned * 3u % 16 == 0 ? 4 : 0;
    const int32 i0 = int32(outer);
    const uint32 columns = mine ? 1 : 0;
    const int32 i2 = int32(column);
    const uint32 first = down * 17, own_smem_index = group * (p.scanned * across + gap) + first * across + x;
    const uint32 last = p.scanned - 1 - first;
    extern __shared__ uint4 staged[];
    float* x0_staged = reinterpret_cast<float*>(staged);
    const uint32 cells = p.scanned * 3u, first_cell = first_outer * cells;
    const uint32 end_cell = min(first_outer + groups, p.outers) * cells;
    x0_staged += first_cell % 4;
    load_run(x0_staged, p.x0, first_cell, end_cell, gap * 1, p.by_cells);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    float part0[1];
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        part0[e] = -0.0f;
    }
    if (mine) {
#pragma unroll 17
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + (u < last ? u : last) * across;
            const int32 i1 = int32(at);
            float x0[1];
            reinterpret_cast<unsigned int&>(x0) = *reinterpret_cast<const unsigned int*>(x0_staged + smem_index);
#pragma unroll
            for (unsigned int e = 0; e < 1; ++e) {
                part0[e] = sum_float::join(part0[e], x0[0]);
            }
        }
    }
    __shared__ float room_sum0[256];
    scan_down<sum_float, 256>(part0, room_sum0, down, height, across, -0.0f);
    float base_sum0[1], sum0[1];
#pragma unroll
    for (unsigned int e = 0; e < 1; ++e) {
        if (down < height) base_sum0[e] = part0[e];
        sum0[e] = -0.0f;
    }
    if (mine) {
#pragma unroll 17
        for (unsigned int u = 0; u < 17; ++u) {
            const uint32 at = first + u, smem_index = own_smem_index + (u < last ? u : last) * across;
            const int32 i1 = int32(at);
            float x0[1];
            reinterpret_cast<unsigned int&>(x0) = *reinterpret_cast<const unsigned int*>(x0_staged + smem_index);
            float r0[1];
#pragma unroll
            for (unsigned int e = 0; e < 1; ++e) {
                sum0[e] = sum_float::join(sum0[e], x0[0]);
                const float all_sum0 = sum_float::join(base_sum0[e], sum0[e]);
                r0[e] = all_sum0;
            }
            if (at < p.scanned) {
                *reinterpret_cast<unsigned int*>(x0_staged + smem_index) = reinterpret_cast<const unsigned int&>(r0);
            }
        }
    }
    __syncthreads();
    store_run(p.z0, x0_staged, first_cell, end_cell, gap * 1, p.by_cells);
}
