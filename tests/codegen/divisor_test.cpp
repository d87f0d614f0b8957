// Division by multiplication, as kernels do it.
#include <doctest/doctest.h>

#include <random>

#include "codegen/plan/divisor.hpp"

using ingot::codegen::divisor;
using ingot::codegen::make_divisor;

namespace {

__extension__ using wide = unsigned __int128;

std::uint64_t quotient(std::uint64_t n, std::uint64_t d, int bits) {
    const divisor by = make_divisor(d, bits);
    const wide product = wide{2 * n} * by.multiplier;
    return static_cast<std::uint64_t>(product >> bits) >> by.shift;
}

}  // namespace

TEST_CASE("a quotient by multiplication is exact at every edge of its range") {
    for (const int bits : {32, 64}) {
        const std::uint64_t top = (std::uint64_t{1} << (bits - 1)) - 1;
        for (int shift = 0; shift < bits - 1; ++shift)
            for (std::uint64_t near = 0; near < 3; ++near) {
                const std::uint64_t d = (std::uint64_t{1} << shift) + near - (shift > 0 ? 1 : 0);
                if (d == 0 || d > top) continue;
                for (const std::uint64_t n :
                     {std::uint64_t{0}, d - 1, d, 2 * d - 1, top - top % d, top - top % d - 1, top})
                    if (n <= top) CHECK(quotient(n, d, bits) == n / d);
            }
    }
}

TEST_CASE("a quotient by multiplication is exact for random numbers, and its multiplier fits") {
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
        const int bits = i % 2 == 0 ? 32 : 64;
        const std::uint64_t top = (std::uint64_t{1} << (bits - 1)) - 1;
        const std::uint64_t n = random() & top, d = (random() & top) >> random() % static_cast<unsigned>(bits - 1) | 1;
        REQUIRE(quotient(n, d, bits) == n / d);
        if (bits == 32) REQUIRE(make_divisor(d, bits).multiplier < std::uint64_t{1} << 32);
    }
}
