// Connected parts begin as runs of the last axis within a warp. Before it stands connected_parts.cuh.

/// An element names the first one of its run, within the 32 elements of a warp.
extern "C" __global__ void __launch_bounds__(256) begin_parts(const __grid_constant__ arguments a) {
    const number i = number(blockIdx.x) * 256 + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const bool is_inside = i < a.size && a.inside[i];
    const unsigned int inside = __ballot_sync(0xffffffffu, is_inside);
    const bool follows = lane > 0 && i % a.extents[rank - 1] != 0 && (inside >> (lane - 1) & 1) && is_connected(a, left);
    const unsigned int first = __ballot_sync(0xffffffffu, !follows) & (0xffffffffu >> (31 - lane));
    if (i < a.size) a.parents[i] = is_inside ? i - lane + 31 - __clz(first) : -1;
}
