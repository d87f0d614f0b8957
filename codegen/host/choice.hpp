// How kernels of rows on the host (folds, row programs, scans) cut what they compute into blocks and strips, chosen
// from a kernel's reads, folds and outputs before any of it is printed. What one innermost loop computes is a strip:
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

namespace ingot::codegen {

enum class direction : std::uint8_t { along, across, packed };

/// How far a piece of rows and a group of strips reach along the row, and from which length on there are several.
struct reach {
    std::uint32_t piece, group;
    std::uint8_t pieces_from, groups_from;  // length classes
    /// Whether what a block folds of rows of a length class, all or a piece, is several groups.
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
    std::optional<formula> pieces;  // of a row, or of neighbouring ones, where a block has one of them

    bool across() const { return way != direction::along; }
    bool in_pieces() const { return pieces.has_value(); }
    /// "a row", "256 neighbouring rows"
    std::string rows() const;
};

struct fold_strips : strips_choice {
    bool stages = false;  // short rows that lie apart are copied side by side first
    std::string_view pattern() const;
    std::string reason() const;
};
fold_strips choose_fold_strips(const kernel_builder& b, const folding& f);

struct row_strips : strips_choice {
    /// What one phase computes and a later one reads from an array.
    struct kept_value {
        node_id node;
        std::size_t phase;
    };
    std::uint32_t longest = 0;  // elements of such an array for each row of a strip
    std::vector<kept_value> kept;
    std::vector<std::size_t> along_rows, once_a_row;  // outputs: an element for each of a row's, one for all of them
    std::string reason() const;
};
/// Nothing where steps through temporaries are faster, for they share a row among threads: caches do not hold the rows,
/// and there are not enough of them for all threads.
std::optional<row_strips> choose_row_strips(const kernel_builder& b, const row_program& r);

struct scan_strips {
    enum class layout : std::uint8_t {
        rows,     // a block folds one from the left
        pieces,   // of rows, which begin in order: each waits for what the one before folds to
        columns,  // a block has a strip of neighbouring rows, for memory runs across what is scanned
    };
    layout how = layout::rows;
    int line = 0;                // the axis along which elements are worked on side by side, or one after the other
    std::uint32_t strip = 256;   // elements of a strip of columns, or of whole vectors
    std::uint32_t piece = 0;     // elements of a piece
    bool whole_vectors = false;  // elements go through strips of them, so that bits do not depend on their places
    std::string_view pattern() const;
    std::string reason() const;
};
scan_strips choose_scan_strips(const kernel_builder& b, const scanning& s);

}  // namespace ingot::codegen
