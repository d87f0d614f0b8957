// What CUDA's schedules of folds share. A lane folds elements of one result, or of a few neighbouring ones (`columns`),
// in tiles: what it has of a tile is joined in pairs, tiles one after the other (in two levels where that keeps the
// error small). Lanes of a result join by what the schedule has for it; blocks of a result leave what they have in the
// scratch, and the last that began joins it by the blocks' numbers.
//
// So the order of joining depends on the key, the sizes and the device alone.
#pragma once

#include <functional>

#include "codegen/cuda/fold/choice.hpp"
#include "codegen/cuda/fold/folded_kernel.hpp"

namespace ingot::codegen {

class cuda_fold : protected folded_kernel {
public:
    cuda_fold(cuda_kernel& b, const folded_kernel& f, const fold_choice& c);
    virtual ~cuda_fold() = default;
    cuda_fold(const cuda_fold&) = delete;
    cuda_fold& operator=(const cuda_fold&) = delete;

    void write(plan& p);

protected:
    /// Which results this thread works on, and what it needs of them before it folds.
    virtual void write_place() = 0;
    /// Folds this thread's share of a space.
    virtual void write_space(std::size_t number) = 0;
    /// Joins what all lanes of a result have of a variable.
    virtual void combine(fold_writer& f, const std::string& joiner, const std::string& variable) = 0;
    /// The results whose lanes these are, as they are counted in the scratch; "" for the only one.
    virtual std::string first_result() const = 0;
    /// The number of this lane among those of its result, and how many these are.
    virtual std::string lane() const = 0;
    virtual std::string lanes() const = 0;
    /// "mine && " where there are lanes without a result.
    virtual std::string mine() const { return ""; }
    /// Holds for the one thread that answers for its results.
    virtual std::string owner() = 0;
    /// What follows the folds: lanes join, then the blocks of a result where there are several, and the results.
    virtual void write_ending();
    /// Closes what the place has opened.
    virtual void write_end() {}
    virtual void describe(launch& step) const = 0;

    std::string random_element(node_id g, std::uint64_t axes);
    using folded_kernel::bytes_at_once, folded_kernel::columns_of;
    std::uint32_t columns_of(const array_argument& in) const { return columns_of(in, tile_columns_); }
    std::uint32_t bytes_at_once(const folded_space& s) const { return bytes_at_once(s, tile_columns_); }
    static bool rounds(const std::vector<fold_writer>& folds);
    std::string suffix(std::size_t number) const { return spaces_.size() == 1 ? "" : std::to_string(number); }

    // Text.

