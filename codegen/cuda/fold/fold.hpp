// The frame that CUDA's schedules of folds share. A lane folds elements of one result, or of a few neighbouring ones
// (`columns`), in tiles: the elements of a tile are joined in pairs, the tiles one after the other (in two levels where
// that keeps the error small). The schedule joins the lanes of a result. Blocks of a result publish their parts in the
// scratch, and the block that began last joins them by the blocks' numbers.
//
// The order of joining therefore depends on the key, the sizes and the device alone.
#pragma once

#include <functional>

#include "codegen/cuda/fold/choice.hpp"
#include "codegen/cuda/fold/folded_kernel.hpp"
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

class cuda_fold : protected folded_kernel {
public:
    cuda_fold(cuda_kernel& b, const folded_kernel& f, const fold_choice& c);
    virtual ~cuda_fold() = default;
    cuda_fold(const cuda_fold&) = delete;
    cuda_fold& operator=(const cuda_fold&) = delete;

    /// Writes the body of the kernel, and notes its work.
    void write();

protected:
    /// Writes which results this thread works on, and what it needs of them before it folds.
    virtual void locate_thread() = 0;
    /// Folds this thread's share of a space.
    virtual void write_space(std::size_t number) = 0;
    /// Joins a variable over all lanes of a result.
    virtual void combine(fold_writer& f, const std::string& joiner, const std::string& variable) = 0;
    /// The number in the scratch of the first result of these lanes; "" for the only one.
    virtual std::string first_result() const = 0;
    /// The number of this lane among the lanes of its result, and how many there are.
    virtual std::string lane() const = 0;
    virtual std::string lanes() const = 0;
    /// "mine && " where some lanes have no result.
    virtual std::string mine() const { return ""; }
    /// The condition that holds for the one thread that stores its results.
    virtual std::string owner() = 0;
    /// Joins the lanes, then the blocks of a result where there are several; stores the results.
    virtual void write_ending();
    /// Closes the scopes that locate_thread opened.
    virtual void write_end() {}

    std::string random_element(node_id g, std::uint64_t axes);
    using folded_kernel::bytes_at_once, folded_kernel::columns_of;
    std::uint32_t columns_of(const array_argument& in) const { return columns_of(in, tile_columns_); }
    std::uint32_t bytes_at_once(const folded_space& s) const { return bytes_at_once(s, tile_columns_); }
    static bool rounds(const std::vector<fold_writer>& folds);
    std::string suffix(std::size_t number) const { return spaces_.size() == 1 ? "" : std::to_string(number); }

    // Text.

