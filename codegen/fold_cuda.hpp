// What CUDA's schedules of folds share. A lane folds elements of one result, or of a few neighbouring ones (`columns`),
// in tiles: what it has of a tile is joined in pairs, tiles one after the other (in two levels where that keeps the
// error small). Lanes of a result join by what the schedule has for it; blocks of a result leave what they have in the
// scratch, and the last of them waits for it and joins it by the blocks' numbers.
//
// So the order of joining depends on the key, the sizes and the device alone.
#pragma once

#include <functional>

#include "codegen/cuda_kernel.hpp"
#include "codegen/reduction.hpp"

namespace ingot::codegen {

class cuda_fold {
public:
    cuda_fold(const key& k, const graph& g, const folding& f, std::uint32_t threads);
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
    /// Slots that the thread which finishes loads at once.
    virtual std::uint32_t slots_at_once() const { return 8; }
    /// Closes what the place has opened.
    virtual void write_end() {}
    virtual void describe(launch& step) const = 0;

    // The space.

    std::uint64_t kept_bits() const { return axis_range(0, b_.rank); }
    /// Of columns: without the innermost, along which they lie beside each other.
    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(b_.rank - 1); }
    /// Bytes of the largest partial result.
    std::uint32_t widest_part() const;
    std::uint64_t loops_of(const place& in) const { return b_.graph.nodes[in.node].axes; }
    /// Arrays and random leaves that a space folds and that move along it.
    std::vector<const place*> inputs_of(const folded_space& s) const;
    std::vector<node_id> generators_of(const folded_space& s) const;
    std::string random_element(node_id g, std::uint64_t axes);
    std::vector<node_id> values() const;
    /// Whether neighbours along a loop are neighbours in memory.
    bool is_unit(const place& at, int along) const;
    static bool rounds(const std::vector<fold_writer>& folds);
    std::string suffix(std::size_t number) const { return spaces_.size() == 1 ? "" : std::to_string(number); }
    /// Loads in flight, of `bytes` each: so many that a lane's tile holds about `bytes_in_flight`, and no more than
    /// `longest` elements and the compiler can take.
    std::uint32_t unroll_of(const folded_space& s, std::uint32_t bytes, std::uint32_t tile_elements,
                            std::uint32_t lane_elements, std::uint32_t bytes_in_flight = 64) const;

    // Text.

    /// Around what is done for each of the thread's results: nothing where there is one.
    void open_columns(const std::string& count = "");
    void close_columns();
    /// Within: the digit of result e.
    void write_column();
    std::string own(const std::string& name) const { return columns_ == 1 ? name : name + "[e]"; }
    /// `type name = start;`, for each of the thread's results.
    void declare(const std::string& type, const std::string& name, const std::string& start);
    void declare_results(std::vector<fold_writer>& folds);
    /// The variable in which a thread has its results, and what it joins its parts to.
    virtual std::string results_of(const fold_writer& f) const { return own(f.name()); }
    /// Whether parts are joined to these every so often, or only in the end.
    virtual bool has_rounds(const std::vector<fold_writer>& folds) const { return rounds(folds); }
    /// Whether what is left of a thread's elements is loaded in halves of a tile, or by loads that ask whether they are
    /// there: where entries are counted that costs more.
    virtual bool rest_in_halves(const std::vector<fold_writer>& folds, std::uint32_t unroll) const;
    void declare_parts(std::vector<fold_writer>& folds);
    /// Joins an array of n entries, the first `present` of them, to the part; one entry; every so often, a tile being
    /// `entries` of what is joined one after the other, the parts to the results; in the end what is left.
    void join_entries(fold_writer& f, const std::string& array, std::uint32_t n, const std::string& present = "");
    void join_one(fold_writer& f, const std::string& entry);
    void flush_parts(std::vector<fold_writer>& folds, std::uint32_t entries = 1);
    void join_parts(std::vector<fold_writer>& folds);
    /// How many of the thread's results an input is read for at once, and what a lane loads of a space for one place.
    std::uint32_t columns_of(const place& in) const;
    std::uint32_t bytes_at_once(const folded_space& s) const;
    /// The arrays of what a tile loads.
    void declare_tile(std::size_t number, std::uint32_t unroll);
    /// Loads and joins the places k, k + 1 `apart`, k + 2 `apart`, ..., `unroll` of them: all, or those before `n`;
    /// or joins those that are `loaded`.
    void write_tile(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& n,
                    bool loaded = false);
    /// The loop over a thread's tiles, from place `first` on, `step` apart.
    void write_tiles(std::size_t number, std::uint32_t unroll, const std::string& first, const std::string& apart,
                     const std::string& n, const std::string& step);
    /// What is left after whole tiles, from place k on.
    void write_rest(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& n);
    /// The loop over whole tiles, `step` apart, from place k on while they are `there`: each is on its way into shared
    /// memory while the one before it is joined (fold_tiles_cuda.cpp). A thread has one column; its elements are read
    /// from `address`, and those of a tile lie `distance` apart.
    void write_tiles_ahead(std::size_t number, std::uint32_t unroll, const std::string& apart, const std::string& step,
                           const std::string& distance, const std::function<std::string(const std::string& at)>& there,
                           const std::function<std::string(const place& in, const std::string& at)>& address);
    /// Whether the longest space's folds compute as long as they load, and how many bytes of a thread are then on their
    /// way.
    bool gains_from_tiles_ahead() const;
    static constexpr std::uint32_t bytes_ahead = 64;
    /// Blocks of a multiprocessor then: two compute as much as three, which is as many as fit where there are waves.
    static constexpr std::uint32_t blocks_ahead = 2, blocks_ahead_in_waves = 3;
    /// Loads what a tile reads at place `at` into the arrays' elements [u].
    virtual void write_loads(const folded_space& s, const std::string& at);
    /// The elements at place `at` of a space, whose digits are written, by scalar loads, joined to the parts.
    void write_element(std::size_t number, const std::string& at);
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

