// How a scan on CUDA shares its rows or columns between blocks and threads, chosen from the operands, folds and outputs
// before any text is printed. A thread's elements are chunks of `each` neighbours in memory: in a row they are scanned
// one after the other; across rows they are neighbouring columns, and chunks lie below each other. A layout is a struct
// of the numbers that its kernel is printed from, and a file with its choice, its description and its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/cuda/kernel.hpp"
#include "codegen/graph/scan.hpp"

namespace ingot::codegen {

/// The part of a row that some threads have at once.
struct row_tile {
    std::uint32_t threads = 256;        // of a block
    std::uint32_t resident_blocks = 0;  // of a multiprocessor; limits the registers; 0: no limit
    std::uint32_t each = 1;             // elements of a chunk
    std::uint32_t register_chunks = 0;  // of a thread
    std::uint32_t lanes = 1;            // threads that share a row
    std::uint32_t tile = 0;             // elements of a row that these lanes have at once

    /// Whether a block's warps share a row.
    bool is_block_wide() const { return lanes == threads; }
};

/// A few lanes up to a block share a row and walk it tile by tile.
struct row_scan_layout : row_tile {
    bool pairs = false;  // a block has two neighbouring rows at once; a thread has a chunk of each
    bool loops = false;  // a row may be longer than a tile

    kernel_shape shape() const;
    std::string_view pattern() const { return "row scan"; }
    std::string reason() const;
    void write(cuda_kernel& b, const scanning& s) const;
};

/// Blocks share a row, whose tiles look back.
struct long_row_scan_layout : row_tile {
    std::uint32_t shared_chunks = 0;  // of a thread, beside those in registers
    std::uint32_t shared_bytes = 0;   // dynamic shared memory of the launch
    bool stages_values = false;       // scanned values are in shared memory, computed in a loop over chunks
    /// Tiles of a run. One of them waits for a tile of the run before; with 32 that takes as long as memory does.
    std::uint32_t run = 64;

    std::uint32_t chunks() const { return register_chunks + shared_chunks; }
    kernel_shape shape() const;
    std::string_view pattern() const { return "look-back scan"; }
    std::string reason() const;
    void write(cuda_kernel& b, const scanning& s) const;
};

/// A thread has a column.
struct short_column_scan_layout {
    static constexpr std::uint32_t threads = 256;
    std::uint32_t chunks = 1;  // elements that a thread loads at once
    bool loops = false;        // a column may have more

    kernel_shape shape() const;
    std::string_view pattern() const { return "column scan"; }
    std::string reason() const;
    void write(cuda_kernel& b, const scanning& s) const;
};

/// Columns in the shared memory of a block.
struct column_tile {
    /// A thread's chunks of one array in shared memory, with the columns of an input or of an output.
    struct staged_array {
        const array_argument* of;
        std::uint32_t bytes, each;  // of an element; neighbouring columns of a thread, 1 where all are equal
        bool has_result = false;    // an output's elements replace this input's, or are the only ones
        bool is_run = false;        // whole narrow columns: the block's part of the array is one run of memory
        std::uint32_t spare = 0;    // bytes beside the chunks
        std::uint32_t unit() const { return bytes * each; }
    };

    std::uint32_t threads = 256;                     // of a block
    std::uint32_t resident_blocks = 0;               // of a multiprocessor; limits the registers; 0: no limit
    std::uint32_t each = 1;                          // columns of a thread
    std::uint32_t chunks = 0;                        // rows of a thread
    std::uint32_t shared_bytes = 0;                  // dynamic shared memory of the launch
    bool narrow = false;                             // the innermost axis is short, so that a block has all of it
    std::uint32_t across = 1;                        // threads beside each other, at most
    std::uint32_t copy_unroll = 1, fold_unroll = 1;  // of loops over a thread's chunks
    std::vector<staged_array> staged{};              // inputs that move along the columns, then those of outputs
    std::vector<std::size_t> results{};              // narrow: the index in `staged` of each output

    /// Rows of threads of a block in which `across` threads stand beside each other.
    std::uint32_t height() const { return threads / across; }
    kernel_shape shape_of(std::string_view layout, thread_exchange exchange) const;
    /// "9 rows of 4 columns a thread, "
    std::string rows_and_columns() const;
};

/// A block has its columns whole.
struct whole_column_scan_layout : column_tile {
    std::uint32_t width = 0;   // narrow: the length of the innermost axis
    std::uint32_t gap = 0;     // narrow: elements between those of two outer places, against bank conflicts
    bool stores_runs = false;  // narrow: all outputs of a block are runs of memory

    kernel_shape shape() const;
    std::string_view pattern() const { return "column scan"; }
    std::string reason() const;
    void write(cuda_kernel& b, const scanning& s) const;
};

/// Columns are cut into tiles that look back.
struct long_column_scan_layout : column_tile {
    std::uint32_t tile_columns = 0;      // of a tile, at most
    std::uint32_t tile_rows = 0;         // of a tile, at least
    std::uint32_t run = 32;              // tiles of a run: a warp's lanes, or fewer where no strip has more
    std::uint32_t columns_per_warp = 1;  // columns of a tile for which a warp looks back together

    kernel_shape shape() const;
    std::string_view pattern() const { return "look-back column scan"; }
    std::string reason() const;
    void write(cuda_kernel& b, const scanning& s) const;
};

using scan_choice = std::variant<row_scan_layout, long_row_scan_layout, short_column_scan_layout,
                                 whole_column_scan_layout, long_column_scan_layout>;

scan_choice choose_scan(const cuda_kernel& b, const scanning& s);
row_scan_layout choose_rows(const cuda_kernel& b, const scanning& s);
long_row_scan_layout choose_long_rows(const cuda_kernel& b, const scanning& s);
short_column_scan_layout choose_short_columns(const cuda_kernel& b, const scanning& s);
/// Empty where a block has no room for the longest columns of the class.
std::optional<whole_column_scan_layout> choose_whole_columns(const cuda_kernel& b, const scanning& s);
long_column_scan_layout choose_long_columns(const cuda_kernel& b, const scanning& s);

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
