// Chooses the kernel of a row program on CUDA: many short rows staged in shared memory, or rows held in registers. One
// choice tells both whether a kernel holds the rows, for cutting, and how, for printing the kernel.
#pragma once

#include <optional>
#include <variant>

#include "codegen/cuda/row/register_rows.hpp"
#include "codegen/cuda/staged/staged_rows.hpp"

namespace ingot::codegen {

using row_choice = std::variant<staged_rows, register_rows>;

/// Empty where no kernel holds the rows.
std::optional<row_choice> choose_row(const key& k, const graph& g, const row_program& r);

void emit_row_cuda(const key& k, const graph& g, const row_program& r, const row_choice& choice, plan& p);

}  // namespace ingot::codegen
