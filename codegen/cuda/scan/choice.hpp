// How a scan on CUDA shares its rows or columns between blocks and threads, chosen from the operands, folds and outputs
// before any text is printed. A thread's elements are chunks of `each` neighbours in memory: in a row they are scanned
// one after the other; across rows they are neighbouring columns, and chunks lie below each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cuda/kernel.hpp"
#include "codegen/graph/scan.hpp"

namespace ingot::codegen {

struct scan_choice {
    enum class layout : std::uint8_t {
        rows,           // a few lanes up to a block share a row and walk it tile by tile
        row_pairs,      // a block has two neighbouring rows at once; a thread has a chunk of each
        long_rows,      // blocks share a row, whose tiles look back
        short_columns,  // a thread has a column
        whole_columns,  // a block has its columns whole, in shared memory
        long_columns,   // columns are cut into tiles in shared memory that look back
    };
    /// For columns: a thread's chunks of one array in shared memory, with the columns of an input or of an output.
    struct staged_array {
        const array_argument* of;
        std::uint32_t bytes, each;  // of an element; neighbouring columns of a thread, 1 where all are equal
        bool has_result = false;    // an output's elements replace this input's, or are the only ones
        bool is_run = false;        // whole narrow columns: the block's part of the array is one run of memory
        std::uint32_t spare = 0;    // bytes beside the chunks
        std::uint32_t unit() const { return bytes * each; }
    };

    layout how = layout::rows;
    std::uint32_t threads = 256;                           // of a block
    std::uint32_t resident_blocks = 0;                     // of a multiprocessor; limits the registers; 0: no limit
    std::uint32_t each = 1;                                // elements of a chunk
    std::uint32_t register_chunks = 0, shared_chunks = 0;  // of a thread
    std::uint32_t shared_bytes = 0;                        // dynamic shared memory of the launch

    // Rows.
    std::uint32_t lanes = 1;  // threads that share a row
    std::uint32_t tile = 0;   // elements of a row that these lanes have at once
    bool loops = false;       // a row may have more elements, or a short column more than a thread loads at once

    // Tiles that look back.
    bool stages_values = false;  // for rows: scanned values are in shared memory, computed in a loop over chunks
    std::uint32_t run = 32;      // tiles: a multiple of a warp's lanes, or fewer where no strip has more tiles
    std::uint32_t columns_per_warp = 1;  // columns of a tile for which a warp looks back together

    // Columns in shared memory.
    bool narrow = false;             // the innermost axis is short, so that a block has all of it
    std::uint32_t width = 0;         // the length of the innermost axis, where the columns are whole
    std::uint32_t across = 1;        // threads beside each other, at most
    std::uint32_t tile_columns = 0;  // of a tile that looks back, at most
    std::uint32_t tile_rows = 0;     // of such a tile, at least
    std::uint32_t gap = 0;           // whole narrow columns: elements between those of two outer places, against bank
                                     // conflicts
    std::uint32_t copy_unroll = 1, fold_unroll = 1;  // of loops over a thread's chunks
    bool stores_runs = false;                        // whole narrow columns: all outputs of a block are runs of memory
    std::vector<staged_array> staged;                // inputs that move along the columns, then those of outputs
    std::vector<std::size_t> results;                // narrow: the index in `staged` of each output

    std::uint32_t chunks() const { return register_chunks + shared_chunks; }
    /// Rows of threads of a block in which `across` threads stand beside each other.
    std::uint32_t height() const { return threads / across; }
    bool looks_back() const { return how == layout::long_rows || how == layout::long_columns; }
    /// Whether a block's warps share a row.
    bool is_block_wide() const { return lanes == threads; }
    kernel_shape shape() const;
    std::string_view pattern() const;
    std::string reason() const;
};

scan_choice choose_scan(const cuda_kernel& b, const scanning& s);
scan_choice choose_rows(const cuda_kernel& b, const scanning& s);
scan_choice choose_long_rows(const cuda_kernel& b, const scanning& s);
/// Empty where a block has no room for the longest columns of the class.
std::optional<scan_choice> choose_whole_columns(const cuda_kernel& b, const scanning& s);
scan_choice choose_long_columns(const cuda_kernel& b, const scanning& s);

// The facts by which the choice is made.

/// Arrays and random leaves along the scanned axis; bytes of the widest element of these arrays and the outputs.
std::vector<const array_argument*> inputs_along(const cuda_kernel& b, const scanning& s);
std::vector<node_id> generators_along(const cuda_kernel& b, const scanning& s);
std::uint32_t widest_element(const cuda_kernel& b, const scanning& s);
/// Operations for one element.
std::uint32_t element_cost(const cuda_kernel& b, const scanning& s);
bool has_few_rows(const cuda_kernel& b);
inline std::uint32_t scan_bytes(const cuda_kernel& b, node_id scan) {
    return static_cast<std::uint32_t>(detail::size_of(b.graph.nodes[scan].type));
}
constexpr std::uint32_t parts(std::uint32_t n, std::uint32_t size) { return (n + size - 1) / size; }

}  // namespace ingot::codegen
