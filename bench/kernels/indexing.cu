// a + transpose(b) as one writes it by hand: a block adds a tile of 64 x 64, whose elements of b go through shared
// memory. a and to are (rows, columns), b (columns, rows), both multiples of 64.
extern "C" __global__ void __launch_bounds__(256)
add_transposed(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ to, unsigned rows,
               unsigned columns) {
    __shared__ float tile[64][65];
    const unsigned across = columns / 64, x = threadIdx.x % 16 * 4, y = threadIdx.x / 16;
    const unsigned long long i = blockIdx.x / across * 64, j = blockIdx.x % across * 64;
    float4 of_a[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const unsigned row = y + 16 * k;
        of_a[k] = __ldcs((const float4*)(a + (i + row) * columns + j + x));
        const float4 of_b = __ldcs((const float4*)(b + (j + row) * rows + i + x));
        tile[row][x] = of_b.x;
        tile[row][x + 1] = of_b.y;
        tile[row][x + 2] = of_b.z;
        tile[row][x + 3] = of_b.w;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const unsigned row = y + 16 * k;
        const float4 v = of_a[k];
        __stcs((float4*)(to + (i + row) * columns + j + x),
               make_float4(v.x + tile[x][row], v.y + tile[x + 1][row], v.z + tile[x + 2][row], v.w + tile[x + 3][row]));
    }
}
