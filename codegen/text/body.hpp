// Scalar statements of a graph, one for each node, in the graph's order. Schedules name what they load; the writer
// computes the rest from that, wherever in the loops it is asked to.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.hpp"
#include "codegen/text/spelling.hpp"
#include "codegen/text/writer.hpp"

namespace ingot::codegen {

/// What a loop of a thread's own asks of its kernel.
class loop_source {
public:
    /// How many turns the loop over an axis has, and the type of its digit.
    virtual std::string turns(int axis) = 0;
    virtual std::string digit_type() = 0;
    /// An array's element, or a random leaf's, at the digits of all loops.
    virtual std::string element_at_digits(node_id operand) = 0;
    /// The loops of a thread_fold or thread_scan, outermost first, and whether all of them together are short.
    virtual std::vector<int> loops_of(node_id fold) const = 0;
    virtual bool is_short(node_id fold) const = 0;

protected:
    ~loop_source() = default;
};

class body_writer {
public:
    using names = std::vector<std::string>;

    body_writer(const graph& g, prelude& needs);
    /// Where there are thread_folds: the axes that their loops walk.
    void set_loops(std::uint64_t axes, loop_source& from) { loops_ = axes, from_ = &from; }

    /// From here on the node's value is read as this text.
    void name(node_id id, std::string as) { names_[id] = std::move(as); }
    bool has_name(node_id id) const { return !names_[id].empty(); }
    const std::string& name_of(node_id id) const { return names_[id]; }
    /// Which nodes the roots, these included, are written from: not what lies beneath a name or a reduction.
    std::vector<bool> wanted_by(const std::vector<node_id>& roots) const;
    /// Writes what `root` needs and has no name yet; returns its value, a name or (for a root) an expression.
    std::string value(node_id root, source_writer& out);
    /// Writes the nodes below the roots that change along no axis outside `axes`: what a loop need not repeat.
    void hoist(std::uint64_t axes, const std::vector<node_id>& roots, source_writer& out);

    /// What is named when a block opens, to be restored when it closes.
    names scope() const { return names_; }
    void leave(names scope) { names_ = std::move(scope); }

private:
    std::string spell(node_id id) const;
    void write(node_id id, source_writer& out);
    /// Whether a node can be written where we are: what moves along a loop of the thread's own, inside that.
    bool is_at_hand(node_id id) const { return (graph_.nodes[id].axes & loops_ & ~open_) == 0; }
    void write_needed(const std::vector<node_id>& roots, node_id last, source_writer& out);
    std::vector<node_id> made_together(node_id fold, const std::vector<bool>& wanted) const;
    void write_loop(const std::vector<node_id>& folds, source_writer& out);

    const graph& graph_;
    prelude& needs_;
    names names_;
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
/// Operations of one element below `root`, by the table's costs; a reduction or a scan counts as one value.
std::uint32_t cost_of(const graph& g, const std::vector<node_id>& roots);

}  // namespace ingot::codegen
