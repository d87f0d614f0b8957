// See map_writer.hpp.
#include "codegen/cuda/map/map_writer.hpp"

namespace ingot::codegen {

using namespace detail;

void map_writer::write() {
    b_.name_scalars();
    // Operands may be outputs: only one thread runs.
    if (b_.rank == 0) b_.code.line("if (threadIdx.x != 0) return;  // there is one element");
    b_.read_constants(all_axes());
    b_.body.hoist(0, b_.graph.roots, b_.code);
    b_.declare_outside_indices();
    write_elements();
    b_.report_outside_indices();
}

void apart_writer::read_elements() {
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
            const array_argument leaf = b_.leaf_of(g);
            write_random(leaf, leaf.name + own_, "");
        }
    };
    const body_writer::names outside = b_.body.scope();
    for (const unravelling& u : b_.unravellings) {
        if (!u.gathers()) {
            out.line("const ", b_.linear(), ' ', u.name, " = ", b_.linear(), '(', b_.unravelled_index(u, all_axes()),
                     ");");
            b_.write_digits(u.name, u.axes);
            continue;
        }
        read_required(b_.body.required_by({u.index}));
        const std::string index = b_.body.value(u.index, out);
        if (b_.checks_indices() && u.is_checked()) out.line(u.name, ".last = false;");
        out.line("const ", b_.signed_index(), ' ', digit(u.axes[0]), " = ", b_.gathered_index(u, index), ";");
    }
    b_.body.forget_values(outside);
    if (b_.checks_indices()) out.line("inside", own_, " = ", b_.all_inside(), ";");
    read_required(std::vector<bool>(b_.graph.nodes.size(), true));
}

void apart_writer::compute_elements() {
    source_writer& out = b_.code;
    for (const array_argument& z : b_.outputs)
        out.line(b_.needs.type(z.at->head.type), ' ', z.name, '[', elements_, "];");
    declare_indices();
    b_.compute(b_.has_quick_bodies(), [&] {
        open_unrolled_elements();
        if (b_.has_raw() || b_.has_user_text()) out.line("if (", is_absent(), ") break;");
        if (b_.loops != 0) {
            out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
            out.line("if (q >= ", b_.count(points_of(axis_range(0, b_.rank)), "n"), ") continue;");
            b_.write_digits("q", axes_in(axis_range(0, b_.rank)));
        }
        for (const array_argument& z : b_.outputs) {
            out.line(z.name, "[e] = ", b_.body.value(b_.value_of(z), out), ";");
            if (b_.is_scattered(z)) out.line(indices_of(z), "[e] = ", b_.body.value(b_.scatter_index_of(z), out), ";");
        }
        out.close();
    });
}

}  // namespace ingot::codegen
