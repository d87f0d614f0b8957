// g0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

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

__device__ __forceinline__ void uniform_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}

__device__ __forceinline__ float uniform_float(const generator_key& key, uint64 i) {
    float group[4];
    uniform_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    float* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i = (blockIdx.x * 256u + threadIdx.x) * 4;
    if (i >= p.n0) return;
    const int32 i0 = int32(i);
    float* const z0_at = p.z0 + i0;
    float g0[4];
#pragma unroll
    for (int e = 0; e < 4; e += 4)
        uniform_float(g0 + e, p.g0_key, uint64(p.g0_first + i0 + e) / 4);
    alignas(16) float z0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        z0[e] = g0[e];
    }
    if (p.n0 - i >= 4) {
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (e >= p.n0 - i) break;
        z0_at[e] = z0[e];
    }
}
