// The kernel of own_kernel.cpp: each element becomes the median of itself and its neighbours. nvcc compiles it into the
// program; where there is none, or no GPU, Ingot compiles the same text when the program runs.
extern "C" __global__ void median_of_three(const float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float a = from[i > 0 ? i - 1 : 0], b = from[i], c = from[i + 1 < n ? i + 1 : n - 1];
    to[i] = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}

#if defined(__NVCC__) && !defined(__CUDACC_RTC__)
#include <cuda_runtime.h>

void launch_median_of_three(const float* from, float* to, int n, void* stream) {
    median_of_three<<<(n + 255) / 256, 256, 0, static_cast<cudaStream_t>(stream)>>>(from, to, n);
}
#endif
