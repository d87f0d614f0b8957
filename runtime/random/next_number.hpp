// The texts of kernels that use rejection.
#pragma once

#include <string>
#include <string_view>

#include "runtime/random/next_number.cuh.hpp"

namespace ingot::detail {

/// A text that calls next(), behind that which makes it.
inline std::string with_next_number(std::string_view text) { return std::string(embedded::next_number).append(text); }

}  // namespace ingot::detail
