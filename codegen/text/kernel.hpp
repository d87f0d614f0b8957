// What the emitters of all schedules and both targets share: one kernel in the making, with its names, arguments,
// prelude and scalar bodies, and the arithmetic of indices.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <ingot/core/program.hpp>

#include "codegen/text/body.hpp"

namespace ingot::codegen {

using detail::index_mode;

/// "i2"
std::string digit(int axis);

/// Where an array operand or an output lies.
struct array_argument {
    const operand_class* at;
    std::string name;     // x0, z0
    std::uint16_t index;  // operand or output of the key
    bool is_output;
    node_id node = no_node;  // of an operand
};

/// What reads its operand at other places than the loops' own, along these loop axes: a reshape that did not merge, at
/// the digits of a place; or, along one, at what stands for a place that may lie beyond its ends; or a gather, along
/// one, where an index says.
struct unravelling {
    array_argument pick;  // of a reshape
    std::vector<int> axes;
    detail::place_rule rule = detail::place_rule::digits;
    std::string name;         // of the variable that holds the place; of a gather what its indices outside are noted in
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
    /// The axes of the loops of thread_folds, and the arrays that are read inside these.
    std::uint64_t loops = 0;
    std::vector<array_argument> looped;
    loop_choice looping;
    /// Where a thread has several elements along an axis: the axis, and which of them it is, added to its digit.
    int element_axis = -1;
    std::string element_number;
    std::vector<unravelling> unravellings;  // each after those whose digits its place needs
    prelude needs;
    argument_struct arguments;
    body_writer body;
    source_writer code;  // the kernel's body
    launch step;

    int rank = 0;            // of the outputs' space, the key's first axes
    std::uint32_t cost = 0;  // of one element of the outputs, what lies beneath reductions left out
    bool wide() const { return key.header.wide_index; }
    std::uint32_t index_bytes() const { return wide() ? 8 : 4; }
    /// Type of a linear index, and of a digit or an offset.
    std::string linear() { return needs.type(wide() ? dtype::u8 : dtype::u4); }
    std::string signed_index() { return needs.type(wide() ? dtype::i8 : dtype::i4); }

