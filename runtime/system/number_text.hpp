// Numbers in messages.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace ingot::runtime {

/// The shortest digits that read back as the same number: "0.1".
inline std::string number_text(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace ingot::runtime
