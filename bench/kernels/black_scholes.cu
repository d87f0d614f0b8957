// European call and put, the put by parity, four options a thread. LIBM 1: CUDA's own logf, expf, erff; 0: bodies of the
// same grade without branches. n counts vectors.
__device__ float ex2(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
__device__ float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
__device__ float reciprocal_root(float x) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

#if LIBM
__device__ float log_of(float x) { return logf(x); }
__device__ float exp_of(float x) { return expf(x); }
__device__ float root_of(float x) { return sqrtf(x); }
__device__ float quotient(float a, float b) { return a / b; }
__device__ float normal(float x) { return 0.5f * (1 + erff(x * 0.70710678f)); }
#else
// For positive normal x, 0.85 ulp.
__device__ float log_of(float x) {
    const int exponent = (__float_as_int(x) - 0x3f2aaaab) & 0xff800000;
    const float m = __int_as_float(__float_as_int(x) - exponent) - 1, s = m * m;
    float r = fmaf(-0.130310059f, s, -0.121483512f), t = fmaf(0.140869141f, s, 0.139814854f);
    r = fmaf(r, s, -0.166846126f);
    t = fmaf(t, s, 0.200120345f);
    r = fmaf(r, s, -0.249996200f);
    r = fmaf(t, m, r);
    r = fmaf(r, m, 0.333331972f);
    r = fmaf(r, m, -0.5f);
    r = fmaf(r, s, m);
    return fmaf((float)exponent * 1.19209290e-7f, 0.693147182f, r);
}
// 2.5 ulp where the result is normal.
__device__ float exp_of(float x) {
    const float high = x * 1.44269504f;
    const float low = fmaf(x, 1.925963033e-8f, fmaf(x, 1.44269504f, -high));
    const float e = ex2(high);
    return fmaf(e, low * 0.693147182f, e);
}
__device__ float root_of(float x) {
    const float r = reciprocal_root(x), s = x * r;
    return fmaf(fmaf(-s, s, x), 0.5f * r, s);
}
__device__ float quotient(float a, float b) {
    const float r = reciprocal(b), q = a * r;
    return fmaf(fmaf(-q, b, a), r, q);
}
// Normal distribution, 2.4e-7 absolute: the density times a polynomial in 1 / (1 + p |x|).
__device__ float normal(float x) {
    const float scale = 0.3989422804f, t = reciprocal(fmaf(0.276f, fabsf(x), 1.0f));
    float p = fmaf(t, -0.2843804312f * scale, 1.1049511745f * scale);
    p = fmaf(t, p, -0.7867213752f * scale);
    p = fmaf(t, p, 0.8075087024f * scale);
    p = fmaf(t, p, 0.1171156581f * scale);
    p = t * fmaf(t, p, 0.2948403989f * scale);
    return 0.5f + copysignf(0.5f - ex2((x * -0.72134752044f) * x) * p, x);
}
#endif

struct prices {
    float call, put;
};

__device__ prices price(float spot, float strike, float time, float rate, float volatility) {
    const float deviation = volatility * root_of(time);
    const float drift = rate + 0.5f * volatility * volatility;
    const float d1 = quotient(log_of(quotient(spot, strike)) + drift * time, deviation);
    const float discounted = strike * exp_of(-rate * time);
    const float call = spot * normal(d1) - discounted * normal(d1 - deviation);
    return {call, call - spot + discounted};
}

extern "C" __global__ void __launch_bounds__(256)
black_scholes(const float4* __restrict__ spot, const float4* __restrict__ strike, const float4* __restrict__ time,
              float4* __restrict__ call, float4* __restrict__ put, float rate, float volatility, unsigned long long n) {
    const unsigned long long i = (unsigned long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const float4 s = __ldcs(spot + i), k = __ldcs(strike + i), t = __ldcs(time + i);
    const prices a = price(s.x, k.x, t.x, rate, volatility), b = price(s.y, k.y, t.y, rate, volatility);
    const prices c = price(s.z, k.z, t.z, rate, volatility), d = price(s.w, k.w, t.w, rate, volatility);
    __stcs(call + i, make_float4(a.call, b.call, c.call, d.call));
    __stcs(put + i, make_float4(a.put, b.put, c.put, d.put));
}
