// Short rows along memory, for CUDA: many of them in a block's shared memory, a thread for each.
#pragma once

#include <vector>

#include "codegen/kernel.hpp"

namespace ingot::codegen {

/// Rows of a kernel: kept axes, the one axis along each row, and the reductions along it by the order in which they
/// need each other. The outputs come after all of them and may move along the row.
struct row_shape {
    std::vector<int> kept;
    int along = -1;
    std::uint8_t bucket = 1;
    std::vector<std::vector<node_id>> phases;

    std::uint64_t kept_bits() const {
        std::uint64_t bits = 0;
        for (const int a : kept) bits |= axis_bit(a);
        return bits;
    }
};

/// Whether each block's rows are one run of memory in everything that moves along them, and few enough bytes to stage.
bool can_stage_rows(const key& k, const graph& g, const row_shape& rows);
void emit_short_rows_cuda(const key& k, const graph& g, const row_shape& rows, plan& p);

}  // namespace ingot::codegen
