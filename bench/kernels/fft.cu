// Between two transforms: a spectrum times another, and the scale of the way back. A thread two complex numbers.
extern "C" __global__ void multiply(const float4* __restrict__ x, const float4* __restrict__ h, float4* __restrict__ y,
                                    float scale, unsigned int count) {
    const unsigned int i = blockIdx.x * 256u + threadIdx.x;
    if (i >= count) return;
    const float4 a = x[i], b = h[i];
    y[i] = make_float4(scale * (a.x * b.x - a.y * b.y), scale * (a.x * b.y + a.y * b.x),
                       scale * (a.z * b.z - a.w * b.w), scale * (a.z * b.w + a.w * b.z));
}
