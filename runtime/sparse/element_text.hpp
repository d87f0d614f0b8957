// The text before the kernels of a csr.
#pragma once

#include <string>

#include <ingot/core/dtype.hpp>

namespace ingot::runtime {

/// Types `index`, `value` and `part` (the real type of an element), `int64`, functions with_product(sum, a, b),
/// sum_of(a, b) and sum_of_lanes(v), and `lanes`, a power of 2 up to 32.
std::string element_text(dtype type, dtype index_type, unsigned lanes);

}  // namespace ingot::runtime
