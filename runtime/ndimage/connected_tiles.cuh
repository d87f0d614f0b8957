// Connected parts begin as those of tiles of the last two axes, in shared memory. Before it stands connected_parts.cuh.

/// An element names the first one of its part within a tile. A warp has some of the tile's rows.
extern "C" __global__ void __launch_bounds__(256) begin_parts(const __grid_constant__ arguments a) {
    __shared__ int parents[high * wide];
    __shared__ unsigned int rows[high];  // a bit for each element that is inside
    const number width = a.extents[rank - 1], height = a.extents[rank - 2];
    const number across = (width + wide - 1) / wide, down = (height + high - 1) / high;
    const number line = blockIdx.x / across, outer = line / down;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const number column = (blockIdx.x - line * across) * wide + lane, row = (line - outer * down) * high;
    const number first = (outer * height + row) * width + column;  // of the lane
    const bool joins_left = is_connected(a, left);
#pragma unroll
    for (int r = warp; r < high; r += 8) {
        const bool is_inside = column < width && row + r < height && a.inside[first + r * width];
        const unsigned int inside = __ballot_sync(0xffffffffu, is_inside), follow = joins_left ? inside << 1 & inside : 0;
        parents[r * wide + lane] = is_inside ? r * wide + 31 - __clz(~follow & (0xffffffffu >> (31 - lane))) : -1;
        if (lane == 0) rows[r] = inside;
    }
    __syncthreads();
    for (int r = warp; r < high; r += 8) {
        if (r == 0 || !(rows[r] >> lane & 1)) continue;
#pragma unroll
        for (int step = -1; step <= 1; ++step) {
            const int other = lane + step;
            if (other < 0 || other >= wide || !(rows[r - 1] >> other & 1) || !is_connected(a, above + step)) continue;
            // A neighbour is joined through those on the left of both where these are inside.
            if (joins_left && lane > 0 && other > 0 && (rows[r] >> (lane - 1) & rows[r - 1] >> (other - 1) & 1)) continue;
            join<block_memory>(parents, r * wide + lane, (r - 1) * wide + other);
        }
    }
    __syncthreads();
#pragma unroll
    for (int r = warp; r < high; r += 8) {
        if (column >= width || row + r >= height) continue;
        number root = parents[r * wide + lane];
        if (root >= 0) {
            const int within = root_of<block_memory>(parents, int(root));
            root = first - lane + within / wide * width + within % wide;
        }
        a.parents[first + r * width] = root;
    }
}
