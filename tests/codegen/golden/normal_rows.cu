// g0 * x0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

/// The call's number, and the two words that each Philox round mixes in, derived from the seed.
struct generator_key { uint64 call; uint32 rounds[20]; };

struct philox_words { uint32 w[4]; };

/// Multiplies 32-bit words. For 64-bit operands ptxas would add the products of the zero upper halves.
__device__ __forceinline__ uint64 wide_product(uint32 a, uint32 b) { return uint64(__umulhi(a, b)) << 32 | a * b; }

/// Philox4x32-10.
__device__ __forceinline__ philox_words philox(const generator_key& key, uint64 counter) {
    uint32 c0 = uint32(counter), c1 = uint32(counter >> 32), c2 = uint32(key.call), c3 = uint32(key.call >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64 a = wide_product(c0, 0xd2511f53u), b = wide_product(c2, 0xcd9e8d57u);
        c0 = uint32(b >> 32) ^ c1 ^ key.rounds[2 * round];
        c2 = uint32(a >> 32) ^ c3 ^ key.rounds[2 * round + 1];
        c1 = uint32(b);
        c3 = uint32(a);
    }
    return {{c0, c1, c2, c3}};
}

/// Box-Muller: word p gives the radius, word q the angle.
__device__ __forceinline__ void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * log(double(p >> 11) * 0x1p-53 + 0x1p-54));
    const double angle = 6.28318530717958647692 * (double(q >> 11) * 0x1p-53);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}

__device__ __forceinline__ void normal_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}

__device__ __forceinline__ double normal_double(const generator_key& key, uint64 i) {
    double group[2];
    normal_double(group, key, i / 2);
    return i & 1 ? group[1] : group[0];
}

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const double* x0;
    double* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n1;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    int32 z0_stride0;
    int32 g0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 q = blockIdx.x * 256u + threadIdx.x;
    if (q >= p.vectors) return;
    const uint32 row = quotient(q, p.by_row);
    const uint32 i = (q - row * p.row_vectors) * 2;
    const int32 i1 = int32(i);
    const int32 i0 = int32(row);
    const double x0 = __ldg(p.x0 + i0);
    double* const z0_at = p.z0 + (i0 * p.z0_stride0 + i1);
    if (p.n1 - i >= 2) {
        double g0[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            g0[e] = normal_double(p.g0_key, p.g0_first + (i0 * p.g0_stride0 + i1) + e);
        }
        alignas(16) double z0[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            z0[e] = g0[e] * x0;
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(2), p.n1 - i); ++e) {
        const double g0 = normal_double(p.g0_key, p.g0_first + (i0 * p.g0_stride0 + i1) + e);
        const double z0 = g0 * x0;
        z0_at[e] = z0;
    }
}
