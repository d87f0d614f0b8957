// How CUDA threads hold the rows of a row program in registers. A row belongs to `lanes` threads, each with `chunks`
// chunks of `each` consecutive elements: chunk u of lane l begins at element (u * lanes + l) * each. Elements beyond
// the registers of as many threads as overlap best lie in shared memory, where each thread has places of its own. All
// of it is chosen from the key and the graph, before any text is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

struct register_rows;

// The layouts. Each has the text of who holds a row.

/// Lanes of a row read neighbouring elements: some lanes of a warp, a block, the blocks of a cluster.
struct rows_along_memory {
    static constexpr std::string_view name = "rows";
    std::string holders(const register_rows& s) const;
};

/// Memory runs across the rows: neighbouring threads have neighbouring rows, one lane each.
struct rows_across_memory {
    static constexpr std::string_view name = "columns";
    std::string holders(const register_rows& s) const;
};

/// The same; a block has as many rows as its lanes can hold, so both numbers vary at run time.
struct fitted_columns {
    static constexpr std::string_view name = "fitted columns";
    std::uint32_t columns = 1;      // rows beside each other in a block, at most
    std::uint32_t min_columns = 1;  // where rows are longest
    std::uint32_t multiple = 1;     // a block's rows are a multiple of this, or a power of two
    std::uint32_t max_chunks = 1;   // of a lane, in registers and shared memory; decides the lanes of a row
    std::string holders(const register_rows& s) const;
};

/// Few rows lie side by side as one run of memory: a block or a cluster has the whole run.
struct run_of_rows {
    static constexpr std::string_view name = "runs of columns";
    std::uint32_t columns = 1;
    std::string holders(const register_rows& s) const;
};

/// How a lane's elements are loaded.
struct row_loads {
    bool read_around = false;          // vectors may reach beyond a row that lies between others
    bool stream_elements = false;      // a few single elements are in flight together
    std::uint32_t prefetch_share = 0;  // share of the resident rows by which second-level prefetches run ahead
};

/// The values of an element that a lane holds.
struct held_elements {
    /// A value in shared memory, and its byte offset within an element.
    struct shared_value {
        node_id node;
        std::uint32_t at;
    };
    /// Arrays and random leaves that are held from the beginning.
    std::vector<node_id> streams{};
    /// Costly values that a later phase needs too: the phase that computes them keeps them.
    std::vector<node_id> cached{};
    std::vector<shared_value> shared_values{};  // the values of a shared chunk
    std::uint32_t shared_chunk_bytes = 0;
    /// Arrays that one later phase alone reads: until then they lie in shared memory, `deferred_bytes` for each element
    /// of a lane.
    std::vector<shared_value> deferred_loads{};
    std::uint32_t deferred_bytes = 0;
    std::size_t deferred_phase = 0;  // the first phase that reads one
};

struct register_rows {
    std::variant<rows_along_memory, rows_across_memory, fitted_columns, run_of_rows> layout{};

    // Threads.

    std::uint32_t threads = 256;        // of a block
    std::uint32_t cluster = 1;          // blocks of a row
    std::uint32_t resident_blocks = 1;  // of a multiprocessor, so that computation hides other rows' loads
    std::uint32_t lanes = 1;            // of a row
    std::uint32_t rows_per_block = 1;   // of all its threads
    std::uint32_t rows_per_thread = 1;  // where a row has one lane: these rows' loads are in flight together

    // Elements of a lane.

    std::uint32_t each = 1, chunks = 1;  // in registers
    std::uint32_t min_chunks = 0;        // whole chunks that every lane has of each row of the length class
    std::uint32_t chunks_at_once = 1;    // of one element each, computed side by side; a divisor of `chunks`
    std::uint32_t shared_chunks = 0;     // further chunks of a lane, in shared memory
    std::uint32_t shared_chunks_at_once = 8;
    /// Rows begin anywhere: the first chunk begins at the last place before the row that is a multiple of `sector`.
    bool shifted = false;
    std::uint32_t sector = 1;  // elements

    bool scans = false;  // prefixes replace the scanned values
    /// For each phase: whether its results are whole words, which the blocks of a cluster send to each other.
    std::vector<bool> sends_words{};
    row_loads loads{};
    held_elements held{};

    const fitted_columns* fitted() const { return std::get_if<fitted_columns>(&layout); }
    const run_of_rows* run() const { return std::get_if<run_of_rows>(&layout); }
    bool is_across() const { return !std::holds_alternative<rows_along_memory>(layout); }
    /// Whether rows lie beside each other in a block and the lanes of a row are in different warps.
    bool has_columns() const { return fitted() != nullptr || run() != nullptr; }
    /// Whether a thread has whole rows.
    bool has_one_lane() const { return lanes == 1 && cluster == 1 && !has_columns(); }
    /// Whether the first chunk of some lanes lies before a row.
    bool begins_before() const { return shifted && sector > each; }
    std::uint32_t elements() const { return each * chunks; }
    /// The rows beside each other in a block that has columns, at most.
    std::uint32_t columns() const { return run() != nullptr ? run()->columns : fitted()->columns; }
    /// Slots in shared memory for the folds of the lanes of rows beside each other, one after the other with a gap
    /// behind each group, and for the folds of the blocks.
    std::uint32_t slots_of_lanes() const {
        return threads + threads / (run() != nullptr ? run()->columns : fitted()->min_columns) + 1;
    }
    std::uint32_t slots_of_blocks() const { return cluster * columns(); }
    /// Dynamic shared memory of a block.
    std::uint32_t shared_bytes() const {
        return (shared_chunks * held.shared_chunk_bytes + elements() * held.deferred_bytes) * threads;
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
