// The part that the emitters of all schedules and both targets share: a kernel being written, with its names,
// arguments, prelude and scalar bodies, and index arithmetic.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <ingot/core/program.hpp>

#include "codegen/graph/axes.hpp"
#include "codegen/text/body.hpp"

namespace ingot::codegen {

using detail::index_mode;

/// "i2"
std::string digit(int axis);

/// An array operand or an output, and where it lies.
struct array_argument {
    const operand_class* at;
    std::string name;     // x0, z0
    std::uint16_t index;  // operand or output of the key
    bool is_output;
    node_id node = no_node;  // of an operand
};

/// A node that reads its operand at other places than the loops', along these loop axes: (1) a reshape whose axes did
/// not merge, at the digits of a place; (2) along one axis, at the element that stands for a place beyond the ends; (3)
/// a gather, along one axis, at an index.
struct unravelling {
    array_argument pick;  // of a reshape
    std::vector<int> axes;
    detail::place_rule rule = detail::place_rule::digits;
    std::string name;         // of the variable that holds the place; for a gather, that notes indices outside
    node_id index = no_node;  // of a gather
    index_mode mode = index_mode::check;
    bool gathers() const { return index != no_node; }
    bool is_checked() const { return gathers() && mode == index_mode::check; }
};

struct kernel_builder : loop_source {
    kernel_builder(const key& k, const graph& g);

    const codegen::key& key;
    const codegen::graph& graph;
    std::vector<std::string> names;      // of the key's operands
    std::vector<array_argument> inputs;  // arrays that the graph reads, once each
    std::vector<array_argument> outputs;
    std::vector<node_id> generators;
    /// The axes of the loops of thread_folds, and the arrays that are read inside these loops.
    std::uint64_t loops = 0;
    std::vector<array_argument> looped;
    loop_choice looping;
    /// Where a thread has several elements along an axis: the axis, and the number of the element, added to its digit.
    int element_axis = -1;
    std::string element_number;
    std::vector<unravelling> unravellings;  // each after those whose digits its place needs
    prelude needs;
    argument_struct arguments;
    body_writer body;
    source_writer code;  // the kernel's body
    launch step;

    int rank = 0;            // of the outputs' space, the key's first axes
    std::uint32_t cost = 0;  // of one element of the outputs, without the nodes below reductions
    bool wide() const { return key.header.wide_index; }
    std::uint32_t index_bytes() const { return wide() ? 8 : 4; }
    /// The type of a linear index, and of a digit or an offset.
    std::string linear() { return needs.type(wide() ? dtype::u8 : dtype::u4); }
    std::string signed_index() { return needs.type(wide() ? dtype::i8 : dtype::i4); }

    /// For an output that is scattered over computed places: the value, its place (elements behind the output's first,
    /// nowhere if negative), and how it is joined.
    bool is_scattered(const array_argument& output) const {
        return graph.nodes[graph.roots[output.index]].kind == node_kind::scatter;
    }
    node_id value_of(const array_argument& output) const {
        const node_id root = graph.roots[output.index];
        return is_scattered(output) ? graph.nodes[root].arguments[0] : root;
    }
    node_id scatter_index_of(const array_argument& output) const {
        return graph.nodes[graph.roots[output.index]].arguments[1];
    }
    bool scatters() const {
        return std::ranges::any_of(outputs, [this](const array_argument& z) { return is_scattered(z); });
    }
    /// Whether a text reads whole arrays: then only elements that exist are computed.
    bool has_raw() const {
        return std::ranges::any_of(graph.nodes, [this](const node& n) { return is_raw(key, n); });
    }
    /// Whether a user's text computes elements: as it may rely on their values, it is called only for elements that
    /// exist.
    bool has_user_text() const {
        return std::ranges::any_of(graph.nodes, [](const node& n) { return n.kind == node_kind::user; });
    }
    /// Whether an element may have no place, as one of its indices is outside.
    bool checks_indices() const {
        return scatters() && std::ranges::any_of(unravellings, [](const unravelling& u) { return u.is_checked(); });
    }
    /// "!outside3 && !outside4": the condition that all of an element's indices are inside.
    std::string all_inside() const;
    /// Stores a scattered value at its place, where it has one and where `condition` holds ("" for none).
    void store_scattered(const array_argument& output, const std::string& index, const std::string& value,
                         const std::string& condition);

    std::string turns(int axis) override;
    std::string digit_type() override { return signed_index(); }
    std::string element_at_digits(node_id operand, source_writer& out) override;
    bool is_drawn_in_groups(node_id operand) const override;
    void declare_group(node_id operand, source_writer& out) override;
    std::vector<int> loops_of(node_id fold) const override;
    bool is_short(node_id fold) const override;
    const loop_choice& choice() const override { return looping; }
    void load_row(const loop_choice::row& row, const std::string& to, source_writer& out) override;
    void open_elements(source_writer& out) override;
    std::string element_digit() const override { return element_axis < 0 ? digit(looping.along) : "e"; }
    std::string joined_lanes(fold_writer&, const std::string&, const std::string& value) override { return value; }
    std::string lane() const override { return "0"; }
    /// The extent of an axis, where the key has it exactly; else 0.
    std::uint32_t exact_extent(int axis) const;
    /// The stride of an array along the one axis on which it is strided, where the key says it; else 0.
    std::uint32_t known_stride(const array_argument& at) const;
    /// The stride class of an array along a loop, whichever axes of the key that loop walks.
    stride_class class_along(const array_argument& at, int loop) const;
    /// Reads an element by a plain load; `offset` begins with " + " or is empty.
    virtual std::string element(const array_argument& at, const std::string& offset);

