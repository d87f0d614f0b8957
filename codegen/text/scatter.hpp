// How a scattered value is joined with the value at its place: a sum or an extreme, by atomic operations on a GPU; on
// the host the kernel's blocks run in order.
#pragma once

#include <string>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

/// Adds a function name(T* at, T value) to the prelude and returns its name.
std::string spell_scatter(detail::scatter_rule rule, dtype t, prelude& needs);

}  // namespace ingot::codegen
