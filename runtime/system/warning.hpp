// Warnings: one line on standard error for what the user should know although the result is right.
#pragma once

#include <string_view>

namespace ingot::runtime {

/// Prints "ingot: <text>", each text once in a process.
void warn_once(std::string_view text) noexcept;

}  // namespace ingot::runtime
