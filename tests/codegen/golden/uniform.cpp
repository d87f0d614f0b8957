// g0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

struct generator_key { uint64 seed, call; };
struct philox_words { uint32 w[4]; };

/// Philox4x32-10.
static inline philox_words philox(generator_key key, uint64 counter) {
    uint32 c0 = uint32(counter), c1 = uint32(counter >> 32), c2 = uint32(key.call), c3 = uint32(key.call >> 32);
    uint32 k0 = uint32(key.seed), k1 = uint32(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64 a = uint64(c0) * 0xd2511f53u, b = uint64(c2) * 0xcd9e8d57u;
        c0 = uint32(b >> 32) ^ c1 ^ k0;
        c2 = uint32(a >> 32) ^ c3 ^ k1;
        c1 = uint32(b);
        c3 = uint32(a);
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{c0, c1, c2, c3}};
}

static inline void uniform_float(float* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}

static inline float uniform_float(generator_key key, uint64 i) {
    float group[4];
    uniform_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct arguments {
    float* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        float* const z0_row = p.z0 + i0;
        const int64 g0_row = p.g0_first + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            z0_row[j] = uniform_float(p.g0_key, g0_row + j);
        }
    }
}
