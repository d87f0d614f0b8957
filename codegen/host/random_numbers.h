// These functions compute many groups of random numbers at once on the host.

//// philox_groups needs generator_key, philox, rolled, independent
// The words are in the order of the elements. g++ needs many shuffles for products of 32-bit lanes, and none in 64-bit
// lanes, whose upper halves a product does not read.
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

//// integers_uint32_run needs ranged_key, scaled, philox_groups
// The integers are the upper halves of products.
/// Computes the numbers [first, first + m) in `to`, which has room for whole vectors of groups.
static inline const uint32* integers_uint32_run(uint32* to, ranged_key key, uint64 first, int m) {
    const int before = int(first % 4), groups = (before + m + 4 - 1) / 4;
    for (int vector = 0; vector < groups; vector += 16) {
        uint32* const at = to + 4 * vector;
        alignas(64) uint32 words[16 * 4];
        philox_groups(words, key.of, first / 4 + vector);
        const uint32 last = uint32(key.last);
        uint32 may_carry = 0;
        rolled
        for (int j = 0; j < 64; ++j) {
            const uint64 product = scaled(words[j], last);
            at[j] = uint32(product >> 32);
            may_carry |= uint32(product) > ~last;
        }
        if (may_carry == 0) continue;
        alignas(64) uint32 lower[64];
        philox_groups(lower, key.of, first / 4 + vector + (1ull << 60));
        rolled
        independent
        for (int j = 0; j < 64; ++j)
            at[j] = uint32((scaled(words[j], last) + (scaled(lower[j], last) >> 32)) >> 32);
    }
    return to + before;
}
