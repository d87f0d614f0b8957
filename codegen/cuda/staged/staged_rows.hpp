// Short rows along memory, or across it where few lie side by side, for CUDA: a block stages many of them in shared
// memory, and a thread, or a few, works on each. A plain reduction of rows is a row program of one phase whose outputs
// do not move along the row. All of it is chosen from the key and the graph, before any text is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/cuda/staged/smem_tiles.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

struct staged_rows {
    smem_tiles tiles;
    bool in_runs;            // few rows lie side by side: a block has runs of memory, each of some whole rows
    std::uint32_t threads;   // of a block: fewer where elements are wide, and rows therefore fewer
    std::uint32_t elements;  // of a tile, which a block fills with whole rows: as many as keep every thread busy (a
                             // multiple of the threads, or a power of two), from a 16-byte chunk on
    std::uint32_t capacity;  // of a tile: runs are whole, and may begin within a chunk
    bool shares_rows;        // several threads may work on a row
    /// Threads of a row have groups of one size at a time, so that none waits while another does less. For doubles, of
    /// which an element takes many instructions.
    bool in_step;
    std::uint32_t resident_blocks;  // of a multiprocessor; limits the registers; 0: no limit
    bool folds_once;                // a plain reduction: no second phase, and no output along the rows

    staged_rows(const key& k, const graph& g, const row_program& rows);

    std::uint32_t shared_bytes() const { return capacity * tiles.bytes_of_element(); }
    kernel_shape shape() const;
    std::string_view pattern() const { return folds_once ? "row reduction" : "row program"; }
    std::string reason() const;
};

/// Empty unless each block's rows are one run of memory in every array along them, and few enough bytes to stage.
std::optional<staged_rows> choose_staged_rows(const key& k, const graph& g, const row_program& rows);

void emit_staged_rows(const key& k, const graph& g, const row_program& rows, const staged_rows& choice, plan& p);

}  // namespace ingot::codegen
