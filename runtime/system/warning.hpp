// Warnings: one line on standard error, where the result is right but the user should know something.
#pragma once

#include <string_view>

namespace ingot::runtime {

/// Prints "ingot: <text>", each text once in a process.
void warn_once(std::string_view text) noexcept;

}  // namespace ingot::runtime
