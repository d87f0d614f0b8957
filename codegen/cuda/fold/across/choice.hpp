// How a fold across memory on CUDA shares its columns between blocks and threads, chosen from the operands, folds and
// outputs before any text is printed. Neighbouring threads fold neighbouring columns, so that they read whole lines of
// memory; the layouts differ in how the rest of a block is arranged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/fold/choice.hpp"
#include "codegen/cuda/fold/folded_kernel.hpp"
#include "codegen/plan/kernel_shape.hpp"

namespace ingot::codegen {

struct column_fold_choice : fold_choice {
    enum class layout : std::uint8_t {
        alone,       // threads beside each other over all kept axes as one; no two share a column
        wide,        // threads beside each other over all kept axes as one, and rows of threads below them
        narrow,      // threads beside each other over the short innermost kept axis, and rows below them
        packed,      // as `narrow`, for columns so short that several such groups are a block
        contiguous,  // by vectors of the run of memory that all columns form; in the end a thread has one column
        strips,      // a block has neighbouring columns of one row of memory, wherever the rows begin
        unrolled,    // a thread loads all of some short columns before it folds the first
        staged,      // columns of a few places of the outer axes form a run, copied into shared memory
    };

    layout how = layout::wide;
    std::vector<std::uint32_t> unroll;  // of each space: elements of a column, or vectors, that a thread loads at once;
                                        // unrolled: of the longest column
    bool tiles_ahead = false;           // a tile is loaded while the one before it is joined
    std::uint32_t room_bytes = 0;       // of shared memory, for the joins over threads of a column

    std::uint32_t most_across = 64;   // wide: threads beside each other; strips: vectors of a strip
    std::uint32_t least_across = 64;  // wide, where blocks share columns: the threads that read a memory line
    std::uint32_t height = 0;         // packed: rows of threads of a group
    std::uint32_t least_vectors = 0;  // contiguous: of a thread, about, where a block has several outer places
    bool even_steps = false;          // contiguous: a thread's vectors lie whole sectors apart where that costs little
    bool aligned = true;              // strips: rows begin at whole vectors
    std::uint32_t vectors_per_thread = 1;  // unrolled: vectors of a thread, a block's threads apart from each other
    std::uint32_t elements = 0;            // staged: of the run that a block copies; one outer place may have more
    std::uint32_t capacity = 0;            // staged: elements, with those ahead of the run in its first vector
    bool moments = false;                  // staged: a thread sums differences from the mean of its first few elements

    kernel_shape shape() const;
    std::string_view pattern() const { return split ? "split column reduction" : "column reduction"; }
    std::string reason() const;
};

column_fold_choice choose_column_fold(const folded_kernel& f);

}  // namespace ingot::codegen
