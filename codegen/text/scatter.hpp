// How a scattered value joins what is in its place: a sum or an extreme, by atomic operations on a GPU; on the host the
// kernel's blocks run in order.
#pragma once

#include <string>

#include "codegen/text/spelling.hpp"

namespace ingot::codegen {

/// The name of a function, put into the prelude: name(T* at, T value).
std::string spell_scatter(detail::scatter_rule rule, dtype t, prelude& needs);

}  // namespace ingot::codegen
