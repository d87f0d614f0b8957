// The loads of a host map's kernel before its loops over elements: pointers to rows, values that are constant for all
// elements or along a row, and the numbers of random leaves.
#include <algorithm>
#include <bit>

#include "codegen/host/map.hpp"
#include "codegen/host/random_numbers.hpp"

namespace ingot::codegen {

using namespace detail;

std::uint64_t host_map::axes_of(const array_argument& at) const {
    std::uint64_t axes = 0;
    for (int a = 0; a < b_.rank; ++a)
        if (inner_class(at, a) != stride_class::broadcast) axes |= axis_bit(a);
    return axes;
}

void host_map::add_row(const array_argument& at) {
    const std::uint64_t read = at.is_output ? 0 : b_.graph.nodes[at.node].axes & b_.unravelled_axes();
    const bool scattered = (read & ~wrapped_) != 0;
    const std::uint64_t moving = read & wrapped_ & ~fixed_;
    const int along = scattered || moving == 0 ? inner_ : std::countr_zero(moving);
    const std::uint64_t axes = axes_of(at);
    const bool once = packed_ && !scattered && (axes == 0 || (has_short_rows() && axes == axis_bit(inner_)));
    const bool staged = side_ >= 0 && !at.is_output && lies_across(at, side_, inner_);
    rows_.push_back({.at = &at,
                     .type = b_.needs.type(at.at->head.type),
                     .inner = staged            ? stride_class::unit
                              : along == inner_ ? inner_class(at, inner_)
                                                : class_along(at, along),
                     .scattered = scattered,
                     .once = once,
                     .staged = staged,
                     .along = along});
}

bool host_map::is_single(const row& r) const {
    if (r.at->is_output || r.scattered) return false;
    return packed_ ? axes_of(*r.at) == 0 : r.inner == stride_class::broadcast;
}

void host_map::declare_packing() {
    source_writer& out = b_.code;
    packed_->declare();
    const auto add = [&](const array_argument& at, bool has_strip) {
        if (axes_of(at) != 0) packed_->add_table(at, has_strip);
    };
    for (const row& r : rows_)
        if (!r.once) add(*r.at, !r.scattered);
    for (const node_id g : b_.generators) add(generator(g), is_random_strip(g));
    for (const unravelling& u : b_.unravellings)
        if (!u.gathers()) add(u.pick, false);
    for (const row& r : rows_)
        if (is_single(r)) read_single(r);
    b_.body.hoist(0, b_.graph.roots, out);
    if (!values_of_rows_.empty()) out.line("int row_at[", packed_strip, "];");
    packed_->open_lanes();
    if (!values_of_rows_.empty()) out.line("row_at[j] = j / int(p.n", inner_, ");");
    for (const row& r : rows_)
        if (is_copied_once(r))
            out.line(copy_of(r), "[j] = *(", b_.pointer(*r.at), b_.offset(*r.at, axis_bit(inner_)), ");");
    packed_->close_lanes();
}

bool host_map::is_random_strip(node_id g) const {
    return calls_philox(b_.graph, g) && b_.graph.nodes[g].axes != 0 &&
           (b_.graph.nodes[g].axes & b_.unravelled_axes()) == 0;
}

array_argument host_map::generator(node_id g) const {
    const std::uint16_t index = b_.graph.nodes[g].index;
    return {&b_.key.operands[index], b_.names[index], index, false, g};
}

void host_map::choose_values_of_rows() {
    constexpr std::uint32_t cost_worth_keeping = 6;
    const graph& g = b_.graph;
    const auto of_rows = [&](const node& n) { return n.axes != 0 && (n.axes & ~axis_range(0, inner_)) == 0; };
    // Random numbers are drawn, and places found, for each element of a strip.
    std::vector<bool> required(g.nodes.size()), of_each(g.nodes.size());
    for (const node_id r : g.roots) required[r] = true;
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        of_each[i] = n.kind == node_kind::unravel || n.kind == node_kind::gather ||
                     std::ranges::find(b_.generators, i) != b_.generators.end();
        for (int a = 0; a < n.arity; ++a) {
            of_each[i] = of_each[i] || of_each[n.arguments[a]];
            if (!of_rows(n)) required[n.arguments[a]] = true;
        }
    }
    const auto outside = b_.body.scope();
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        if (!required[i] || of_each[i] || !of_rows(g.nodes[i]) || cost_of(g, {i}) < cost_worth_keeping) continue;
        const std::string name = "row_value" + std::to_string(values_of_rows_.size());
        values_of_rows_.push_back({i, name, b_.needs.type(g.nodes[i].type)});
        b_.body.name(i, name);
    }
    std::vector<node_id> values = g.roots;
    for (const unravelling& u : b_.unravellings)
        if (u.gathers()) values.push_back(u.index);
    const std::vector<bool> of_elements = b_.body.required_by(values);
    b_.body.leave(outside);
    for (row& r : rows_) r.of_rows = !r.at->is_output && !of_elements[r.at->node];
}

