// Splits a complex node into two real ones, its parts: no schedule, fold or scan needs to know complex numbers.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// Leaves complex nodes only where they lie in memory or are passed: operands, library functions and roots. Throws
/// dtype_error where a node has no parts (a user's function, a fold other than a sum).
void split_complex(graph& g);

}  // namespace ingot::codegen
