// Computes the first result of first_result.cpp in a program that nvcc has built for this GPU: no start takes less.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

__global__ void where(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] - 2 > y[i] ? x[i] * y[i] : x[i] + y[i];
}

static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "prebuilt: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

int main() {
    const int n = 1 << 20;
    std::vector<float> x(n), y(n), z(n);
    for (int i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i % 1009) / 126 - 4;
        y[i] = static_cast<float>(i % 997) / 125 - 4;
    }
    const std::size_t bytes = n * sizeof(float);
    float *a, *b, *c;
    check(cudaMalloc(&a, bytes));
    check(cudaMalloc(&b, bytes));
    check(cudaMalloc(&c, bytes));
    check(cudaMemcpy(a, x.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(b, y.data(), bytes, cudaMemcpyHostToDevice));
    where<<<n / 256, 256>>>(a, b, c, n);
    check(cudaGetLastError());
    check(cudaMemcpy(z.data(), c, bytes, cudaMemcpyDeviceToHost));
    std::printf("%.9g\n", z[0]);
    std::fflush(stdout);
    return z[0] == (x[0] - 2 > y[0] ? x[0] * y[0] : x[0] + y[0]) ? 0 : 1;
}
