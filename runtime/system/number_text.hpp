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

/// `digits` digits at most, for a number whose last ones are errors of a computation: "-1" of -0.9999999999999996.
inline std::string number_text(double value, int digits) {
    std::array<char, 32> text{};
    return {text.data(),
            std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits).ptr};
}

}  // namespace ingot::runtime
