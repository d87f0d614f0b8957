// The cutting of one graph, and what is known of it: the nodes whose values go through memory (cutting.cpp), the parts
// that are a stage each (cutting_parts.cpp), and the stages' keys and graphs (cutting_stages.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/graph/graph.hpp"
#include "codegen/graph/rows.hpp"
#include "codegen/plan/equal_values.hpp"
#include "codegen/plan/library_calls.hpp"
#include "codegen/plan/stages.hpp"

namespace ingot::codegen {

class cutting {
public:
    cutting(const key& k, const graph& g, const row_uses& uses, std::span<const shared_value> shared);
    staging run();

private:
    static constexpr int no_axis = -1;

    struct occurrence_of_shared {
        const shared_value* value = nullptr;
        const shared_value::occurrence* at = nullptr;
        explicit operator bool() const { return value != nullptr; }
    };
    struct state {
        bool reduces = false;   // a reduction at or below it, with no cut between
        int scans = no_axis;    // the loop of such scans
        bool reshapes = false;  // such a reshape
        bool gathers = false;   // such a gather
        bool loops = false;     // such a fold that a thread makes in a loop of its own
        int temporary = -1;
        occurrence_of_shared shares;  // the value that other nodes share with it
        std::uint32_t level = 0;      // the first stage in which it can be computed
        bool folds() const { return reduces || scans != no_axis; }
        bool reads_elsewhere() const { return reshapes || gathers; }
    };

    /// The results of one stage, all along the same axes, except outputs that also move along its folded axes.
    struct part {
        std::uint32_t level;
        std::uint64_t axes;
        node_id folds;  // one of its nodes that folds, or any
        std::vector<std::uint16_t> temporaries, outputs;
        bool is_call = false;  // a call of the library function `folds`, whose result is the temporary
    };

    std::uint64_t axes_of(node_id n) const { return graph_.nodes[n].axes; }
    std::uint64_t axes_of_output(std::size_t k) const { return codegen::axes_of_output(key_, graph_, k); }

    // Where it is cut.

    void cut(node_id n, const char* why);
    /// The reason, with the bytes of memory that a value moves, and the cost of computing it again at each use.
    std::string reason_of(node_id id) const;
    bool is_cut(node_id n) const { return nodes_[n].temporary >= 0; }
    bool is_reading(node_id n) const { return nodes_[n].shares && made_for(n) != n; }
    /// The node whose temporary a reading reads.
    node_id made_for(node_id reading) const { return nodes_[reading].shares.value->occurrences[0].node; }

    /// Whether one stage can compute both nodes as they stand: two folds in the same way or over the same rows; a fold
    /// beside no reshape or thread loop; a reshape beside no thread loop.
    bool are_compatible(node_id a, node_id b) const;

    /// Whether a value within threads' loops costs more than a load and is constant along a long axis of the threads.
    bool is_same_for_many_threads(node_id of, const node& user) const;

    /// Whether a value of a statement of maps alone costs more than a load, and is the same along a long axis of its
    /// user.
    bool is_repeated_at_cost(node_id of, const node& user) const;

    /// Whether vectors compute a value with other bits than single elements would.
    bool is_rounded_by_vectors(node_id of) const;

    /// Whether the host computes these nodes by whole vectors, as rounded functions and random numbers are. Idle lanes
    /// compute too.
    bool has_whole_vectors(const std::vector<bool>& among) const;
    /// Whether a user function reads whole arrays.
    bool reads_raw(const node& n) const;

    /// Cuts off all nodes up to this one that later nodes still use.
    void cut_behind(node_id last, const std::vector<node_id>& last_user);
    void find_cuts();

    /// The levels of the nodes whose temporaries are read along other loops too: a reading may precede such a node.
    std::vector<std::uint32_t> levels_of_shared() const;
    void find_cuts_again();

    /// The nodes that are computed or read with the present cuts.
    std::vector<bool> required_nodes() const;

    /// Drops the temporaries that nothing reads any more.
    void drop_unread();

