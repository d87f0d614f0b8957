// Short rows along memory, or across it where few lie side by side, for CUDA: many of them in a block's shared memory,
// a thread for each. A plain reduction of rows is a row program of one phase whose outputs do not move along the row.
#pragma once

#include "codegen/rows.hpp"

namespace ingot::codegen {

/// Whether each block's rows are one run of memory in everything that moves along them, and few enough bytes to stage.
bool can_stage_rows(const key& k, const graph& g, const row_program& rows);
void emit_short_rows_cuda(const key& k, const graph& g, const row_program& rows, plan& p);

}  // namespace ingot::codegen
