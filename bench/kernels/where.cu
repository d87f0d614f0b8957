// where(x - 2 > y, x * y, x + y) as one writes it by hand: VECTORS 16-byte vectors a thread, THREADS threads a block.
// n counts vectors.
__device__ float one(float x, float y) { return x - 2 > y ? x * y : x + y; }

extern "C" __global__ void __launch_bounds__(THREADS)
where(const float4* __restrict__ x, const float4* __restrict__ y, float4* __restrict__ z, unsigned long long n) {
    const unsigned long long i = (unsigned long long)blockIdx.x * (THREADS * VECTORS) + threadIdx.x;
    float4 a[VECTORS], b[VECTORS];
#pragma unroll
    for (int v = 0; v < VECTORS; ++v)
        if (i + v * THREADS < n) {
            a[v] = __ldcs(x + i + v * THREADS);
            b[v] = __ldcs(y + i + v * THREADS);
        }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v)
        if (i + v * THREADS < n)
            __stcs(z + i + v * THREADS, make_float4(one(a[v].x, b[v].x), one(a[v].y, b[v].y), one(a[v].z, b[v].z),
                                                    one(a[v].w, b[v].w)));
}
