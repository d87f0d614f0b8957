// Values as unsigned integers of the same order, for sorts on a GPU.
#pragma once

#include <string>

#include <ingot/core/dtype.hpp>

#include "runtime/sorting/radix_kernels.hpp"

namespace ingot::runtime {

/// The order of real numbers and bool. With `merges`, both zeros have one key, and so have all NaN; they cannot be
/// recovered.
radix::key_order order_of(dtype type, bool merges);

/// CUDA text of the types `value` and `key` (at least 32 bits), of `key into_order(value)` and `value
/// out_of_order(key)`. The greatest key of a value has all of the value's bits set.
std::string key_order_text(dtype type, bool merges);

}  // namespace ingot::runtime
