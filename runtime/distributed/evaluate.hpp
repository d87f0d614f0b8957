// Evaluates statements over distributed arrays.
#pragma once

namespace ingot::runtime {

/// Makes the door (runtime/front) pass such statements to this folder.
void serve_distributed_arrays() noexcept;

}  // namespace ingot::runtime
