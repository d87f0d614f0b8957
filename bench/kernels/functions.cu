// A function of CUDA's, FUNCTION of float, of each element, 16 bytes a thread. STORED 0: float; 1: float16; 2: bfloat16,
// which are computed in as float. n counts vectors of 16 bytes.
#if STORED == 0
__device__ unsigned apply(unsigned x) { return __float_as_uint(FUNCTION(__uint_as_float(x))); }
#elif STORED == 1
__device__ float widened(unsigned short h) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(h));
    return y;
}
__device__ unsigned short narrowed(float x) {
    unsigned short y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#else
__device__ float widened(unsigned short h) { return __uint_as_float((unsigned)h << 16); }
__device__ unsigned short narrowed(float x) {
    unsigned short y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#endif
#if STORED != 0
__device__ unsigned apply(unsigned x) {
    const unsigned low = narrowed(FUNCTION(widened((unsigned short)(x & 0xffffu))));
    const unsigned high = narrowed(FUNCTION(widened((unsigned short)(x >> 16))));
    return high << 16 | low;
}
#endif

extern "C" __global__ void __launch_bounds__(256)
function(const uint4* __restrict__ from, uint4* __restrict__ to, unsigned long long n) {
    const unsigned long long i = (unsigned long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const uint4 v = __ldcs(from + i);
    __stcs(to + i, make_uint4(apply(v.x), apply(v.y), apply(v.z), apply(v.w)));
}
