// What every schedule of folds on CUDA decides for the frame of its kernel (cuda/fold/fold.hpp) before any of it is
// printed; each schedule's own choice adds how its threads lie over the elements.
#pragma once

#include <cstdint>
#include <optional>

namespace ingot::codegen {

/// Several blocks a result. Each has a piece of so many elements at least, of the longest space and `along`.
struct block_split {
    enum class finish : std::uint8_t {
        last_ticket,  // the block with a result's last ticket joins what all have of it
        shared,       // blocks have to do with many results: each joins the parts of some
    };

    std::uint32_t piece = 1;
    std::uint64_t along = 0;            // axes, as bits
    std::uint32_t blocks_of_one = 0;    // of a result, for each multiprocessor, at most; 0: as many as there are pieces
    std::uint32_t results = 1;          // of a block, at most
    std::uint32_t waves = 1;            // as a launch has it
    std::uint32_t blocks_in_waves = 0;  // as a launch has it
    finish how = finish::last_ticket;
    bool counts_pieces = false;  // blocks of the only result count pieces of it, beside the tickets
};

struct fold_choice {
    std::uint32_t threads = 256;        // of a block
    std::uint32_t columns = 1;          // neighbouring results of a thread
    std::uint32_t tile_columns = 1;     // neighbouring columns that a thread folds; these may become other results
    std::uint32_t resident_blocks = 0;  // of a multiprocessor, for which registers are limited; 0: as it comes
    std::uint32_t slots_at_once = 8;    // of the scratch, that a thread which joins blocks' parts loads together
    bool has_rounds = true;             // parts that round are joined to the results every so often, else in the end
    std::optional<block_split> split = {};
};

}  // namespace ingot::codegen
