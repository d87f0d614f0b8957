// How CUDA threads hold the rows of a row program in registers. A row belongs to `lanes` threads, each of which has
// `chunks` chunks of `each` consecutive elements: chunk u of lane l begins at element (u * lanes + l) * each. The
// lanes are some of a warp for short rows, a block, or the blocks of a cluster; where memory runs across the rows,
// neighbouring threads have neighbouring rows instead, and `rows` of them share a block. Where few rows lie side by
// side, a block takes all of these: one run of memory, which its threads read as it lies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/plan.hpp"
#include "codegen/rows.hpp"

namespace ingot::codegen {

struct register_rows {
    bool across = false;
    bool in_runs = false;  // across; a block has the `side` rows of a run, and `lanes` threads for each
    bool shifted = false;  // rows begin anywhere: the first chunk is that of the last aligned place before them
    std::uint32_t lanes = 1, each = 1, chunks = 1;
    std::uint32_t side = 1;
    std::uint32_t threads = 256;  // of a block
    std::uint32_t rows = 1;       // of a block
    std::uint32_t together = 1;   // of a thread, where a row has one lane: their loads are under way at once
    std::uint32_t cluster = 1;    // blocks of a row
    std::uint32_t blocks = 1;     // of a multiprocessor, so that computing hides behind other rows' loads
    /// Values that cost much and that a later phase wants too: the phase that computes them keeps them.
    std::vector<node_id> kept;

    std::uint32_t elements() const { return each * chunks; }
    /// Shifted rows are held from the last place of so many elements before them: a sector of 32 bytes, a part of which
    /// costs as much, but of doubles, of which a thread has few, a vector.
    std::uint32_t sector() const { return each > 2 ? 2 * each : each; }
};

/// Nothing where registers do not hold a row.
std::optional<register_rows> hold_in_registers(const key& k, const graph& g, const row_program& r);

/// The kernel of a row program that has a shape.
void emit_row_cuda(const key& k, const graph& g, const row_program& r, register_rows s, plan& p);

/// Whether `at` is an array that moves by one element along the row.
bool is_packed(const operand_class& at, const graph& g, const row_program& r);

}  // namespace ingot::codegen
