// g0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

struct generator_key { uint64 seed, call; };

struct philox_words { uint32 w[4]; };

/// Philox4x32-10.
static inline philox_words philox(const generator_key& key, uint64 counter) {
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

static inline void uniform_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}

static inline float uniform_float(const generator_key& key, uint64 i) {
    float group[4];
    uniform_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

/// Keeps the next loop rolled until it is vectorised; if unrolled before, its calls would stay scalar.
#ifdef __clang__
#define rolled
#else
#define rolled _Pragma("GCC unroll 1")
#endif

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

/// Computes the words of 16 consecutive groups.
#ifdef __AVX2__
typedef uint64 word_lanes __attribute__((vector_size(32)));
static inline word_lanes low_product(word_lanes a, word_lanes b) {
#ifdef __clang__
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#else
    typedef int half_lanes __attribute__((vector_size(32)));
    return (word_lanes)__builtin_ia32_pmuludq256((half_lanes)a, (half_lanes)b);
#endif
}
template <class word>
static inline void philox_groups(word* to, generator_key key, uint64 group) {
    const word_lanes zero = {}, multiplier0 = zero + 0xd2511f53u, multiplier1 = zero + 0xcd9e8d57u;
    rolled
    for (int j = 0; j < 16; j += 4) {
        const word_lanes counter = word_lanes{0, 1, 2, 3} + (group + j);
        word_lanes c0 = counter, c1 = counter >> 32, c2 = zero + key.call, c3 = zero + (key.call >> 32);
        uint32 k0 = uint32(key.seed), k1 = uint32(key.seed >> 32);
        for (int round = 0; round < 10; ++round) {
            const word_lanes a = low_product(c0, multiplier0), b = low_product(c2, multiplier1);
            c0 = b >> 32 ^ c1 ^ k0;
            c2 = a >> 32 ^ c3 ^ k1;
            c1 = b;
            c3 = a;
            k0 += 0x9e3779b9u;
            k1 += 0xbb67ae85u;
        }
        const word_lanes w01 = (c0 & 0xffffffffu) | c1 << 32, w23 = (c2 & 0xffffffffu) | c3 << 32;
        const word_lanes groups[] = {__builtin_shufflevector(w01, w23, 0, 4, 1, 5),
                                     __builtin_shufflevector(w01, w23, 2, 6, 3, 7)};
        __builtin_memcpy((char*)to + 16 * j, groups, sizeof groups);
    }
}
#else
template <class word>
static inline void philox_groups(word* to, generator_key key, uint64 group) {
    rolled
    independent
    for (int j = 0; j < 16; ++j) {
        const philox_words r = philox(key, group + j);
        __builtin_memcpy((char*)to + 16 * j, r.w, sizeof r.w);
    }
}
#endif

/// Computes the numbers [first, first + m) in `to`, which has room for whole vectors of groups.
static inline const float* uniform_float_run(float* to, generator_key key, uint64 first, int m) {
    const int before = int(first % 4), groups = (before + m + 4 - 1) / 4;
    for (int vector = 0; vector < groups; vector += 16) {
        float* const at = to + 4 * vector;
        alignas(64) uint32 words[16 * 4];
        philox_groups(words, key, first / 4 + vector);
        rolled
        independent
        for (int j = 0; j < 64; ++j) at[j] = float(int(words[j] >> 8)) * 0x1p-24f;
    }
    return to + before;
}

struct arguments {
    float* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    alignas(64) float z0_copy[256] = {};
    alignas(64) float g0_numbers[324] = {};
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        float* const z0_row = p.z0 + i0;
        const int64 g0_row = p.g0_first + i0;
        for (int32 first = 0; first < n; first += 256) {
            const int m = n - first < 256 ? int(n - first) : 256;
            const bool whole = m % 16 == 0;
            float* const z0_strip = whole ? z0_row + first : z0_copy;
            const float* const g0_strip = uniform_float_run(g0_numbers, p.g0_key, g0_row + first, m);
            for (int vector = 0; vector < m; vector += 16) {
                rolled
                independent
                for (int j = vector; j < vector + 16; ++j) {
                    const float g0 = g0_strip[j];
                    z0_strip[j] = g0;
                }
            }
            if (z0_strip == z0_copy) for (int j = 0; j < m; ++j) z0_row[first + j] = z0_copy[j];
        }
    }
}
