// How CUDA threads hold the rows of a row program in registers. A row belongs to `lanes` threads, each with `chunks`
// chunks of `each` consecutive elements: chunk u of lane l begins at element (u * lanes + l) * each. Elements beyond
// the registers of as many threads as overlap best lie in shared memory, where each thread has places of its own. All
// of it is chosen from the key and the graph, before any text is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

struct register_rows {
    enum class layout : std::uint8_t {
        along,    // lanes of a row read neighbouring elements: some lanes of a warp, a block, the blocks of a cluster
        columns,  // memory runs across the rows: neighbouring threads have neighbouring rows, one lane each
        fitted,   // as `columns`; a block has as many rows as its lanes can hold, so both numbers vary at run time
        runs,     // few rows lie side by side as one run of memory: a block or a cluster has the whole run
    };
    layout how = layout::along;

    // Threads.

    std::uint32_t threads = 256;              // of a block
    std::uint32_t cluster = 1;                // blocks of a row
    std::uint32_t resident_blocks = 1;        // of a multiprocessor, so that computation hides other rows' loads
    std::uint32_t lanes = 1;                  // of a row
    std::uint32_t rows_per_block = 1;         // of all its threads
    std::uint32_t rows_per_thread = 1;        // where a row has one lane: these rows' loads are in flight together
    std::uint32_t columns_per_block = 1;      // runs, fitted: rows beside each other in a block, at most
    std::uint32_t min_columns_per_block = 1;  // fitted: where rows are longest
    std::uint32_t column_multiple = 1;        // fitted: a block's rows are a multiple of this, or a power of two

    // Elements of a lane.

    std::uint32_t each = 1, chunks = 1;  // in registers
    std::uint32_t min_chunks = 0;        // whole chunks that every lane has of each row of the length class
    std::uint32_t max_chunks = 1;        // fitted: in registers and shared memory; decides the lanes of a row
    std::uint32_t chunks_at_once = 1;    // of one element each, computed side by side; a divisor of `chunks`
    std::uint32_t shared_chunks = 0;     // further chunks of a lane, in shared memory
    std::uint32_t shared_chunks_at_once = 8;

    // Loads.

    /// Rows begin anywhere: the first chunk begins at the last place before the row that is a multiple of `sector`.
    bool shifted = false;
    std::uint32_t sector = 1;          // elements
    bool reads_around = false;         // vectors may reach beyond a row that lies between others
    bool streams_elements = false;     // a few single elements are in flight together
    std::uint32_t prefetch_share = 0;  // share of the resident rows by which second-level prefetches run ahead

    // Values.

    bool scans = false;  // prefixes replace the scanned values
    /// A value in shared memory, and its byte offset within an element.
    struct shared_value {
        node_id node;
        std::uint32_t at;
    };
    std::vector<shared_value> shared_values;  // the values of a shared chunk
    std::uint32_t shared_chunk_bytes = 0;
    /// Arrays and random leaves that are held from the beginning.
    std::vector<node_id> streams;
    /// Costly values that a later phase needs too: the phase that computes them keeps them.
    std::vector<node_id> cached;
    /// Arrays that one later phase alone reads: until then they lie in shared memory, `deferred_bytes` for each element
    /// of a lane.
    std::vector<shared_value> deferred_loads;
    std::uint32_t deferred_bytes = 0;
    std::size_t deferred_phase = 0;  // the first phase that reads one
    /// For each phase: whether its results are whole words, which the blocks of a cluster send to each other.
    std::vector<bool> sends_words;

    bool is_across() const { return how != layout::along; }
    /// Whether rows lie beside each other in a block and the lanes of a row are in different warps.
    bool has_columns() const { return how == layout::fitted || how == layout::runs; }
    bool is_fitted() const { return how == layout::fitted; }
    bool is_run() const { return how == layout::runs; }
    /// Whether a thread has whole rows.
    bool has_one_lane() const { return lanes == 1 && cluster == 1 && !has_columns(); }
    /// Whether the first chunk of some lanes lies before a row.
    bool begins_before() const { return shifted && sector > each; }
    std::uint32_t elements() const { return each * chunks; }
    /// Slots in shared memory for the folds of the lanes of rows beside each other, one after the other with a gap
    /// behind each group, and for the folds of the blocks.
    std::uint32_t slots_of_lanes() const {
        return threads + threads / (is_run() ? columns_per_block : min_columns_per_block) + 1;
    }
    std::uint32_t slots_of_blocks() const { return cluster * columns_per_block; }
    /// Dynamic shared memory of a block.
    std::uint32_t shared_bytes() const {
        return (shared_chunks * shared_chunk_bytes + elements() * deferred_bytes) * threads;
    }

    kernel_shape shape() const;
    std::string_view pattern() const { return "row program"; }
    std::string reason() const;
};

/// Empty where registers do not hold a row.
std::optional<register_rows> choose_register_rows(const key& k, const graph& g, const row_program& r);

void emit_register_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice, plan& p);

/// Whether `at` is an array that is contiguous along the row.
bool is_packed(const operand_class& at, const graph& g, const row_program& r);

}  // namespace ingot::codegen
