// These kernels compute whole statements as one writes them by hand: a thread simulates a path, a call of Philox gives
// four numbers, and a small last kernel adds the sums of the blocks in their order. The numbers are those of
// <ingot/core/philox.hpp>, drawn by calls of one seed.
struct four { unsigned int w[4]; };

/// One instruction, where the product of words of 64 bits is two.
__device__ unsigned long long product(unsigned int a, unsigned int b) {
    return (unsigned long long)__umulhi(a, b) << 32 | a * b;
}
__device__ four philox(unsigned long long seed, unsigned long long call, unsigned long long counter) {
    unsigned int c0 = counter, c1 = counter >> 32, c2 = call, c3 = call >> 32;
    unsigned int k0 = seed, k1 = seed >> 32;
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = product(c0, 0xd2511f53u), b = product(c2, 0xcd9e8d57u);
        c0 = (unsigned int)(b >> 32) ^ c1 ^ k0;
        c2 = (unsigned int)(a >> 32) ^ c3 ^ k1;
        c1 = b;
        c3 = a;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{c0, c1, c2, c3}};
}
__device__ float uniform(unsigned int word) { return float(word >> 8) * 0x1p-24f; }

/// Box-Muller. sincospif takes the angle without its rounding and needs no slow path.
__device__ float2 normals(unsigned int p, unsigned int q) {
    const float radius = sqrtf(-2.0f * logf(float(p) * 0x1p-32f + 0x1p-33f));
    float sine, cosine;
    sincospif(2.0f * uniform(q), &sine, &cosine);
    return make_float2(radius * cosine, radius * sine);
}

template <class type>
__device__ type over_warp(type v) {
#pragma unroll
    for (int far = 16; far > 0; far >>= 1) v += __shfl_xor_sync(0xffffffffu, v, far);
    return v;
}
/// The sum of a block of 256, in its first warp.
template <class type>
__device__ type over_block(type v) {
    __shared__ type warps[8];
    v = over_warp(v);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    return over_warp(threadIdx.x < 8 ? warps[threadIdx.x] : type(0));
}

/// The payoffs of paths of 252 steps, mean(maximum(mean(100 * exp(cumsum(0.01 * normal - 5e-5))) - 100, 0)), summed by
/// blocks of 256 paths.
extern "C" __global__ void __launch_bounds__(256)
paths(unsigned long long seed, unsigned long long call, double* partial) {
    constexpr int groups = 63;
    const unsigned long long first = (blockIdx.x * 256ull + threadIdx.x) * groups;
    float level = 0, total = 0;
    const auto step = [&](float normal) {
        level += 0.01f * normal - 5e-5f;
        total += 100.0f * expf(level);
    };
#pragma unroll 1
    for (int g = 0; g < groups; ++g) {
        const four r = philox(seed, call, first + g);
        const float2 a = normals(r.w[0], r.w[1]), b = normals(r.w[2], r.w[3]);
        step(a.x);
        step(a.y);
        step(b.x);
        step(b.y);
    }
    const double payoff = over_block(double(fmaxf(total / (4.0f * groups) - 100.0f, 0.0f)));
    if (threadIdx.x == 0) partial[blockIdx.x] = payoff;
}

/// How many pairs (u, v) lie in the unit circle, by blocks of 256 threads that take `each` groups of four a thread.
extern "C" __global__ void __launch_bounds__(256)
circle(unsigned long long seed, unsigned long long u_call, unsigned long long v_call, unsigned int each,
       double* partial) {
    const unsigned long long first = blockIdx.x * 256ull * each + threadIdx.x;
    unsigned int inside = 0;
#pragma unroll 2
    for (unsigned int g = 0; g < each; ++g) {
        const four u = philox(seed, u_call, first + g * 256ull), v = philox(seed, v_call, first + g * 256ull);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const float x = uniform(u.w[e]), y = uniform(v.w[e]);
            inside += x * x + y * y < 1.0f;
        }
    }
    inside = over_block(inside);
    if (threadIdx.x == 0) partial[blockIdx.x] = inside;
}

/// z = sum(partial) * scale, by one block of 256.
extern "C" __global__ void __launch_bounds__(256)
finish(const double* partial, unsigned int blocks, double scale, double* z) {
    double sum = 0;
    for (unsigned int b = threadIdx.x; b < blocks; b += 256) sum += partial[b];
    sum = over_block(sum);
    if (threadIdx.x == 0) *z = sum * scale;
}

/// Computes the attraction of each of n points by all of them, n a multiple of 512. A lane has a point; eight warps
/// share the others.
extern "C" __global__ void __launch_bounds__(256)
attractions(const float* x, const float* y, const float* z, float* to_x, float* to_y, float* to_z, unsigned int n) {
    constexpr unsigned int points = 512, each = points / 8;
    __shared__ float4 tile[points];
    __shared__ float3 sums[8][32];
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane;
    const float px = x[i], py = y[i], pz = z[i];
    float3 sum = make_float3(0, 0, 0);
    for (unsigned int first = 0; first < n; first += points) {
        for (unsigned int k = threadIdx.x; k < points; k += 256)
            tile[k] = make_float4(x[first + k], y[first + k], z[first + k], 0);
        __syncthreads();
#pragma unroll 8
        for (unsigned int k = 0; k < each; ++k) {
            const float4 other = tile[warp * each + k];
            const float dx = other.x - px, dy = other.y - py, dz = other.z - pz;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), weight = r * r * r;
            sum.x += dx * weight;
            sum.y += dy * weight;
            sum.z += dz * weight;
        }
        __syncthreads();
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp != 0) return;
    for (unsigned int w = 1; w < 8; ++w) {
        sum.x += sums[w][lane].x;
        sum.y += sums[w][lane].y;
        sum.z += sums[w][lane].z;
    }
    to_x[i] = sum.x;
    to_y[i] = sum.y;
    to_z[i] = sum.z;
}
