// The first kernel shows the rate of arithmetic: multiply-adds in independent chains. The second keeps the device
// waiting, so that work given to it meanwhile is timed without the time that giving it takes.
extern "C" __global__ void __launch_bounds__(256) operations(float* to, float factor, unsigned int rounds) {
    float chain[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) chain[k] = threadIdx.x + k;
#pragma unroll 8
    for (unsigned int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < 8; ++k) chain[k] = chain[k] * factor + 1.0f;
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += chain[k];
    if (sum == 1e30f) *to = sum;
}

extern "C" __global__ void wait(unsigned long long nanoseconds) {
    unsigned long long from, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - from < nanoseconds);
}
