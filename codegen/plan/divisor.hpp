// Division by a run-time constant without dividing: n / d == (n * multiplier) >> (bits - 1 + shift) for 0 <= n <
// 2^(bits-1) and d >= 1, the product taken in 2 * bits (Granlund and Montgomery, "Division by invariant integers using
// multiplication", 1994, theorem 4.2 with l = shift). Kernels get both numbers as arguments.
//   32 bits: __umulhi(2 * n, multiplier) >> shift
//   64 bits: __umul64hi(2 * n, multiplier) >> shift
#pragma once

#include <bit>
#include <cstdint>

namespace ingot::codegen {

struct divisor {
    std::uint64_t multiplier = 0;
    std::uint64_t shift = 0;
};

/// bits: 32 or 64.
constexpr divisor make_divisor(std::uint64_t d, int bits) {
    if (d == 0) return {};  // an axis without elements: nothing is divided
    const auto shift = static_cast<std::uint64_t>(std::bit_width(d - 1));  // smallest with d <= 2^shift
    __extension__ using wide = unsigned __int128;
    const wide power = wide{1} << (static_cast<std::uint64_t>(bits) - 1 + shift);
    return {static_cast<std::uint64_t>((power + d - 1) / d), shift};
}

}  // namespace ingot::codegen