    /// Whether the kernel that makes `user` has this value without reading it from memory: the value about which a sum
    /// is taken, or one folded in the same pass as another argument of the user.
    bool is_at_hand(node_id of, const node& user) const;

    /// Whether the kernel that makes a shared value holds the row of it that `user` needs, and makes the user's other
    /// arguments too.
    bool is_held(node_id user, int argument) const;

    /// Whether an output repeats its root, in another kernel than the one that makes the root.
    bool is_broadcast(std::size_t k) const;

    // Parts.

    bool can_be_fused(const part& p, node_id n) const;
    part& part_with(std::uint32_t level, std::uint64_t axes, node_id n);
    void find_parts();

    /// The part whose stage writes along the rows that `p` reduces, and can therefore write p's results as well.
    part* holding_rows_of(const part& p);

    /// The part whose stage folds over all places of `p`; p has outputs only, none of which folds.
    part* folding_over(const part& p);
    /// The loops of each reduction in a part's stage.
    std::vector<std::uint64_t> folded_by(const part& p) const;
    bool is_read(node_id n, std::uint32_t level) const { return nodes_[n].temporary >= 0 && nodes_[n].level < level; }
    std::vector<node_id> roots_of(const part& p) const;
    std::vector<bool> needed_by(const part& p) const;

    // Stages.

    /// Axes of a temporary, outermost first, in the key's order. If no array along most of these axes is contiguous
    /// along the last, one along which such an array is becomes the innermost. For an operand's copy other operands and
    /// outputs count.
    std::vector<int> in_order(node_id id) const;

    /// Axes of a node's value in memory; for a library's operand or result the batch's axes, then its own in order.
    std::vector<int> axes_of_temporary(node_id id) const;
    stage make_stage(const part& p) const;

    /// Returns the loops along which the stage scans.
    std::uint64_t choose_axes(stage& s, const part& p, const std::vector<bool>& needed) const;

    /// Whether one of a stage's first `kept_axes` axes is known to be long; the scanned axis does not count, as rows
    /// lie along it.
    bool has_many_rows(const stage& s, std::size_t kept_axes, std::uint64_t scanned) const;
    bool is_of_library(int axis) const;

    /// Marks axes along which the temporaries are constant, as an earlier stage folded them.
    void mark_folded_before(stage& s) const;
    int loop_of(int axis) const { return graph_.loop_axis[static_cast<std::size_t>(axis)]; }
    /// The stage's first axis whose loop this is.
    int axis_over(const stage& s, int loop) const;
    std::uint64_t in_stage(const stage& s, std::uint64_t loops) const;

    /// An operand or output with its strides on the stage's axes; `at`: the axes of these strides in the whole key.
    operand_class in_stage_axes(const stage& s, const operand_class& o, std::vector<int>& at) const;
    /// A whole temporary, in the order of its axes. It is one run where rows are asked for and the stage walks it so.
    operand_class contiguous(const stage& s, node_id n, bool rows) const;

    /// A library's result as a pick reads it; `at`: the pick's axes on the whole key.
    operand_class viewed(const stage& s, const node& view, std::vector<int>& at) const;
    void write_key(stage& s, bool rows) const;
    static std::size_t number_in(const std::vector<node_id>& nodes, node_id n);
    void write_graph(stage& s, std::uint32_t level, const std::vector<bool>& needed,
                     const std::vector<node_id>& roots) const;

    const key& key_;
    const graph& graph_;
    const row_uses& uses_;
    std::span<const shared_value> shared_;
    const library_calls calls_;
    std::vector<state> nodes_;
    std::vector<std::uint32_t> known_level_;  // of each node, at the previous cut
    std::vector<node_id> cut_;                // the node of each temporary
    std::vector<const char*> reasons_;        // the reason of each temporary
    std::vector<node_id> readings_;           // nodes whose values are the temporaries of other nodes
    std::vector<node_id> views_;              // views of libraries' results
    std::vector<part> parts_;
    std::uint64_t outer_;
    std::uint64_t short_axes_, thread_loops_;
    bool only_maps_ = true;  // no folds, scans, library calls, and no reads or writes at other places
};

}  // namespace ingot::codegen
