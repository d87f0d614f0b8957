// Texts of arrays for repr and for error messages.
#pragma once

#include <string>

#include <ingot/core/dtype.hpp>

namespace ingot::detail {

/// A single element, with all its digits.
std::string text_of_element(const void* element, dtype type);

}  // namespace ingot::detail
