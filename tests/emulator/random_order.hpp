// Random orders from a seed.
#pragma once

#include <cstdint>

namespace emulator {

/// xorshift64* (Vigna, An experimental exploration of Marsaglia's xorshift generators, scrambled, 2016).
class random_order {
public:
    explicit random_order(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u | 1) {}
    std::uint32_t below(std::uint32_t n) {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1du) >> 32) % n;
    }

private:
    std::uint64_t state_;
};

}  // namespace emulator
