// The operator table's bodies over blocks of elements: a function for each row and dtype, and the casts.
#pragma once

#include <cstddef>

#include <ingot/core/operators.hpp>

namespace ingot::runtime::bodies {

/// Applies a body to n elements; a body of fewer operands ignores the others. `out` must not be an operand.
using map_block = void (*)(const void* a, const void* b, const void* c, void* out, std::size_t n);
using cast_block = void (*)(const void* from, void* out, std::size_t n);

/// The function of row `o` for these dtypes of the first and the other operands; null where the row has no body.
map_block map_for(detail::op o, dtype first, dtype others);
using map_lookup = map_block (*)(detail::op, dtype first, dtype others);
/// The function of astype; null for a dtype without arithmetic.
cast_block cast_for(dtype from, dtype to);

}  // namespace ingot::runtime::bodies
