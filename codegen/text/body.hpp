// Scalar statements of a graph, one for each node, in the graph's order. Schedules name what they load; the writer
// computes the rest from that, wherever in the loops it is asked to.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.hpp"
#include "codegen/plan/loop_choice.hpp"
#include "codegen/text/spelling.hpp"
#include "codegen/text/writer.hpp"

namespace ingot::codegen {

class fold_writer;

/// What a loop of a thread's own asks of its kernel.
class loop_source {
public:
    virtual const loop_choice& choice() const = 0;
    /// How many turns the loop over an axis has, and the type of its digit.
    virtual std::string turns(int axis) = 0;
    virtual std::string digit_type() = 0;
    /// An array's element, or a random leaf's, at the digits of all loops. Of a leaf that is drawn in groups the thread
    /// keeps the last one, which is declared outside the loop that the leaf moves along.
    virtual std::string element_at_digits(node_id operand, source_writer& out) = 0;
    virtual bool is_drawn_in_groups(node_id operand) const = 0;
    virtual void declare_group(node_id operand, source_writer& out) = 0;
    /// The loops of a thread_fold or thread_scan, outermost first, and whether all of them together are short.
    virtual std::vector<int> loops_of(node_id fold) const = 0;
    virtual bool is_short(node_id fold) const = 0;
    /// Writes the array `to` with a row of an operand's elements.
    virtual void load_row(const loop_choice::row& row, const std::string& to, source_writer& out) = 0;
    /// Opens the loop over a thread's elements along choice().along, and how their number is called there.
    virtual void open_elements(source_writer& out) = 0;
    virtual std::string element_digit() const = 0;
    /// What all lanes of a result have of a fold together, from what this one has; and the number of this lane.
    virtual std::string joined_lanes(fold_writer& f, const std::string& joiner, const std::string& value) = 0;
    virtual std::string lane() const = 0;

protected:
    ~loop_source() = default;
};

class body_writer {
public:
    /// Of values and of rows in registers.
    struct names {
        std::vector<std::string> values, rows;
    };

    body_writer(const graph& g, prelude& needs);
    /// Where there are thread_folds: the axes that their loops walk.
    void set_loops(std::uint64_t axes, loop_source& from) { loops_ = axes, from_ = &from; }

    /// From here on the node's value is read as this text.
    void name(node_id id, std::string as) { names_.values[id] = std::move(as); }
    bool has_name(node_id id) const { return !names_.values[id].empty(); }
    const std::string& name_of(node_id id) const { return names_.values[id]; }
    /// Which nodes the roots, these included, are written from: not what lies beneath a name or a reduction.
    std::vector<bool> wanted_by(const std::vector<node_id>& roots) const;
    /// Writes what `root` needs and has no name yet; returns its value, a name or (for a root) an expression.
    std::string value(node_id root, source_writer& out);
    /// Writes the loops of all thread_folds that the roots need, before the loop over a thread's elements along
    /// choice().along; and the values of one of these elements, inside that.
    void write_folds(const std::vector<node_id>& roots, source_writer& out);
    void open_elements(source_writer& out);
    void close_elements(source_writer& out);
    /// Writes the nodes below the roots that change along no axis outside `axes`: what a loop need not repeat.
    void hoist(std::uint64_t axes, const std::vector<node_id>& roots, source_writer& out);

    /// What is named when a block opens, to be restored when it closes.
    names scope() const { return names_; }
    void leave(names scope) { names_ = std::move(scope); }

private:
    std::string spell(node_id id) const;
    void write(node_id id, source_writer& out);
    /// Whether a node can be written where we are: what moves along a loop of the thread's own, inside that.
    bool is_at_hand(node_id id) const { return (graph_.nodes[id].axes & (loops_ | elements()) & ~open_) == 0; }
    /// The same whether the loop over the thread's elements is open or not.
    bool is_in_open_loops(node_id id) const { return (graph_.nodes[id].axes & loops_ & ~open_) == 0; }
    /// The axis of the thread's elements; whether a node has a value for each of them here.
    std::uint64_t elements() const;
    bool has_elements(node_id id) const { return (graph_.nodes[id].axes & elements() & ~open_) != 0; }
    void write_needed(const std::vector<node_id>& roots, node_id last, source_writer& out);

    /// What the roots are computed from, these included, and not what lies beneath a name.
    std::vector<bool> unnamed_below(const std::vector<node_id>& roots) const;

    // Loops of the thread's own (text/body_loops.cpp).

    std::vector<node_id> made_together(node_id fold, const std::vector<bool>& wanted) const;
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
    std::uint64_t loops_ = 0, open_ = 0;  // of thread_folds: all, and those inside which we are
    loop_source* from_ = nullptr;
};

/// Which nodes lie below `roots` (these included), not looking beneath reductions and scans.
std::vector<bool> nodes_below(const graph& g, const std::vector<node_id>& roots);
/// How each operand of the key is called in source and text: x0, x1 for arrays, s0 for scalars, g0 for random leaves,
/// p0 for places; those that the graph does not read have no name.
std::vector<std::string> operand_names(const graph& g, const key& k);
/// Whether some function in the graph rounds differently when the compiler vectorises its calls.
bool calls_inexact(const graph& g, detail::target where);
bool calls_inexact(const graph& g, const std::vector<bool>& among, detail::target where);
/// Four-byte registers that the values of one element take at once where they are computed in the graph's order, all
/// arrays being read before: an estimate, for what lies beneath reductions is not looked at.
std::uint32_t live_registers(const graph& g);
/// For each node how many computed values are there behind it that a later node or a root wants, itself among them.
std::vector<std::uint32_t> live_values(const graph& g);
/// Operations of one element below `root`, by the table's costs; a reduction or a scan counts as one value.
std::uint32_t cost_of(const graph& g, const std::vector<node_id>& roots);

}  // namespace ingot::codegen
