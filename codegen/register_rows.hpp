// How CUDA threads hold the rows of a row program in registers. A row belongs to `lanes` threads, each of which has
// `chunks` chunks of `each` consecutive elements: chunk u of lane l begins at element (u * lanes + l) * each. The
// lanes are some of a warp for short rows, a block, or the blocks of a cluster; where memory runs across the rows,
// neighbouring threads have neighbouring rows instead: as many as leave each lane no more than `chunks` elements of a
// row. Where few rows lie side by side, a block or a cluster takes all of these: one run of memory, which its threads
// read as it lies. What the registers of so many threads as overlap best do not hold lies in shared memory, where each
// thread has places of its own.
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
    bool in_runs = false;  // across; a block or cluster has the `side` rows of a run, and `lanes` threads for each
    bool fitted = false;   // across; how many rows a block has, at most `side`, and so the lanes, is known at run time
    bool shifted = false;  // rows begin anywhere: the first chunk is that of the last aligned place before them
    std::uint32_t lanes = 1, each = 1, chunks = 1;
    std::uint32_t side = 1;        // rows that lie beside each other in a block
    std::uint32_t least_side = 1;  // fitted: of the longest rows
    std::uint32_t piece = 1;       // fitted: a block has a multiple of so many rows, or a power of two
    std::uint32_t threads = 256;   // of a block
    std::uint32_t rows = 1;        // of a block
    std::uint32_t together = 1;    // of a thread, where a row has one lane: their loads are under way at once
    std::uint32_t cluster = 1;     // blocks of a row
    std::uint32_t blocks = 1;      // of a multiprocessor, so that computing hides behind other rows' loads
    std::uint32_t own = 1;         // fitted: chunks that a lane may have in registers
    std::uint32_t most_held = 1;   // fitted: chunks that a lane may have; so many lanes has a row
    std::uint32_t sure = 0;        // fitted: chunks that every lane has of each row of the class
    std::uint32_t group = 1;       // chunks, of one element each, that are computed side by side; a divisor of `chunks`
    std::uint32_t more = 0;        // chunks that a lane may have beyond these, in shared memory
    std::uint32_t group_of_more = 8;  // that are computed side by side
    /// What is held of a chunk there, and the bytes of it before that.
    struct held_value {
        node_id node;
        std::uint32_t at;
    };
    std::vector<held_value> held_more;
    std::uint32_t bytes_of_more = 0;  // of a lane's chunk
    /// Values that cost much and that a later phase wants too: the phase that computes them keeps them.
    std::vector<node_id> kept;
    /// Arrays that one later phase reads alone: until then they lie in shared memory, so many bytes of a lane's
    /// element.
    std::vector<node_id> late;
    std::uint32_t bytes_of_late = 0;
    std::size_t late_phase = 0;  // the first that reads one

    bool is_beside() const { return in_runs || fitted; }
    /// Places in shared memory for what the lanes of rows beside each other have, one after the other with a gap behind
    /// each piece of them, and for what the blocks have.
    std::uint32_t slots_of_lanes() const { return threads + threads / (in_runs ? side : least_side) + 1; }
    std::uint32_t slots_of_blocks() const { return cluster * side; }
    /// What follows from the lengths of the rows.
    void fit(std::uint32_t shortest, std::uint32_t longest);
    /// Short rows that have a lane each.
    void take_together(std::uint32_t bytes);
    std::uint32_t elements() const { return each * chunks; }
    /// Dynamic, of a block.
    std::uint32_t shared_bytes() const { return (more * bytes_of_more + elements() * bytes_of_late) * threads; }
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