    /// The loop over the thread's results, or over the columns that it folds; no loop where there is one.
    void open_columns(const std::string& count = "") { open_columns(columns_, count); }
    void close_columns() { close_columns(columns_); }
    void open_tile_columns(const std::string& count = "") { open_columns(tile_columns_, count); }
    void close_tile_columns() { close_columns(tile_columns_); }
    /// Within that loop: the digit of result e; its variable.
    void write_column();
    std::string own(const std::string& name) const { return columns_ == 1 ? name : name + "[e]"; }
    std::string own_in_tile(const std::string& name) const { return tile_columns_ == 1 ? name : name + "[e]"; }
    /// `type name = start;`, for each of the thread's results, or for each of the columns that it folds.
    void declare(const std::string& type, const std::string& name, const std::string& start) {
        declare(columns_, type, name, start);
    }
    void declare_in_tile(const std::string& type, const std::string& name, const std::string& start) {
        declare(tile_columns_, type, name, start);
    }
    void declare_results(std::vector<fold_writer>& folds);
    /// The variable that holds a thread's results, to which it joins its parts.
    virtual std::string results_of(const fold_writer& f) const { return own_in_tile(f.name()); }
    /// Whether parts are joined to the results after every few tiles, not only in the end.
    bool has_rounds(const std::vector<fold_writer>& folds) const { return frame_.has_rounds && rounds(folds); }
    void declare_parts(std::vector<fold_writer>& folds, bool counts_tiles = true);
    /// (1) join_entries joins the first `present` of an array's n entries to the part, behind which they stand. (2)
    /// join_one joins one. (3) flush_parts joins parts to results after every `most_entries` entries, a tile being
    /// `entries` in sequence, and where `ends` holds. (4) join_parts joins the rest.
    void join_entries(fold_writer& f, const std::string& array, std::uint32_t n, const std::string& present = "");
    void join_one(fold_writer& f, const std::string& entry);
    void flush_parts(std::vector<fold_writer>& folds, std::uint32_t entries = 1, const std::string& ends = "");
    static constexpr std::uint32_t most_entries = 64;  // joined one after the other
    void join_parts(std::vector<fold_writer>& folds);
    /// The loop of rounds: after each round of tiles the parts are joined to the results, until place k is n.
    void open_rounds(const std::vector<fold_writer>& folds);
    void close_rounds(std::vector<fold_writer>& folds, const std::string& n);
    /// Declares the arrays of what a tile loads and draws, and names their elements.
    void declare_tile(std::size_t number, std::uint32_t unroll, bool zeros);
    void name_tile(const folded_space& s);
    /// The place of element u.
    static std::string offset_in_tile(std::uint32_t unroll, const std::string& stride) {
        return unroll == 1 ? "k" : "k + u" + stride;
    }
    /// Loads a tile's elements, only those before `end` where that is given, and counts them.
    void load_tile(const folded_space& s, std::uint32_t unroll, const std::string& stride, const std::string& end,
                   bool counted);
    /// Loads and joins the `unroll` places k, k + 1 `stride`, k + 2 `stride`, ...: all of them, or those before `n`.
    /// Where `loaded`, it only joins.
    void write_tile(std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& n,
                    bool loaded = false);
    /// The loop over a thread's tiles, from place k on, `step` apart. `in_rounds`: the loop ends where parts are to be
    /// joined.
    void write_tiles(std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& n,
                     const std::string& step, bool in_rounds = false);
    /// The elements left after whole tiles, from place k on, in halves of a tile.
    void write_rest(std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& n);
    /// The loop over whole tiles, `step` apart, from place k on while they are `there`: each tile is copied into shared
    /// memory while the one before it is joined (cuda/fold/tiles.cpp). A thread has one column; its elements are read
    /// from `address`, and those of a tile lie `distance` apart.
    void write_tiles_ahead(std::size_t number, std::uint32_t unroll, const std::string& stride, const std::string& step,
                           const std::string& distance, const std::function<std::string(const std::string& at)>& there,
                           const std::function<std::string(const array_argument& in, const std::string& at)>& address);
    /// Loads the elements of a tile at place `at` into the arrays' elements [u].
    virtual void write_loads(const folded_space& s, const std::string& at);
    /// Loads by scalar loads the elements at place `at` of a space, whose digits are written, and joins them to the
    /// parts. `behind`: they stand behind all elements of the parts.
    void write_element(std::size_t number, const std::string& at, bool behind = false);
    /// Outputs along a space: (1) arrays for the values that a thread stores at once, `each` neighbours along an axis;
    /// (2) the values; (3) their stores, where `write_digit` writes the digit of element e or of the first; (4) one
    /// element's store.
    std::string result(std::size_t output) const { return 'r' + std::to_string(output); }
    void declare_outputs(const folded_space& s, std::uint32_t unroll, std::uint32_t each);
    void put_outputs(const folded_space& s, const std::string& at);
    void store_outputs(const folded_space& s, std::uint32_t each, int along,
                       const std::function<void(bool element)>& write_digit);
    void store_element_outputs(const folded_space& s);
    /// Loads the operands that move along no axis but these, once, and computes what depends on them alone.
    void load_invariants(std::uint64_t axes);

    /// Join over groups of lanes, and over a block.
    void combine_lanes(fold_writer& f, const std::string& joiner, const std::string& variable, std::uint32_t lanes);
    void combine_block(fold_writer& f, const std::string& joiner, const std::string& variable);

    /// Gives the owner's value of a variable to all lanes of its result.
    virtual void share(fold_writer&) {}
    /// Where blocks share results: (1) counters and slots; (2) the election of the blocks that finish, early enough
    /// that no block waits for the answer; (3) publishing the owner's parts of a result, as one of its `publishers`;
    /// (4) the results, each when all blocks have published its parts.
    void declare_sharing();
    void elect_finisher();
    void publish_all(const std::string& slots, const std::string& publisher);
    void write_shared_finish(const std::string& publishers);

    std::string rows() { return b_.count(points_of(kept_bits()), "rows"); }

    cuda_kernel& b_;
    const fold_choice frame_;
    std::vector<std::vector<fold_writer>> folds_;  // of each space
    std::vector<int> kept_axes_;
    const std::uint32_t threads_, columns_, tile_columns_;
    const bool split_;
    body_writer::names outer_names_;  // the names known before locate_thread

    std::string scratch_pointer();
    /// The 32-bit counters at an offset of the scratch. `ticket` is the ticket of the thread that took it.
    std::string counters(const std::string& offset);
    void take_ticket(const std::string& counter);
    /// Whether every block finishes some of the results.
    bool shares_results() const { return frame_.split && frame_.split->how == block_split::finish::shared; }
    void combine_all();
    /// Whether blocks' parts have the type of threads' parts.
    bool joins_blocks_alike();
    void write_finish();
    /// All but the last block publish their parts and end; the last one gathers all parts, which its threads are still
    /// to join.
    void write_meeting();
    void write_results(const std::string& owner);

private:
    void open_columns(std::uint32_t columns, const std::string& count);
    void close_columns(std::uint32_t columns);
    void declare(std::uint32_t columns, const std::string& type, const std::string& name, const std::string& start);

    // The meeting of the blocks of a result (cuda/fold/finish.cpp).

    void launch_split(const block_split& s);
    void add_slots();
    std::string slot(std::uint32_t slots);
    /// Each fold of each of the thread's results, and the text of its slots' address.
    void for_each_slot(const std::function<void(fold_writer&, const std::string&)>& write);
    void write_gather();
};

}  // namespace ingot::codegen
