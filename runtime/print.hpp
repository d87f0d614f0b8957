// What prints elsewhere than in a stream.
#pragma once

#include <string>

#include <ingot/dtype.hpp>

namespace ingot::detail {

/// An element alone, with all its digits.
std::string text_of_element(const void* element, dtype type);

}  // namespace ingot::detail