    /// Where blocks share results: asks for the rule, the last block at once, the others where this is written, soon
    /// enough that nobody waits for the answer. Tells what the owner has of a result, as one of its `tellers`. The
    /// results, each when all have told.
    void declare_sharing();
    void ask_rule(const std::string& when = "");
    void tell_all(const std::string& slots, const std::string& teller);
    void write_shared_finish(const std::string& tellers);

    std::string rows() { return b_.count({.axes = kept_bits()}, "rows"); }
    /// Several blocks a result: each has a piece of this many elements at least, along `along` beside the longest
    /// space, and a multiprocessor gets at most so many blocks of all results, and of one. A block has at most so many
    /// results. `waves`: as a launch has it.
    void split(std::uint64_t along, std::uint32_t piece, std::uint32_t blocks, std::uint32_t blocks_of_one,
               std::uint32_t results, std::uint32_t waves = 1);
    /// The waves of blocks that share columns: of several places, so many that what each has to tell costs less than is
    /// gained. Those that tell exponentials have more to join.
    std::uint32_t waves_of_columns() const;

    cuda_kernel b_;
    const std::vector<folded_space>& spaces_;
    const std::vector<std::size_t>& results_;
    std::vector<std::vector<fold_writer>> folds_;  // of each space
    std::vector<int> kept_;
    std::size_t longest_ = 0;
    std::uint8_t bucket_ = 1;
    std::uint32_t words_ = 0, slots_ = 0;  // members of a result's partial results, and their room in the scratch
    std::uint32_t threads_, columns_ = 1;
    std::uint32_t least_blocks_ = 0;  // of a multiprocessor: so many registers a thread may have; 0: as it comes
    bool split_ = false;
    body_writer::names unplaced_;  // what is named before a place is

    std::string scratch_pointer();
    void combine_all();
    void write_finish();
    void write_results(const std::string& owner);

private:
    // How the blocks of a result meet (fold_finish_cuda.cpp).

    void add_slots();
    std::string slot(std::uint32_t slots);
    /// Each fold of each of the thread's results, and the text of where its slots are.
    void for_each_slot(const std::function<void(fold_writer&, const std::string&)>& write);
    void write_gather();
};

/// The schedules: lanes along memory share a row, or lie beside each other across it.
void emit_row_fold_cuda(const key& k, const graph& g, const folding& f, plan& p);
void emit_column_fold_cuda(const key& k, const graph& g, const folding& f, plan& p);
/// Short columns side by side; columns of a few elements; strips of wide ones. False where these are none.
bool emit_short_columns_cuda(const key& k, const graph& g, const folding& f, plan& p);
bool emit_brief_columns_cuda(const key& k, const graph& g, const folding& f, plan& p);
bool emit_column_strips_cuda(const key& k, const graph& g, const folding& f, plan& p);

}  // namespace ingot::codegen
