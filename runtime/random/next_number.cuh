// Begins the kernels that use rejection: next() draws a uniform number, 0 < u <= 1, of 53 bits.
//
// It is Philox4x32-10 of (seed, call, element), as in <ingot/core/philox.hpp>, but the call's top bits count the
// blocks, from 1. So no number is another leaf's, up to 2^40 calls of a generator. An element needs few of 2^24 blocks.
// The low 11 bits of `word` are random bits that the last number does not have.

unsigned long long trial = 0, kept = 0, word = 0;
bool has_kept = false;
const auto next = [&]() -> double {
    word = kept;
    has_kept = !has_kept;
    if (has_kept) {
        const unsigned long long drawn_by = call + (++trial << 40);
        unsigned int c0 = (unsigned int)number, c1 = (unsigned int)((unsigned long long)number >> 32);
        unsigned int c2 = (unsigned int)drawn_by, c3 = (unsigned int)(drawn_by >> 32);
        unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
        for (int round = 0; round < 10; ++round) {
            const unsigned long long a = c0 * 0xd2511f53ull, b = c2 * 0xcd9e8d57ull;
            c0 = (unsigned int)(b >> 32) ^ c1 ^ k0;
            c2 = (unsigned int)(a >> 32) ^ c3 ^ k1;
            c1 = (unsigned int)b;
            c3 = (unsigned int)a;
            k0 += 0x9e3779b9u;
            k1 += 0xbb67ae85u;
        }
        word = (unsigned long long)c1 << 32 | c0;
        kept = (unsigned long long)c3 << 32 | c2;
    }
    return double(word >> 11) * 0x1p-53 + 0x1p-54;
};
