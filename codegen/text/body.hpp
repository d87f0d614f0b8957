// Scalar statements of a graph, one for each node, in the graph's order. Schedules name what they load; the writer
// computes the other nodes from these, anywhere in the loops.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.hpp"
#include "codegen/plan/loop_choice.hpp"
#include "codegen/text/spelling.hpp"
#include "codegen/text/writer.hpp"

namespace ingot::codegen {

class fold_writer;

/// The parts of a kernel that the loops of a thread's own need.
class loop_source {
public:
    virtual const loop_choice& choice() const = 0;
    /// The number of turns of the loop over an axis, and the type of its digit.
    virtual std::string turns(int axis) = 0;
    virtual std::string digit_type() = 0;
    /// An array's or random leaf's element at the digits of all loops. For a leaf that is drawn in groups the thread
    /// keeps the last group, which is declared outside the loop along which the leaf moves.
    virtual std::string element_at_digits(node_id operand, source_writer& out) = 0;
    virtual bool is_drawn_in_groups(node_id operand) const = 0;
    virtual void declare_group(node_id operand, source_writer& out) = 0;
    /// The loops of a thread_fold or thread_scan, outermost first, and whether they are short all together.
    virtual std::vector<int> loops_of(node_id fold) const = 0;
    virtual bool is_short(node_id fold) const = 0;
    /// Writes the array `to`, with a row of an operand's elements.
    virtual void load_row(const loop_choice::row& row, const std::string& to, source_writer& out) = 0;
    /// Opens the loop over a thread's elements along choice().along; the name of the element's number there.
    virtual void open_elements(source_writer& out) = 0;
    virtual std::string element_digit() const = 0;
    /// The join of a fold over all lanes of a result, from this lane's value; and the number of this lane.
    virtual std::string joined_lanes(fold_writer& f, const std::string& joiner, const std::string& value) = 0;
    virtual std::string lane() const = 0;

protected:
    ~loop_source() = default;
};

class body_writer {
public:
    /// The names of values and of rows in registers.
    struct names {
        std::vector<std::string> values, rows;
    };

    body_writer(const graph& g, prelude& needs);
    /// Where there are thread_folds: sets the axes that their loops walk.
    void set_loops(std::uint64_t axes, loop_source& from) { loops_ = axes, from_ = &from; }

    /// Names a node: from here on its value is this text.
    void name(node_id id, std::string as) { names_.values[id] = std::move(as); }
    bool has_name(node_id id) const { return !names_.values[id].empty(); }
    const std::string& name_of(node_id id) const { return names_.values[id]; }
    /// The nodes from which the roots are written, roots included; nodes below a name or a reduction are left out.
    std::vector<bool> required_by(const std::vector<node_id>& roots) const;
    /// Writes the nodes that `root` needs and that have no name; returns its value, a name or (for a root) an
    /// expression.
    std::string value(node_id root, source_writer& out);
    /// Writes the loops of all thread_folds that the roots need, before the loop over a thread's elements along
    /// choice().along, and the values of one element inside that loop.
    void write_folds(const std::vector<node_id>& roots, source_writer& out);
    void open_elements(source_writer& out);
    void close_elements(source_writer& out);
    /// Writes the nodes below the roots that change along no axis outside `axes`, so that a loop need not repeat them.
    void hoist(std::uint64_t axes, const std::vector<node_id>& roots, source_writer& out);

    /// The names when a block opens, restored when it closes.
    names scope() const { return names_; }
    void leave(names scope) { names_ = std::move(scope); }
    /// Forgets the values that were computed since; operands that were read keep their names.
    void forget_values(const names& since);

private:
    std::string spell(node_id id) const;
    void write(node_id id, source_writer& out);
    /// Whether a node can be written here: if it moves along a loop of the thread's own, that loop must be open.
    bool is_at_hand(node_id id) const { return (graph_.nodes[id].axes & (loops_ | elements()) & ~open_) == 0; }
    /// Likewise, whether or not the loop over the thread's elements is open.
    bool is_in_open_loops(node_id id) const { return (graph_.nodes[id].axes & loops_ & ~open_) == 0; }
    /// The axis of the thread's elements; whether a node has a value for each of them here.
    std::uint64_t elements() const;
    bool has_elements(node_id id) const { return (graph_.nodes[id].axes & elements() & ~open_) != 0; }
    void write_needed(const std::vector<node_id>& roots, node_id last, source_writer& out);

    /// The nodes from which the roots are computed, roots included, without those below a name.
    std::vector<bool> unnamed_below(const std::vector<node_id>& roots) const;

    // Loops of the thread's own (text/body_loops.cpp).

    std::vector<node_id> fused_folds(node_id fold, const std::vector<bool>& required) const;
    void write_loop(const std::vector<node_id>& folds, source_writer& out);
    void load_rows(const std::vector<bool>& below, source_writer& out);
    std::string row_element(node_id operand) const;
    void keep_elements(const std::vector<node_id>& values, source_writer& out);

    const graph& graph_;
    prelude& needs_;
    names names_;
    names outside_elements_;
    std::vector<std::uint32_t> uses_;
    int next_ = 0;
    std::uint64_t loops_ = 0, open_ = 0;  // of thread_folds: all loops, and the open ones
    loop_source* from_ = nullptr;
};

/// The nodes below `roots`, roots included, without those below reductions and scans.
std::vector<bool> nodes_below(const graph& g, const std::vector<node_id>& roots);
/// Whether some function in the graph rounds differently when the compiler vectorises its calls.
bool calls_inexact(const graph& g, detail::target where);
bool calls_inexact(const graph& g, const std::vector<bool>& among, detail::target where);
/// An estimate of the four-byte registers that one element's values take at once, where they are computed in the
/// graph's order after all loads. Nodes below reductions do not count.
std::uint32_t live_registers(const graph& g);
/// For each node the number of computed values, itself among them, that a later node or a root uses.
std::vector<std::uint32_t> live_values(const graph& g);
/// Operations of one element below the roots, by the table's costs; a reduction or a scan counts as one value.
std::uint32_t cost_of(const graph& g, const std::vector<node_id>& roots);

}  // namespace ingot::codegen
