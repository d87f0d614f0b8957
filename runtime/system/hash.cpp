#include "runtime/system/hash.hpp"

#include <bit>
#include <cstring>

namespace ingot::runtime {

namespace {

constexpr std::uint64_t factor_low = 0x87c37b91114253d5u;
constexpr std::uint64_t factor_high = 0x4cf5ad432745937fu;

std::uint64_t scramble_low(std::uint64_t word) noexcept { return std::rotl(word * factor_low, 31) * factor_high; }
std::uint64_t scramble_high(std::uint64_t word) noexcept { return std::rotl(word * factor_high, 33) * factor_low; }

std::uint64_t avalanche(std::uint64_t word) noexcept {
    word = (word ^ (word >> 33)) * 0xff51afd7ed558ccdu;
    word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53u;
    return word ^ (word >> 33);
}

}  // namespace

hash128 hash_of(std::span<const std::byte> bytes) noexcept {
    hash128 state;
    std::uint64_t block[2];
    const std::size_t size = bytes.size();
    for (; bytes.size() >= sizeof block; bytes = bytes.subspan(sizeof block)) {
        std::memcpy(block, bytes.data(), sizeof block);
        state.low = (std::rotl(state.low ^ scramble_low(block[0]), 27) + state.high) * 5 + 0x52dce729u;
        state.high = (std::rotl(state.high ^ scramble_high(block[1]), 31) + state.low) * 5 + 0x38495ab5u;
    }
    std::memset(block, 0, sizeof block);
    if (!bytes.empty()) std::memcpy(block, bytes.data(), bytes.size());
    state.low ^= scramble_low(block[0]) ^ size;
    state.high ^= scramble_high(block[1]) ^ size;

    state.low += state.high;
    state.high += state.low;
    state.low = avalanche(state.low);
    state.high = avalanche(state.high);
    state.low += state.high;
    state.high += state.low;
    return state;
}

std::string to_hex(const hash128& value) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint64_t word : {value.high, value.low}) {
        for (int shift = 60; shift >= 0; shift -= 4) text += digits[(word >> shift) & 15];
    }
    return text;
}

}  // namespace ingot::runtime