    /// Of an output that is scattered over places that are computed: what is written, where (elements behind the
    /// output's first, nowhere if negative), and how.
    bool is_scattered(const array_argument& output) const {
        return graph.nodes[graph.roots[output.index]].kind == node_kind::scatter;
    }
    node_id value_of(const array_argument& output) const {
        const node_id root = graph.roots[output.index];
        return is_scattered(output) ? graph.nodes[root].arguments[0] : root;
    }
    node_id place_of(const array_argument& output) const { return graph.nodes[graph.roots[output.index]].arguments[1]; }
    bool scatters() const {
        return std::ranges::any_of(outputs, [this](const array_argument& z) { return is_scattered(z); });
    }
    /// Whether a text reads whole arrays where it likes: nothing is computed but for elements that there are.
    bool has_raw() const {
        return std::ranges::any_of(graph.nodes, [this](const node& n) { return is_raw(key, n); });
    }
    /// Whether a user's text computes elements: it may rely on what they are, so it is asked for those alone that there
    /// are.
    bool has_user_text() const {
        return std::ranges::any_of(graph.nodes, [](const node& n) { return n.kind == node_kind::user; });
    }
    /// Whether an element may have no place because one of its indices is outside.
    bool checks_places() const {
        return scatters() && std::ranges::any_of(unravellings, [](const unravelling& u) { return u.is_checked(); });
    }
    /// "!outside3 && !outside4": that all of an element's indices are inside.
    std::string all_inside() const;
    /// Writes a scattered value at its place, under a condition beside that there is one ("" for none).
    void store_scattered(const array_argument& output, const std::string& place, const std::string& value,
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
    /// How many elements an axis has, where the key says so exactly; else 0.
    std::uint32_t exact_extent(int axis) const;
    /// How an array moves along a loop, whichever axes of the key that walks.
    stride_class class_along(const array_argument& at, int loop) const;
    /// An element by a plain load; `offset` begins with " + " or is empty.
    virtual std::string element(const array_argument& at, const std::string& offset);

    /// "p.x0"
    std::string pointer(const array_argument& at);
    /// The member that holds a formula's value, as a linear index.
    std::string count(const formula& f, const std::string& name);
    /// The member that divides a linear index by a formula's value (CUDA: through `quotient`).
    std::string divisor(const formula& f, const std::string& name);
    /// " + i0 * p.x0_s0 + i1": the place's offset along those of `axes` on which it moves, the index along axis a being
    /// `digit(a)`; empty where it does not move.
    std::string offset(const array_argument& at, std::uint64_t axes);
    /// The number of a random leaf's element, as `offset`.
    std::string generator_index(node_id generator, std::uint64_t axes);
    /// The place that an unravelling takes apart; `further`: what is added to it.
    std::string place_index(const unravelling& u, std::uint64_t axes, const std::string& further = "");
    /// Of a gather, where the index `value` is on its axis. What is outside is reported at once on the host, and else
    /// noted, for the kernel to report when it has written all.
    std::string gathered_place(const unravelling& u, const std::string& value);
    /// Of checked indices; CUDA alone.
    void declare_outside_indices();
    void report_outside_indices();
    /// The loop axes of all unravellings.
    std::uint64_t unravelled_axes() const;
    /// Calls to a random leaf's generator: its name, and the member with its seed; that which gives an element.
    std::string generator_name(node_id generator);
    std::string generator_key(node_id generator);
    std::string generator_call(node_id generator, const std::string& number);

    /// The head of a prelude function, up to its result type: its comment, a template line, the target's prefix.
    std::string function(const std::string& why, const std::string& templated = "") const;
    /// The host's promise about the loop that is written next: its iterations do not depend on each other.
    void declare_independent();
    /// Names scalars, which are read from the argument struct wherever they are used; on the host once, for a compiler
    /// there does not vectorise a choice between an element and what it would have to load only then.
    void name_scalars();
    /// The whole source: comment, prelude, argument struct, kernel.
    std::string assemble(const std::string& comment, const std::string& signature);

protected:
    /// What a row is of, how many elements it has, and the dimensions of what holds it: "[16]".
    array_argument array_of(const loop_choice::row& row) const;
    std::uint32_t length_of(const loop_choice::row& row) const;
    std::string dimensions_of(const loop_choice::row& row) const;

private:
    void find_unravellings();
    /// Adds the function that finds what stands for a place beyond the ends; returns its name.
    std::string add_place_within(detail::place_rule rule);
    void name_raw(node_id id);
};

stride_class inner_class(const array_argument& at, int axis);
/// Whether an operand is contiguous along `side` and goes across the rows, which are along `inner`.
inline bool lies_across(const array_argument& in, int side, int inner) {
    return inner_class(in, side) == stride_class::unit && inner_class(in, inner) == stride_class::strided;
}
/// The axis before the innermost along which operands are contiguous that go across the rows, by most bytes of an
/// element; -1 where there is none, it or a row is short, or a kernel reads or writes anywhere but at its elements.
struct transposed_operands {
    int side = -1;
    std::uint32_t bytes = 0, widest = 0;  // of an element of all of them, of one
};
transposed_operands find_transposed(const kernel_builder& b);
constexpr std::uint64_t axis_bit(int a) { return std::uint64_t{1} << a; }
/// The axes whose bits are set, from the first.
std::vector<int> axes_in(std::uint64_t bits);
/// Bits of the axes [first, last).
constexpr std::uint64_t axis_range(int first, int last) {
    std::uint64_t bits = 0;
    for (int a = first; a < last; ++a) bits |= axis_bit(a);
    return bits;
}

/// The map kernel. `comment` is the expression.
void emit_map_cuda(const key& k, const graph& g, plan& p);
void emit_map_host(const key& k, const graph& g, plan& p);

/// The host's `independent`, which promises so of the loop behind it.
void add_independent(prelude& needs);

}  // namespace ingot::codegen