void host_map::write_values_of_rows() {
    if (values_of_rows_.empty()) return;
    source_writer& out = b_.code;
    const std::string n = b_.extent(inner_);
    out.line("const int rows = (m + int(", n, ") - 1) / int(", n, ");");
    std::vector<node_id> nodes;
    for (const value_of_rows& v : values_of_rows_) nodes.push_back(v.node);
    const std::vector<bool> below = nodes_below(b_.graph, nodes);
    const auto outside = b_.body.scope();
    for (const row& r : rows_) {
        if (r.at->is_output || !below[r.at->node] || axes_of(*r.at) == 0) continue;
        const std::string copy = r.at->name + "_of_rows";
        out.line("for (int j = 0; j < rows; ++j) ", copy, "[j] = ", row_of(r), '[', r.at->name, "_at[j * int(", n,
                 ")]];");
        b_.body.name(r.at->node, b_.needs.element(r.at->at->head.type, copy + "[j]"));
    }
    open_lanes("rows");
    for (const value_of_rows& v : values_of_rows_) out.line(v.name, "_of_rows[j] = ", b_.body.value(v.node, out), ";");
    close_lanes();
    b_.body.leave(outside);
    for (const value_of_rows& v : values_of_rows_) {
        out.line(packed_->spread(v.name, v.name + "_of_rows", "row_at"));
        b_.body.name(v.node, v.name + "[j]");
    }
    std::erase_if(rows_, [](const row& r) { return r.of_rows; });
}

void host_map::read_rows() {
    for (const row& r : rows_) {
        if (r.once || r.scattered) continue;
        if (is_single(r))
            read_single(r);
        else if (r.staged)
            b_.code.line(pointer_type(r), row_of(r), " = ", tile_of(r), "[line];");
        else
            b_.code.line(pointer_type(r), row_of(r), " = ", b_.pointer(*r.at), b_.offset(*r.at, all_axes() | wrapped_),
                         ";");
    }
    for (const row& r : rows_)
        if (!r.at->is_output && !r.scattered) b_.body.name(r.at->node, r.at->name);
    // A generator read at the digits of a place is named later, inside the loop over elements, which declares the
    // digits, even where the place is constant along the row.
    const auto is_unravelled = [&](node_id n) { return (b_.graph.nodes[n].axes & b_.unravelled_axes()) != 0; };
    for (const node_id g : b_.generators)
        if (!is_unravelled(g)) add_generator(g);
    if (!packed_) b_.body.hoist(axis_range(0, inner_), b_.graph.roots, b_.code);
    for (const node_id g : b_.generators)
        if (is_unravelled(g)) add_generator(g);
    for (const row& r : rows_)
        if (r.scattered) b_.body.name(r.at->node, r.at->name);
    std::erase_if(rows_, [&](const row& r) { return is_single(r); });
}

