// Products of a csr with a dense vector or matrix. Before it stands what element_text.hpp says.

struct arguments {
    const value* values;
    const index* indices;
    const index* starts;
    const value* x;
    value* y;
    int64 rows, columns, width;
};

/// Each row by a group of lanes, whose sums are then added.
extern "C" __global__ void __launch_bounds__(256) times_vector(const __grid_constant__ arguments a) {
    const int64 row = (int64(blockIdx.x) * 256 + threadIdx.x) / lanes;
    const int lane = threadIdx.x % lanes;
    value sum = {};
    if (row < a.rows) {
        const int64 end = a.starts[row + 1];
        int64 e = a.starts[row] + lane;
        value other = {};
        for (; e + lanes < end; e += 2 * lanes) {
            sum = with_product(sum, a.values[e], a.x[a.indices[e]]);
            other = with_product(other, a.values[e + lanes], a.x[a.indices[e + lanes]]);
        }
        if (e < end) sum = with_product(sum, a.values[e], a.x[a.indices[e]]);
        sum = sum_of(sum, other);
    }
    sum = sum_of_lanes(sum);
    if (lane == 0 && row < a.rows) a.y[row] = sum;
}

/// Each row by a group of lanes side by side along the columns of x.
extern "C" __global__ void __launch_bounds__(256) times_matrix(const __grid_constant__ arguments a) {
    const int64 row = (int64(blockIdx.x) * 256 + threadIdx.x) / lanes;
    if (row >= a.rows) return;
    const int64 begin = a.starts[row], end = a.starts[row + 1];
    for (int64 j = threadIdx.x % lanes; j < a.width; j += lanes) {
        value sum = {};
#pragma unroll 4
        for (int64 e = begin; e < end; ++e) sum = with_product(sum, a.values[e], a.x[a.indices[e] * a.width + j]);
        a.y[row * a.width + j] = sum;
    }
}
