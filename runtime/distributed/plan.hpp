// How the ranks compute a statement over distributed arrays: planned once, kept by the session, and run again for the
// statement's later evaluations.
//
// Reductions over split axes come first, innermost first: each rank reduces its part, all gather the parts, and the
// program reads a fold over them in place of the reduction, in the order of ranks, so that the result is equal on all.
// The last step computes what is left, each rank its own part.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/distributed/loops.hpp"

namespace ingot::runtime {

/// An operand as this rank reads it.
struct planned_operand {
    enum class source : std::uint8_t { given, gathered, constant };
    /// Where the elements lie: in an ordinary operand; in this rank's part; there or in its ghost layers; on other
    /// ranks, from which they are fetched.
    enum class place : std::uint8_t { ordinary, own, beside, elsewhere };

    source from = source::given;
    place at = place::ordinary;
    std::size_t number = 0;   // of the statement's operand, or of the step that gathered it
    bool has_layout = false;  // else the operand's own
    detail::layout where{};
    index_t value = 0;          // a constant of int64
    std::vector<box> wanted{};  // elsewhere: the box that each rank fetches, in C order
    /// An axis of these boxes along which they may go beyond `first + extent`, and begin again at `first` there.
    struct cycle {
        std::size_t axis;
        index_t first, extent;
        index_t turns;  // the most times that a rank's box begins again
    };
    std::vector<cycle> cycles{};
};

struct planned_step {
    std::vector<detail::word> program, attributes;
    std::vector<planned_operand> operands;
};

/// A step's value goes from the placement under which it is computed to another; a vector may be sorted as it goes.
struct planned_move {
    struct sort {
        detail::word by;
        std::size_t axis;
        bool is_descending;  // the last rank has the first elements
    };
    std::shared_ptr<const placement> from;
    std::optional<sort> sorted{};
};

/// A step before the last one. Its value's parts are gathered by all ranks of a group, part number k at `count * k`
/// elements, or moved to another partition.
struct planned_reduction : planned_step {
    dtype type;
    detail::layout part;  // of this rank, in the gathered parts
    index_t count = 0, parts = 1, my_part = 0;
    std::vector<int> ranks;  // that have the parts, in their order; none where there is one part
    // Where the values lie that each rank has parts of, and their layout in the gathered memory; null where all ranks
    // have all.
    std::shared_ptr<const placement> placed;
    detail::layout owned;
    std::vector<std::uint64_t>
        value{};  // the whole value's words and operands, the same on all ranks, to find it again
    std::optional<planned_move> moved{};  // to `placed`
    // Another step whose part this one computes too, as its first output; that one computes nothing itself.
    std::optional<std::size_t> computes_also{};
    bool is_computed_later = false;
    bool has_share = true;  // whether this rank has elements of the value
    // Large parts are not gathered: each rank of the group folds a slice of all, then all gather the slices.
    std::optional<detail::word> folded_by{};

    index_t gathered_parts() const noexcept { return folded_by ? 1 : parts; }
    dtype result_type() const noexcept {
        return moved && moved->sorted ? detail::dtype_of_word(moved->sorted->by) : type;
    }
};

/// A part of a result that one kernel computes: a step of iterate among several that follow an exchange of ghost layers
/// (the first of the steps that a kernel does), or the elements that go to one rank.
struct planned_part {
    std::vector<planned_operand> operands;
    detail::layout written;
    bool has_share = true;
};

struct statement_plan {
    std::vector<planned_part> repeats;  // of a repeated statement, which has nothing else
    std::vector<planned_reduction> reductions;
    planned_step last;
    bool keeps_program = true;  // of the statement: `last` has none of its own

    // Outputs that are written: this rank's layout of each. Empty where the outputs are new.
    std::vector<detail::layout> written;
    // New outputs: their placement, or null where no axis is split.
    std::shared_ptr<const placement> made;
    bool has_share = true;                     // whether this rank computes anything in the last step
    std::optional<std::size_t> is_value_of{};  // the step before, if the last one would copy its value as it is
    // The new output is computed in the parts that each rank gets under the placement statement::moved_to. Empty where
    // it is computed under `made`.
    std::vector<planned_part> part_for_rank;
    // The last step scatters into an ordinary array, which all ranks have: each rank its part, into an array of its
    // own.
    bool scatters = false;
};

/// A session's plans, by a hash of their keys.
struct plan_table {
    struct entry {
        std::vector<std::uint64_t> key;
        std::vector<std::shared_ptr<const placement>> named;  // by the key, by their addresses
        statement_plan plan;
    };
    std::unordered_multimap<std::uint64_t, std::unique_ptr<entry>> plans;
    std::vector<std::uint64_t> key;  // workspace
};

/// The session's plan of a statement. The statement has neither trees nor several shapes, and reads or writes a
/// distributed array. Valid until the session ends. Throws distributed_error.
const statement_plan& plan_of(const statement&);
/// The steps of iterate, up to `wanted`, that can follow one exchange; none or one where that is no gain. plan_of has
/// them for a statement of as many steps, or, with 0, of as many as there may be.
std::vector<planned_part> plan_repeats(const statement&, index_t wanted);
/// The session of a statement's distributed arrays.
rank_session& session_of(const statement&);
/// Adds a layout to a key.
void add(std::vector<std::uint64_t>& key, const detail::layout&);
/// Throws distributed_error where rank 0 evaluates another statement; the text names both. For debug builds: each
/// statement waits for rank 0. A collective call.
void check_same_on_all_ranks(const statement&, rank_session&);
/// Begins a call that exchanges and is no statement. Throws where the session has ended, and, in a debug build, where
/// rank 0 does something else. A collective call.
void begin_call(const char* name, const distributed_storage&);
void throw_if_ended(const rank_session&);
inline constinit std::atomic<bool> compares_statements{true};
/// Runs a rank's part of a statement that scatters into an ordinary array, and joins the parts of all in the order of
/// ranks. A collective call.
void scatter_in_parts(const statement& part, bool has_share, rank_session&);
/// The placement that a new result of the statement would have; null where no axis is split, or where it is not known
/// before reductions are computed.
const placement* placement_of_result(const statement&);

}  // namespace ingot::runtime
