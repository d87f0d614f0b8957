// These kernels show what the memory can do: each streams for one job. A thread has VECTORS vectors of 16 bytes, a
// block THREADS threads.
// n counts vectors; all loads of a thread are in flight before the first is used.
#define STREAM_LOOP for (int v = 0; v < VECTORS; ++v)

__device__ unsigned long long first_vector() {
    return (unsigned long long)blockIdx.x * (THREADS * VECTORS) + threadIdx.x;
}

__device__ float4 plus(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

extern "C" __global__ void __launch_bounds__(THREADS)
copy(const float4* __restrict__ from, float4* __restrict__ to, unsigned long long n) {
    const unsigned long long i = first_vector();
    float4 value[VECTORS];
#pragma unroll
    STREAM_LOOP if (i + v * THREADS < n) value[v] = __ldcs(from + i + v * THREADS);
#pragma unroll
    STREAM_LOOP if (i + v * THREADS < n) __stcs(to + i + v * THREADS, value[v]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
triad(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ to, unsigned long long n) {
    const unsigned long long i = first_vector();
    float4 left[VECTORS], right[VECTORS];
#pragma unroll
    STREAM_LOOP if (i + v * THREADS < n) {
        left[v] = __ldcs(a + i + v * THREADS);
        right[v] = __ldcs(b + i + v * THREADS);
    }
#pragma unroll
    STREAM_LOOP if (i + v * THREADS < n) __stcs(to + i + v * THREADS, plus(left[v], right[v]));
}

// The comparison keeps the loads alive; it never holds for the data that is read.
extern "C" __global__ void __launch_bounds__(THREADS)
read(const float4* __restrict__ from, float4* __restrict__ to, unsigned long long n) {
    const unsigned long long i = first_vector();
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    STREAM_LOOP if (i + v * THREADS < n) sum = plus(sum, __ldcs(from + i + v * THREADS));
    if (sum.x + sum.y + sum.z + sum.w == 1e30f) *to = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
write(float4* __restrict__ to, float value, unsigned long long n) {
    const unsigned long long i = first_vector();
#pragma unroll
    STREAM_LOOP if (i + v * THREADS < n) __stcs(to + i + v * THREADS, make_float4(value, value, value, value));
}

#ifndef READS
#define READS 1
#endif
// Reads READS vectors for each that it writes.
extern "C" __global__ void __launch_bounds__(THREADS)
fold(const float4* __restrict__ from, float4* __restrict__ to, unsigned long long n) {
    const unsigned long long tile = (unsigned long long)blockIdx.x * (THREADS * READS);
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 16
    for (int k = 0; k < READS; ++k)
        if (const unsigned long long i = tile + k * THREADS + threadIdx.x; i < n) sum = plus(sum, __ldcs(from + i));
    if (tile + threadIdx.x < n) __stcs(to + (unsigned long long)blockIdx.x * THREADS + threadIdx.x, sum);
}
