// Which kernel computes a row program on CUDA: many short rows staged in shared memory, or rows held in registers. The
// one choice says both whether a kernel holds the rows, which cutting asks, and how, from which the kernel is printed.
#pragma once

#include <optional>
#include <variant>

#include "codegen/cuda/row/register_rows.hpp"
#include "codegen/cuda/staged/staged_rows.hpp"

namespace ingot::codegen {

using row_choice = std::variant<staged_rows, register_rows>;

/// Nothing where no kernel holds the rows.
std::optional<row_choice> choose_row(const key& k, const graph& g, const row_program& r);

void emit_row_cuda(const key& k, const graph& g, const row_program& r, const row_choice& choice, plan& p);

}  // namespace ingot::codegen
