// How a fold along memory on CUDA shares its rows between blocks and lanes, chosen from the folded values before any
// text is printed. A lane's loads are vectors of `each` consecutive elements; a tile is `unroll` such loads of every
// lane, in flight together. A layout is a struct of the numbers that its kernel is printed from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/cuda/fold/choice.hpp"
#include "codegen/cuda/fold/folded_kernel.hpp"
#include "codegen/plan/kernel_shape.hpp"

namespace ingot::codegen {

struct row_layout : fold_choice {
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

    std::uint32_t lanes = 1;  // threads of a block that share a row
    std::vector<space> spaces;
    std::size_t longest = 0;  // of these

    bool is_block_wide() const { return lanes == threads; }
    std::string_view pattern() const { return split ? "split reduction" : "row reduction"; }
    kernel_shape shape_of(std::string_view name) const;
    /// "8 lanes a row"
    std::string lanes_of_row() const { return std::to_string(lanes) + " lanes a row"; }
};

/// A block has a row, or several of a few lanes or a warp each.
struct whole_rows_layout : row_layout {
    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

/// Several blocks share a row, in even shares; or those that are ready first take the last of the row's rounds.
struct split_rows_layout : row_layout {
    bool deals_rounds() const { return split->counts_pieces; }
    kernel_shape shape() const;
    std::string reason() const;
    void write(cuda_kernel& b, const folded_kernel& f) const;
};

using row_fold_choice = std::variant<whole_rows_layout, split_rows_layout>;

row_fold_choice choose_row_fold(const folded_kernel& f);

}  // namespace ingot::codegen