    /// "p.n1": an axis's extent as a linear index; as a digit, "int(p.n1)".
    std::string extent(int axis) { return count(points_of(axis_bit(axis)), "n" + std::to_string(axis)); }
    std::string signed_extent(int axis) { return signed_index() + '(' + extent(axis) + ')'; }
    /// "p.x0"
    std::string pointer(const array_argument& at);
    /// The member for a formula's value, as a linear index.
    std::string count(const formula& f, const std::string& name);
    /// The member that divides a linear index by a formula's value (CUDA: through `quotient`).
    std::string divisor(const formula& f, const std::string& name);
    /// "p.x0_stride1": the elements between neighbours along a loop; "1" or "0" where the key says so.
    std::string stride(const array_argument& at, int loop);
    /// " * p.x0_stride1", by which a digit along a loop is multiplied; empty for a unit stride.
    std::string times_stride(const array_argument& at, int loop);
    /// "(i0 * p.x0_stride0 + i1)": the index along those of `axes` on which the array moves, with index `digit(a)`
    /// along axis a; empty where it moves on none. The offset begins with " + ".
    std::string index(const array_argument& at, std::uint64_t axes);
    std::string offset(const array_argument& at, std::uint64_t axes);
    /// The number of a random leaf's element, in the form of `offset`.
    std::string generator_index(node_id generator, std::uint64_t axes);
    /// The place whose digits an unravelling takes; `further` is added to it.
    std::string unravelled_index(const unravelling& u, std::uint64_t axes, const std::string& further = "");
    /// The place on its axis that a gather's index `value` names. The host reports an index outside at once; CUDA notes
    /// it, and the kernel reports it after all stores.
    std::string gathered_index(const unravelling& u, const std::string& value);
    /// The notes of checked indices; CUDA alone.
    void declare_outside_indices();
    void report_outside_indices();
    /// The loop axes of all unravellings.
    std::uint64_t unravelled_axes() const;
    /// Calls of a random leaf's generator: its name, the member with its seed, and the call for an element.
    std::string generator_name(node_id generator);
    std::string generator_key(node_id generator);
    std::string generator_call(node_id generator, const std::string& number);

    /// The head of a prelude function, up to its result type: its comment, a template line, the target's prefix.
    std::string function(const std::string& why, const std::string& templated = "") const;
    /// The host's promise about the next loop: its iterations do not depend on each other.
    void declare_independent();
    /// Names scalars. They are read from the argument struct wherever they are used; the host reads them once, as its
    /// compiler does not vectorise a choice between an element and a value that is loaded conditionally.
    void name_scalars();
    /// The whole source: comment, prelude, argument struct, kernel.
    std::string assemble(const std::string& comment, const std::string& signature);
    /// Adds the step, and its source, to the plan. The kernel's signature is `qualifiers`, its name, `parameters`.
    void add_to(plan& p, const std::string& comment, const std::string& qualifiers, const std::string& name,
                const std::string& parameters);
    /// The same on the host, where a kernel computes a range of blocks.
    void add_to(plan& p, const std::string& name) {
        step.threads = 1;
        add_to(p, p.expression, "extern \"C\" void ", name,
               "(const arguments* given, unsigned long long begin, unsigned long long end)");
    }

protected:
    /// For a row: its array, its number of elements, and the dimensions of its registers: "[16]".
    array_argument array_of(const loop_choice::row& row) const;
    std::uint32_t length_of(const loop_choice::row& row) const;
    std::string dimensions_of(const loop_choice::row& row) const;

private:
    /// The member with the stride along an axis of the key.
    /// The stride of an array along an axis of the key: the number, where the key says it.
    std::string stride_argument(const array_argument& at, std::size_t axis);
    /// Strides that extents of the key give; else 0.
    std::uint32_t stride_of_run(const operand_class& at, std::size_t axis) const;
    void find_unravellings();
    /// Adds the function that finds which place stands for one beyond the ends; returns its name.
    std::string add_border_index(detail::place_rule rule);
    void name_raw(node_id id);
};

stride_class inner_class(const array_argument& at, int axis);
/// Whether an operand is contiguous along `side` and strided along `inner`, the axis of the rows.
inline bool lies_across(const array_argument& in, int side, int inner) {
    return inner_class(in, side) == stride_class::unit && inner_class(in, inner) == stride_class::strided;
}
/// The axis before the innermost along which strided operands are contiguous, by most bytes of an element. -1 where
/// there is none, it or a row is short, or a kernel reads or writes elsewhere than at its elements.
struct transposed_operands {
    int side = -1;
    std::uint32_t bytes = 0, widest = 0;  // bytes of an element: of all of them together, of the widest
};
transposed_operands find_transposed(const kernel_builder& b);

/// Adds the host's `independent`, the promise about the loop behind it.
void add_independent(prelude& needs);

}  // namespace ingot::codegen
