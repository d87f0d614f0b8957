// The map kernel for CUDA whose threads have elements a block apart: every access of a warp is coalesced, and a
// thread's loads are in flight together.
#include <algorithm>

#include "codegen/cuda/map/map_writer.hpp"

namespace ingot::codegen {

using namespace detail;

void cuda_map::write_spread() {
    source_writer& out = b_.code;
    const formula all = points_of(axis_range(0, b_.rank));
    const std::string n = b_.count(all, "n"), each = std::to_string(each_);
    const std::string q = number_of_element();
    const bool branches = !has_loaded_indices();
    out.line("const ", b_.linear(), " first = ", b_.thread_index(threads * each_), ";");
    if (!branches) out.line("if (first >= ", n, ") return;");
    for (const array_argument& in : b_.inputs)
        if (moves(in)) out.line(b_.needs.type(in.at->head.type), ' ', in.name, '[', each, "];");
    for (const array_argument& z : b_.outputs)
        if (moves(z))
            out.line(b_.needs.type(z.at->head.wide ? dtype::i8 : dtype::i4), ' ', z.name, "_offset[", each, "];");
    for (const node_id g : b_.generators) declare_random(argument_of(g));
    if (b_.checks_indices()) out.line("bool inside[", each, "];");
    open_unrolled_elements();
    if (branches) {
        out.line("const ", b_.linear(), " q = ", q, ";");
        out.line("if (q >= ", n, ") continue;");
    } else if (each_ == 1) {
        out.line("const ", b_.linear(), " q = first;");
    } else {
        // Without a branch all indices are loaded together, and then the elements at them.
        out.line("const ", b_.linear(), " next = ", q, ", q = next < ", n, " ? next : first;");
    }
    b_.write_digits("q", outer_axes(b_.rank));
    read_elements();
    for (const array_argument& z : b_.outputs)
        if (moves(z)) out.line(z.name, "_offset[e] = ", b_.offset(z, all_axes()).substr(3), ";");
    out.close();
    compute_elements();
    open_unrolled_elements();
    if (branches) out.line("if (", q, " >= ", n, ") break;");
    if (!branches && each_ > 1) out.open("if (", q, " < ", n, ")");
    for (const array_argument& z : b_.outputs)
        if (b_.is_scattered(z))
            b_.store_scattered(z, indices_of(z) + "[e]", z.name + "[e]", b_.checks_indices() ? "inside[e]" : "");
        else
            b_.store_element(z, moves(z) ? " + " + z.name + "_offset[e]" : "", z.name + "[e]");
    if (!branches && each_ > 1) out.close();
    out.close();
    b_.step.grid[0] = ceil_divide(all, threads * each_);
}

bool cuda_map::has_loaded_indices() const {
    std::vector<node_id> indices;
    for (const unravelling& u : b_.unravellings)
        if (u.gathers()) indices.push_back(u.index);
    for (const array_argument& z : b_.outputs)
        if (b_.is_scattered(z)) indices.push_back(b_.scatter_index_of(z));
    const std::vector<bool> beneath = nodes_below(b_.graph, indices);
    return std::ranges::any_of(b_.inputs, [&](const array_argument& in) { return beneath[in.node]; });
}

void cuda_map::read_elements() {
    source_writer& out = b_.code;
    std::vector<bool> read(b_.graph.nodes.size());
    const auto read_required = [&](const std::vector<bool>& required) {
        for (const array_argument& in : b_.inputs) {
            if (!moves(in) || read[in.node] || !required[in.node]) continue;
            read[in.node] = true;
            out.line(slot_of(in), " = ", b_.element(in, b_.offset(in, all_axes())), ";");
            b_.body.name(in.node, slot_of(in));
        }
        for (const node_id g : b_.generators) {
            if (read[g] || !required[g]) continue;
            read[g] = true;
            write_random(argument_of(g), b_.names[b_.graph.nodes[g].index] + own_, "");
        }
    };
    for (const unravelling& u : b_.unravellings) {
        if (!u.gathers()) {
            out.line("const ", b_.linear(), ' ', u.name, " = ", b_.linear(), '(', b_.unravelled_index(u, all_axes()),
                     ");");
            b_.write_digits(u.name, u.axes);
            continue;
        }
        read_required(b_.body.required_by({u.index}));
        const body_writer::names outside = b_.body.scope();
        const std::string index = b_.body.value(u.index, out);
        if (b_.checks_indices() && u.is_checked()) out.line(u.name, ".last = false;");
        out.line("const ", b_.signed_index(), ' ', digit(u.axes[0]), " = ", b_.gathered_index(u, index), ";");
        b_.body.leave(outside);
    }
    if (b_.checks_indices()) out.line("inside", own_, " = ", b_.all_inside(), ";");
    read_required(std::vector<bool>(b_.graph.nodes.size(), true));
}

std::string cuda_map::slot_of(const array_argument& in) const {
    if (choice_.vector == 1 || own_.empty()) return in.name + own_;
    const std::string vector = std::to_string(choice_.vector);
    return in.name + "[e / " + vector + "][e % " + vector + ']';
}

void cuda_map::declare_indices() {
    for (const array_argument& z : b_.outputs)
        if (b_.is_scattered(z)) b_.code.line(b_.needs.type(dtype::i8), ' ', indices_of(z), '[', each_, "];");
}

std::string cuda_map::number_of_element() const {
    if (choice_.vector == 1) return "first + e * " + std::to_string(threads) + 'u';
    const std::string vector = std::to_string(choice_.vector);
    return "first + e / " + vector + " * " + std::to_string(threads * choice_.vector) + "u + e % " + vector;
}

void cuda_map::compute_elements() {
    source_writer& out = b_.code;
    for (const array_argument& z : b_.outputs) out.line(b_.needs.type(z.at->head.type), ' ', z.name, '[', each_, "];");
    declare_indices();
    b_.compute(b_.has_quick_bodies(), [&] {
        open_unrolled_elements();
        if (b_.has_raw() || b_.has_user_text()) {
            out.line("if (", number_of_element(), " >= ", b_.count(points_of(axis_range(0, b_.rank)), "n"), ") break;");
        }
        if (b_.loops != 0) {
            out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
            out.line("if (q >= ", b_.count(points_of(axis_range(0, b_.rank)), "n"), ") continue;");
            b_.write_digits("q", outer_axes(b_.rank));
        }
        for (const array_argument& z : b_.outputs) {
            out.line(z.name, "[e] = ", b_.body.value(b_.value_of(z), out), ";");
            if (b_.is_scattered(z)) out.line(indices_of(z), "[e] = ", b_.body.value(b_.scatter_index_of(z), out), ";");
        }
        out.close();
    });
}

}  // namespace ingot::codegen
