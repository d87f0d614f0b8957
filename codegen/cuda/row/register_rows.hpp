// How CUDA threads hold the rows of a row program in registers. A row belongs to `lanes` threads, each of which has
// `chunks` chunks of `each` consecutive elements: chunk u of lane l begins at element (u * lanes + l) * each. What the
// registers of so many threads as overlap best do not hold lies in shared memory, where each thread has places of its
// own. All of it is chosen from the key and the graph, before anything is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

struct register_rows {
    enum class layout : std::uint8_t {
        along,    // lanes of a row read neighbouring elements: some lanes of a warp, a block, the blocks of a cluster
        columns,  // memory runs across the rows: neighbouring threads have neighbouring rows, a lane each
        fitted,   // the same; a block has as many rows as leave no lane too much, so both are known at run time
        runs,     // few rows lie side by side, one run of memory: a block or a cluster has all of a run
    };
    layout how = layout::along;

    // Threads.

    std::uint32_t threads = 256;              // of a block
    std::uint32_t cluster = 1;                // blocks of a row
    std::uint32_t resident_blocks = 1;        // of a multiprocessor, so that computing hides behind other rows' loads
    std::uint32_t lanes = 1;                  // of a row
    std::uint32_t rows_per_block = 1;         // those of all its threads
    std::uint32_t rows_per_thread = 1;        // where a row has one lane: their loads are under way at once
    std::uint32_t columns_per_block = 1;      // runs, fitted: rows that lie beside each other in a block, at most
    std::uint32_t min_columns_per_block = 1;  // fitted: where rows are longest
    std::uint32_t column_multiple = 1;        // fitted: a block has a multiple of so many rows, or a power of two

    // Elements of a lane.

    std::uint32_t each = 1, chunks = 1;  // in registers
    std::uint32_t min_chunks = 0;        // that every lane has whole of each row of the length class
    std::uint32_t max_chunks = 1;        // fitted: in registers and shared memory; so many lanes has a row
    std::uint32_t chunks_at_once = 1;    // of one element each, computed side by side; a divisor of `chunks`
    std::uint32_t shared_chunks = 0;     // that a lane may have beyond these, in shared memory
    std::uint32_t shared_chunks_at_once = 8;

    // Loads.

    /// Rows begin anywhere: the first chunk is that of the last place before them that is a multiple of `sector`.
    bool shifted = false;
    std::uint32_t sector = 1;          // elements
    bool reads_around = false;         // vectors may reach beyond a row that lies amid others
    bool streams_elements = false;     // few single elements are under way at once
    std::uint32_t prefetch_share = 0;  // of the resident rows; so far ahead rows come into the second-level cache

    // Values.

    bool scans = false;  // prefixes take the place of what is scanned
    /// A value in shared memory, and the bytes of an element that lie before it.
    struct shared_value {
        node_id node;
        std::uint32_t at;
    };
    std::vector<shared_value> shared_values;  // what is held of a shared chunk
    std::uint32_t shared_chunk_bytes = 0;
    /// Arrays and random leaves that are held from the beginning.
    std::vector<node_id> streams;
    /// Values that cost much and that a later phase wants too: the phase that computes them keeps them.
    std::vector<node_id> kept;
    /// Arrays that one later phase reads alone: until then they lie in shared memory, so many bytes of a lane's
    /// element.
    std::vector<shared_value> deferred_loads;
    std::uint32_t deferred_bytes = 0;
    std::size_t deferred_phase = 0;  // the first that reads one
    /// Of each phase: whether its results are whole words, which the blocks of a cluster send to each other.
    std::vector<bool> sends_words;

    bool is_across() const { return how != layout::along; }
    /// Whether rows lie beside each other in a block and the lanes of one are in different warps.
    bool has_columns() const { return how == layout::fitted || how == layout::runs; }
    bool is_fitted() const { return how == layout::fitted; }
    bool is_run() const { return how == layout::runs; }
    /// Whether a thread has whole rows.
    bool has_one_lane() const { return lanes == 1 && cluster == 1 && !has_columns(); }
    /// Whether the first chunk of some lanes lies before a row.
    bool begins_before() const { return shifted && sector > each; }
    std::uint32_t elements() const { return each * chunks; }
    /// Places in shared memory for what the lanes of rows beside each other have, one after the other with a gap behind
    /// each group of them, and for what the blocks have.
    std::uint32_t slots_of_lanes() const {
        return threads + threads / (is_run() ? columns_per_block : min_columns_per_block) + 1;
    }
    std::uint32_t slots_of_blocks() const { return cluster * columns_per_block; }
    /// Dynamic, of a block.
    std::uint32_t shared_bytes() const {
        return (shared_chunks * shared_chunk_bytes + elements() * deferred_bytes) * threads;
    }

    kernel_shape shape() const;
    std::string reason() const;
};

/// Nothing where registers do not hold a row.
std::optional<register_rows> choose_register_rows(const key& k, const graph& g, const row_program& r);

void emit_register_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice, plan& p);

/// Whether `at` is an array that moves by one element along the row.
bool is_packed(const operand_class& at, const graph& g, const row_program& r);

}  // namespace ingot::codegen
