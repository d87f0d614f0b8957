// The random numbers of a Philox leaf, as plain functions of (seed, call number, element). Printed kernels and the
// interpreter must compute these bit for bit.
//
//   block       Philox4x32 with 10 rounds turns a 128-bit counter and a 64-bit key into four 32-bit words w0..w3.
//               key = (seed low, seed high); counter = (block low, block high, call low, call high), low 32 bits first.
//   element i   of the unviewed leaf, in float32 and uint32: block i / 4, word i % 4; in float64 and uint64: block
//               i / 2, the 64-bit word low | high << 32 of w0 and w1 where i is even, of w2 and w3 where it is odd.
//   bits        the word as it is: uint32 or uint64.
//   uniform     float32: (word >> 8) * 2^-24; float64: (word >> 11) * 2^-53; so 0 <= u < 1, exact.
//   normal      Box-Muller on pairs: elements 2k and 2k + 1 share the words p and q that are theirs above.
//               u = float(p) * 2^-32 + 2^-33 (float64: (p >> 11) * 2^-53 + 2^-54), so 0 < u <= 1;
//               v = uniform of q; r = sqrt(-2 * log(u)); angle = 2 pi * v, one rounded product;
//               the even element is r * cos(angle), the odd one r * sin(angle).
//   integers    0 to last, of uint32: floor(word * (last + 1) / 2^64). The upper half of the 64-bit word is the uint32
//               word of the element, the lower half that of the element 2^62 further on, which no array reaches. It is
//               drawn only where a carry may come of it, so that one block mostly serves four elements.
#pragma once

#include <array>
#include <cstdint>

namespace ingot::detail::philox {

using block = std::array<std::uint32_t, 4>;

/// The increments of the key's halves from round to round.
inline constexpr std::uint32_t low_step = 0x9E3779B9u, high_step = 0xBB67AE85u;

constexpr block words(std::uint64_t seed, std::uint64_t call, std::uint64_t counter) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    block w{low(counter), high(counter), low(call), high(call)};
    std::uint32_t k0 = low(seed), k1 = high(seed);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p = std::uint64_t{0xD2511F53u} * w[0];
        const std::uint64_t q = std::uint64_t{0xCD9E8D57u} * w[2];
        w = {high(q) ^ w[1] ^ k0, low(q), high(p) ^ w[3] ^ k1, low(p)};
        k0 += low_step;
        k1 += high_step;
    }
    return w;
}

/// The number of elements that one block serves.
template <class T>
inline constexpr std::uint64_t per_block = 16 / sizeof(T);

/// The word of element i of a block's elements: 32 bits for float and uint32, 64 for double and uint64.
template <class T>
constexpr auto word_of(const block& w, std::uint64_t i) {
    if constexpr (sizeof(T) == 4)
        return w[i];
    else
        return w[2 * i] | static_cast<std::uint64_t>(w[2 * i + 1]) << 32;
}

constexpr float uniform(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
constexpr double uniform(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

/// Uniform over (0, 1], for the logarithm of Box-Muller.
constexpr float uniform_above_zero(std::uint32_t word) { return static_cast<float>(word) * 0x1p-32f + 0x1p-33f; }
constexpr double uniform_above_zero(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53 + 0x1p-54; }

/// The distance of the lower halves of integers' words from the upper ones, in elements and in blocks.
inline constexpr std::uint64_t lower_half = std::uint64_t{1} << 62, lower_half_block = lower_half / 4;

constexpr std::uint64_t scaled(std::uint32_t word, std::uint32_t last) { return std::uint64_t{word} * last + word; }
/// Whether the lower half of the word, which adds at most `last`, may carry into the result of the upper half.
constexpr bool may_carry(std::uint32_t upper, std::uint32_t last) {
    return static_cast<std::uint32_t>(scaled(upper, last)) > ~last;
}
constexpr std::uint32_t integer(std::uint32_t upper, std::uint32_t lower, std::uint32_t last) {
    return static_cast<std::uint32_t>((scaled(upper, last) + (scaled(lower, last) >> 32)) >> 32);
}

template <class T>
inline constexpr T two_pi = static_cast<T>(6.28318530717958647692);

// Known answers of philox4x32-10, published by Random123.
static_assert(words(0, 0, 0) == block{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
static_assert(words(~0ull, ~0ull, ~0ull) == block{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
static_assert(words(0x299f31d0a4093822ull, 0x0370734413198a2eull, 0x85a308d3243f6a88ull) ==
              block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});

}  // namespace ingot::detail::philox