void host_map::read_single(const row& r) {
    b_.code.line("const ", r.type, ' ', r.at->name, " = *(",
                 b_.pointer(*r.at) + b_.offset(*r.at, all_axes() | wrapped_), ");");
    b_.body.name(r.at->node, r.at->name);
}

void host_map::add_generator(node_id g) {
    const array_argument at = generator(g);
    if ((b_.graph.nodes[g].axes & b_.unravelled_axes()) != 0) {  // the digits are those of each element
        const std::string fixed = b_.generator_index(g, all_axes() | b_.unravelled_axes());
        const scattered_number s{at.name + "_copy[j]", fixed + along(at)};
        b_.body.name(g, b_.generator_call(g, vectors_ ? s.copy : s.number));
        scattered_numbers_.push_back(s);
        return;
    }
    const std::string first = b_.generator_index(g, all_axes());
    b_.code.line("const ", b_.needs.type(dtype::i8), ' ', at.name, "_row = ", first, ";");
    b_.body.name(g, is_random_strip(g) ? at.name : b_.generator_call(g, at.name + "_row" + along(at)));
}

std::string host_map::step_of(const row& r) {
    return r.inner != stride_class::strided ? "" : b_.times_stride(*r.at, r.along);
}

void host_map::read_element(const row& r) {
    if (r.scattered && vectors_) {
        b_.code.line(copy_of(r), "[j] = ", scattered_element(r), ";");
        b_.code.line("const ", r.type, ' ', r.at->name, " = ", copy_of(r), "[j];");
    } else {
        b_.code.line("const ", r.type, ' ', r.at->name, " = ", b_.needs.element(r.at->at->head.type, element(r)), ";");
    }
}

/// Reads the operands of a gather's index, unless they are read already.
void host_map::read_for_index(node_id index, std::vector<bool>& read) {
    const std::vector<bool> required = b_.body.required_by({index});
    for (const row& r : rows_) {
        if (r.at->is_output || read[r.at->node] || !required[r.at->node]) continue;
        read[r.at->node] = true;
        read_element(r);
    }
    for (const node_id g : b_.generators) {
        if (!is_random_strip(g) || read[g] || !required[g]) continue;
        read[g] = true;
        const std::string name = generator(g).name;
        b_.code.line("const ", b_.needs.type(b_.graph.nodes[g].type), ' ', name, " = ", name, "_strip[j];");
    }
}

std::vector<bool> host_map::write_indices() {
    source_writer& out = b_.code;
    std::vector<bool> read(b_.graph.nodes.size());
    const body_writer::names outside = b_.body.scope();
    for (const unravelling& u : b_.unravellings) {
        if (u.gathers()) {
            read_for_index(u.index, read);
            const std::string index = b_.body.value(u.index, out);
            if (u.is_checked()) out.line("bool ", u.name, " = false;");
            out.line("const ", b_.signed_index(), ' ', digit(u.axes[0]), " = ", b_.gathered_index(u, index), ";");
            continue;
        }
        if (is_wrapped(u)) continue;
        out.line(u.axes.size() > 1 ? "" : "const ", b_.linear(), ' ', u.name, " = ", b_.linear(), '(',
                 b_.unravelled_index(u, all_axes() | b_.unravelled_axes(), along(u.pick)), ");");
        write_digits(b_, u.name, u.axes);
    }
    b_.body.forget_values(outside);
    if (b_.checks_indices()) out.line(vectors_ ? "inside[j] = " : "const bool inside = ", b_.all_inside(), ";");
    return read;
}

std::string host_map::scattered_element(const row& r) {
    const std::string fixed = b_.offset(*r.at, all_axes() | b_.unravelled_axes());
    return "*(" + b_.pointer(*r.at) + fixed + along(*r.at) + ')';
}

std::string host_map::along(const array_argument& at) {
    if (packed_) return axes_of(at) == 0 ? "" : " + " + packed_strips::offset_of(at);
    if (inner_class(at, inner_) == stride_class::broadcast) return "";
    return " + " + in_piece() + b_.times_stride(at, inner_);
}

}  // namespace ingot::codegen
