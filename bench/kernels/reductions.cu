// Reductions as one writes them by hand for one shape: 16-byte loads past the first-level cache, several in flight; what
// the blocks have found is added in their order by the block that comes last. `arrived` is zero before and after.
__device__ float4 load(const float4* from) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v;
}
__device__ float added(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ float4 operator-(float4 a, float4 b) { return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
__device__ float4 squared(float4 v) { return make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w); }
__device__ void add(float4& to, float4 v) {
    to.x += v.x;
    to.y += v.y;
    to.z += v.z;
    to.w += v.w;
}

template <class type>
__device__ type over_warp(type v) {
#pragma unroll
    for (int far = 16; far > 0; far >>= 1) v += __shfl_xor_sync(0xffffffffu, v, far);
    return v;
}
/// The block's sum, in its first warp.
template <class type>
__device__ type over_block(type v) {
    __shared__ type warps[32];
    v = over_warp(v);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : type(0);
    __syncthreads();
    return over_warp(v);
}
/// Whether this block is the last of `blocks` to come here.
__device__ bool comes_last(unsigned int* arrived, unsigned int blocks) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(arrived, 1) == blocks - 1;
        if (last) *arrived = 0;
    }
    __syncthreads();
    __threadfence();
    return last;
}

/// sum((x - y)^2); n counts vectors, a multiple of 1024.
extern "C" __global__ void __launch_bounds__(256)
squared_distance(const float4* x, const float4* y, float* z, double* partial, unsigned int* arrived,
                 unsigned long long n) {
    double sum = 0;
    for (unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; i < n; i += gridDim.x * 1024ull) {
        float4 a[4], b[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            a[v] = load(x + i + v * 256);
            b[v] = load(y + i + v * 256);
        }
        float4 squares = make_float4(0, 0, 0, 0);
#pragma unroll
        for (int v = 0; v < 4; ++v) add(squares, squared(a[v] - b[v]));
        sum += added(squares);
    }
    sum = over_block(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    if (!comes_last(arrived, gridDim.x)) return;
    sum = 0;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += 256) sum += __ldcg(partial + b);
    sum = over_block(sum);
    if (threadIdx.x == 0) *z = float(sum);
}

/// sqrt(sum(x * x, 1)) of rows of 4096: a block a row.
extern "C" __global__ void __launch_bounds__(256) row_norms(const float4* x, float* z) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = load(x + blockIdx.x * 1024ull + k * 256 + threadIdx.x);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += added(squared(v[k]));
    sum = over_block(sum);
    if (threadIdx.x == 0) z[blockIdx.x] = sqrtf(sum);
}

/// sqrt(sum(x * x, 0)) of 4096 columns: tiles of 32 vectors x 8 rows, 33 blocks a tile column; grid 32 * 33.
extern "C" __global__ void __launch_bounds__(256)
column_norms(const float4* x, float4* z, float4* partial, unsigned int* arrived, unsigned int rows) {
    constexpr unsigned int splits = 33, width = 1024;
    __shared__ float4 tile[8][32];
    const unsigned int lane = threadIdx.x % 32, down = threadIdx.x / 32, split = blockIdx.x / 32;
    const unsigned int column = blockIdx.x % 32 * 32 + lane;
    float4 sum = make_float4(0, 0, 0, 0);
    for (unsigned int row = split * 32; row < rows; row += splits * 32) {
        float4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = load(x + (row + k * 8 + down) * (unsigned long long)width + column);
#pragma unroll
        for (int k = 0; k < 4; ++k) add(sum, squared(v[k]));
    }
    tile[down][lane] = sum;
    __syncthreads();
    if (down == 0) {
        for (int k = 1; k < 8; ++k) add(sum, tile[k][lane]);
        partial[split * width + column] = sum;
    }
    if (!comes_last(arrived + blockIdx.x % 32, splits)) return;
    if (down != 0) return;
    sum = make_float4(0, 0, 0, 0);
    for (unsigned int s = 0; s < splits; ++s) add(sum, __ldcg(partial + s * width + column));
    z[column] = make_float4(sqrtf(sum.x), sqrtf(sum.y), sqrtf(sum.z), sqrtf(sum.w));
}

/// The mean of x and the reciprocal of its standard deviation; n counts vectors, a multiple of 1024.
extern "C" __global__ void __launch_bounds__(256)
moments(const float4* x, float2* z, double2* partial, unsigned int* arrived, unsigned long long n) {
    double sum = 0, squares = 0;
    for (unsigned long long i = blockIdx.x * 1024ull + threadIdx.x; i < n; i += gridDim.x * 1024ull) {
        float4 v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) v[k] = load(x + i + k * 256);
        float4 s = make_float4(0, 0, 0, 0), q = s;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            add(s, v[k]);
            add(q, squared(v[k]));
        }
        sum += added(s);
        squares += added(q);
    }
    sum = over_block(sum);
    squares = over_block(squares);
    if (threadIdx.x == 0) partial[blockIdx.x] = make_double2(sum, squares);
    if (!comes_last(arrived, gridDim.x)) return;
    sum = squares = 0;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += 256) {
        const double2 p = __ldcg(partial + b);
        sum += p.x;
        squares += p.y;
    }
    sum = over_block(sum) / (4.0 * n);
    squares = over_block(squares) / (4.0 * n);
    if (threadIdx.x == 0) *z = make_float2(float(sum), float(rsqrt(squares - sum * sum)));
}

/// (x - mean) / deviation + y; n counts vectors.
extern "C" __global__ void __launch_bounds__(256)
standardise(const float4* x, const float4* y, const float2* found, float4* z, unsigned long long n) {
    const unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
    if (i >= n) return;
    const float2 m = *found;
    const float4 a = load(x + i), b = load(y + i);
    __stcs(z + i, make_float4((a.x - m.x) * m.y + b.x, (a.y - m.x) * m.y + b.y, (a.z - m.x) * m.y + b.z,
                              (a.w - m.x) * m.y + b.w));
}
