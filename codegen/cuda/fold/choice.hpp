// The part of a fold's schedule that the frame of its kernel needs (cuda/fold/fold.hpp). Each schedule's own choice
// adds how its threads lie over the elements. All of it is decided before any text is printed.
#pragma once

#include <cstdint>
#include <optional>

namespace ingot::codegen {

/// Several blocks fold a result. Each folds a piece of at least `piece` elements of the longest space and `along`.
struct block_split {
    enum class finish : std::uint8_t {
        last_ticket,  // the block with a result's last ticket joins the parts of all blocks
        shared,       // every block has parts of many results: each joins the parts of some
    };

    std::uint32_t piece = 1;
    std::uint64_t along = 0;            // axes, as bits
    std::uint32_t blocks_of_one = 0;    // most blocks of a result a multiprocessor; 0: as many as there are pieces
    std::uint32_t results = 1;          // most results of a block
    std::uint32_t waves = 1;            // see launch::waves
    std::uint32_t blocks_in_waves = 0;  // see launch::blocks_in_waves
    finish how = finish::last_ticket;
    bool counts_pieces = false;  // blocks of the only result count its pieces, beside the tickets
};

struct fold_choice {
    std::uint32_t threads = 256;        // of a block
    std::uint32_t columns = 1;          // neighbouring results of a thread
    std::uint32_t tile_columns = 1;     // neighbouring columns that a thread folds; others may have their results
    std::uint32_t resident_blocks = 0;  // of a multiprocessor; limits the registers; 0: no limit
    std::uint32_t slots_at_once = 8;    // slots of the scratch that a thread loads together when it joins blocks' parts
    bool has_rounds = true;             // parts that round are joined to the results after some tiles, else in the end
    std::optional<block_split> split = {};
};

}  // namespace ingot::codegen