    /// Around what is done for each of the thread's results, or of the columns that it folds: nothing where there is
    /// one.
    void open_columns(const std::string& count = "") { open_columns(columns_, count); }
    void close_columns() { close_columns(columns_); }
    void open_tile_columns(const std::string& count = "") { open_columns(tile_columns_, count); }
    void close_tile_columns() { close_columns(tile_columns_); }
    /// Within: the digit of result e; the variable of it.
    void write_column();
    std::string own(const std::string& name) const { return columns_ == 1 ? name : name + "[e]"; }
    std::string own_in_tile(const std::string& name) const { return tile_columns_ == 1 ? name : name + "[e]"; }
    /// `type name = start;`, for each of the thread's results, or of the columns that it folds.
    void declare(const std::string& type, const std::string& name, const std::string& start) {
        declare(columns_, type, name, start);
    }
    void declare_in_tile(const std::string& type, const std::string& name, const std::string& start) {
        declare(tile_columns_, type, name, start);
    }
    void declare_results(std::vector<fold_writer>& folds);
    /// The variable in which a thread has its results, and what it joins its parts to.
    virtual std::string results_of(const fold_writer& f) const { return own_in_tile(f.name()); }
    /// Whether parts are joined to these every so often, or only in the end.
    bool has_rounds(const std::vector<fold_writer>& folds) const { return frame_.has_rounds && rounds(folds); }
    void declare_parts(std::vector<fold_writer>& folds, bool counts_tiles = true);
    /// Joins an array of n entries, the first `present` of them, to the part, behind which they stand; one entry; every
    /// so often, a tile being `entries` of what is joined one after the other, and where `ends` holds, the parts to the
    /// results; in the end what is left.
    void join_entries(fold_writer& f, const std::string& array, std::uint32_t n, const std::string& present = "");
    void join_one(fold_writer& f, const std::string& entry);
    void flush_parts(std::vector<fold_writer>& folds, std::uint32_t entries = 1, const std::string& ends = "");
    static constexpr std::uint32_t most_entries = 64;  // that are joined one after the other
    void join_parts(std::vector<fold_writer>& folds);
    /// Around a loop over tiles that ends every so often for its parts to be joined to the results: until place k is n.
    void open_rounds(const std::vector<fold_writer>& folds);
    void close_rounds(std::vector<fold_writer>& folds, const std::string& n);
    /// The arrays of what a tile loads and draws, and the names of their elements.
    void declare_tile(std::size_t number, std::uint32_t unroll, bool zeros);
    void name_tile(const folded_space& s);
    /// Element u's place.
    static std::string place_in_tile(std::uint32_t unroll, const std::string& apart) {
        return unroll == 1 ? "k" : "k + u" + apart;
    }
    /// Loads a tile's elements, those before `end` where there is one, and counts them.
    void load_tile(const folded_space& s, std::uint32_t unroll, const std::string& apart, const std::string& end,
                   bool counted);
    /// Loads and joins the places k, k + 1 `apart`, k + 2 `apart`, ..., `unroll` of them: all, or those before `n`;
    /// or joins those that are `loaded`.
    void write_tile(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& n,
                    bool loaded = false);
    /// The loop over a thread's tiles, from place k on, `step` apart; `in_rounds`: it ends where parts are to be
    /// joined.
    void write_tiles(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& n,
                     const std::string& step, bool in_rounds = false);
    /// What is left after whole tiles, from place k on, in halves of one.
    void write_rest(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& n);
    /// The loop over whole tiles, `step` apart, from place k on while they are `there`: each is on its way into shared
    /// memory while the one before it is joined (cuda/fold/tiles.cpp). A thread has one column; its elements are read
    /// from `address`, and those of a tile lie `distance` apart.
    void write_tiles_ahead(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& step,
                           const std::string& distance, const std::function<std::string(const std::string& at)>& there,
                           const std::function<std::string(const array_argument& in, const std::string& at)>& address);
    /// Loads what a tile reads at place `at` into the arrays' elements [u].
    virtual void write_loads(const folded_space& s, const std::string& at);
    /// The elements at place `at` of a space, whose digits are written, by scalar loads, joined to the parts, `behind`
    /// all of which they stand or not.
    void write_element(std::size_t number, const std::string& at, bool behind = false);
    /// Outputs that move along a space: room for what a thread writes of them at once, `each` neighbours along an axis;
    /// their values; and the stores, `write_digit` writing the digit of element e, or of the first. And of one element.
    std::string result(std::size_t output) const { return 'r' + std::to_string(output); }
    void declare_outputs(const folded_space& s, std::uint32_t unroll, std::uint32_t each);
    void put_outputs(const folded_space& s, const std::string& at);
    void store_outputs(const folded_space& s, std::uint32_t each, int along,
                       const std::function<void(bool element)>& write_digit);
    void store_element_outputs(const folded_space& s);
    /// Operands that move along no axis but these: loaded once, and what is made of them computed.
    void load_kept(std::uint64_t axes);

    /// Joins over groups of lanes, over a block.
    void combine_lanes(fold_writer& f, const std::string& joiner, const std::string& variable, std::uint32_t lanes);
    void combine_block(fold_writer& f, const std::string& joiner, const std::string& variable);

    /// What the owner has of a variable, for all lanes of its result.
    virtual void share(fold_writer&) {}
    /// Where blocks share results: counters and slots; the question which blocks finish, early enough that no block
    /// waits for the answer; what the owner has of a result, as one of its `publishers`; the results, each when all
    /// blocks have published.
    void declare_sharing();
    void elect_finisher(const std::string& when = "");
    void publish_all(const std::string& slots, const std::string& publisher);
    void write_shared_finish(const std::string& publishers);

    std::string rows() { return b_.count(points_of(kept_bits()), "rows"); }

    cuda_kernel& b_;
    const fold_choice frame_;
    std::vector<std::vector<fold_writer>> folds_;  // of each space
    std::vector<int> kept_;
    const std::uint32_t threads_, columns_, tile_columns_;
    const bool split_;
    body_writer::names unplaced_;  // what is named before a place is

    std::string scratch_pointer();
    /// Those of 32 bits behind an offset of the scratch. Where the one thread that asks has its ticket: `ticket`.
    std::string counters(const std::string& offset);
    void take_ticket(const std::string& counter);
    /// Whether all blocks finish results, each some.
    bool shares_results() const { return frame_.split && frame_.split->how == block_split::finish::shared; }
    void combine_all();
    /// Whether blocks' parts are of the type of threads'.
    bool joins_blocks_alike();
    void write_finish();
    /// All but the last block publish what they have and end; that one gathers all parts, which its threads are still
    /// to join.
    void write_meeting();
    void write_results(const std::string& owner);

private:
    void open_columns(std::uint32_t columns, const std::string& count);
    void close_columns(std::uint32_t columns);
    void declare(std::uint32_t columns, const std::string& type, const std::string& name, const std::string& start);

    // How the blocks of a result meet (cuda/fold/finish.cpp).

    void launch_split(const block_split& s);
    void add_slots();
    std::string slot(std::uint32_t slots);
    /// Each fold of each of the thread's results, and the text of where its slots are.
    void for_each_slot(const std::function<void(fold_writer&, const std::string&)>& write);
    void write_gather();
};

}  // namespace ingot::codegen
