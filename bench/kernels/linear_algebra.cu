// A program with kernels of its own runs this one after a product of matrices. A thread computes four elements.
extern "C" __global__ void exp_of_sum(const float4* __restrict__ product, const float4* __restrict__ c,
                                      float4* __restrict__ y, unsigned int count) {
    const unsigned int i = blockIdx.x * 256u + threadIdx.x;
    if (i >= count) return;
    const float4 a = product[i], b = c[i];
    y[i] = make_float4(expf(a.x + b.x), expf(a.y + b.y), expf(a.z + b.z), expf(a.w + b.w));
}
