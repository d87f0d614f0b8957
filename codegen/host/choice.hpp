// How kernels of rows on the host (folds, row programs, scans) cut their work into blocks and strips, chosen from the
// operands, folds and outputs before any text is printed. One innermost loop computes a strip:
//   along   a strip is a part of one row; the next strip is further along the row
//   across  a strip is one element each of neighbouring rows (columns of a matrix, or rows so short that they fill no
//           vector); the next strip is the next element of all of them
//   packed  across, the rows being neighbours along several axes, for the last of these is short
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/graph/reduction.hpp"
#include "codegen/graph/rows.hpp"
#include "codegen/graph/scan.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

enum class direction : std::uint8_t { along, across, packed };

/// The lengths of a piece of rows and of a group of strips along the row, and from which class on there are several.
struct reach {
    std::uint32_t piece, group;
    std::uint8_t pieces_from, groups_from;  // length classes
    /// Whether a block's part of rows of a length class, all or a piece, is several groups.
    constexpr bool has_groups(std::uint8_t length_class, bool in_pieces) const {
        return in_pieces ? piece > group : length_class >= groups_from;
    }
};
constexpr reach reach_of(direction d) {
    return d != direction::along ? reach{512, 64, 6, 3} : reach{1u << 15, 1u << 15, 12, 12};
}

struct strips_choice {
    direction way = direction::along;
    std::uint32_t strip = 256;      // elements
    std::optional<formula> pieces;  // of a row, or of neighbouring rows, where a block has one piece

    bool across() const { return way != direction::along; }
    bool in_pieces() const { return pieces.has_value(); }
    /// "a row", "256 neighbouring rows"
    std::string rows() const;
};

struct fold_strips : strips_choice {
    bool stages = false;  // short rows that lie apart are first copied side by side
    std::string_view pattern() const;
    std::string reason() const;
};
fold_strips choose_fold_strips(const kernel_builder& b, const folding& f);

struct row_strips : strips_choice {
    /// A value that one phase computes and a later one reads from an array.
    struct cached_value {
        node_id node;
        std::size_t phase;
    };
    std::uint32_t longest = 0;  // elements of a row of the length class
    std::uint32_t room = 0;     // elements of such an array for each row of a strip
    std::vector<cached_value> cached;
    std::vector<std::size_t> along_rows, once_a_row;  // outputs with an element for each of a row's, with one a row
    std::string_view pattern() const { return "row program"; }
    std::string reason() const;
};
/// Empty where steps through temporaries are faster, as they share a row among threads: caches do not hold the rows,
/// and there are too few rows for all threads.
std::optional<row_strips> choose_row_strips(const kernel_builder& b, const row_program& r);

struct scan_strips {
    enum class layout : std::uint8_t {
        rows,     // a block folds a row from the left
        pieces,   // pieces of rows begin in order: each waits for the fold of the one before
        columns,  // a block has a strip of neighbouring rows, as memory runs across the scanned axis
    };
    layout how = layout::rows;
    int line = 0;                // the axis along which elements are computed side by side, or one after the other
    std::uint32_t strip = 256;   // elements of a strip of columns, or of whole vectors
    std::uint32_t piece = 0;     // elements of a piece
    bool whole_vectors = false;  // elements go through strips of whole vectors: bits do not depend on places
    std::string_view pattern() const;
    std::string reason() const;
};
scan_strips choose_scan_strips(const kernel_builder& b, const scanning& s);

}  // namespace ingot::codegen
