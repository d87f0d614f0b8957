// The number of elements in rows of a class, from the words of a bound axis in the key.
#pragma once

#include <cstdint>

namespace ingot::codegen {

/// The longest row of a class, or of a part of the class.
constexpr std::uint32_t longest_of(std::uint8_t length_class, std::uint8_t subclass = 0) {
    if (length_class == 1 && subclass != 0) return 1u << (subclass - 1);
    return length_class > 1 && subclass == 1 ? 12u << length_class : 16u << length_class;
}
/// Every row of the class has more elements than this.
constexpr std::uint32_t fewest_of(std::uint8_t length_class, std::uint8_t subclass = 0) {
    if (length_class == 1) return subclass > 1 ? longest_of(length_class, subclass) / 2 : 0;
    return subclass == 2 ? 12u << length_class : 8u << length_class;
}

}  // namespace ingot::codegen
