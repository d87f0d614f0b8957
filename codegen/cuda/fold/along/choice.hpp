// How a fold along memory on CUDA shares its rows between blocks and lanes, chosen from the folded values before any
// text is printed. A lane's loads are vectors of `each` consecutive elements; a tile is `unroll` such loads of every
// lane, in flight together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/fold/choice.hpp"
#include "codegen/cuda/fold/folded_kernel.hpp"

namespace ingot::codegen {

struct row_fold_choice : fold_choice {
    enum class layout : std::uint8_t {
        lanes,             // a block has several rows, of a few lanes or a warp each
        block,             // a block has a row
        blocks,            // several blocks share a row, in even shares
        dealt_rounds,      // as `blocks`, but the blocks that are ready first take the last of a row's rounds
        persistent_tiles,  // tiles of all rows are dealt to resident blocks in the order of memory
    };
    struct space {
        std::uint32_t each = 1, unroll = 1;
        bool aligned = false;            // every row begins with a whole vector; else one operand's rows begin anywhere
        std::uint32_t head_unit = 1;     // elements between places where the first vector of such a row may begin
        bool drawn = false;              // folds random leaves alone: groups of `each` numbers
        bool edges_at_once = false;      // there are enough lanes for all elements outside whole vectors
        bool joins_whole_tiles = false;  // where entries are counted: all vectors of a tile at once
        /// For each fold, the array of narrow elements of which one instruction joins several; null for none.
        std::vector<const array_argument*> packed;
    };

    layout how = layout::lanes;
    std::uint32_t lanes = 1;  // threads of a block that share a row
    std::vector<space> spaces;
    std::size_t longest = 0;  // of these

    bool is_block_wide() const { return lanes == threads; }
    kernel_shape shape() const;
    std::string_view pattern() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

row_fold_choice choose_row_fold(const folded_kernel& f);

}  // namespace ingot::codegen
