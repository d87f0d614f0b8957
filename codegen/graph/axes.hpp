// Sets of axes as bits.
#pragma once

#include <cstdint>
#include <vector>

namespace ingot::codegen {

constexpr std::uint64_t axis_bit(int a) { return std::uint64_t{1} << a; }
/// Bits of the axes [first, last).
constexpr std::uint64_t axis_range(int first, int last) {
    std::uint64_t bits = 0;
    for (int a = first; a < last; ++a) bits |= axis_bit(a);
    return bits;
}
/// The axes whose bits are set, from the first.
inline std::vector<int> axes_in(std::uint64_t bits) {
    std::vector<int> axes;
    for (int a = 0; a < 64; ++a)
        if ((bits >> a & 1u) != 0) axes.push_back(a);
    return axes;
}

}  // namespace ingot::codegen
