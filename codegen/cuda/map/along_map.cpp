// The map kernel for CUDA whose threads have elements some apart on an axis that an earlier step folded, and read that
// step's results once.
#include "codegen/cuda/map/map_writer.hpp"

namespace ingot::codegen {

using namespace detail;

void cuda_map::write_along() {
    source_writer& out = b_.code;
    const std::uint64_t still = all_axes() & ~axis_bit(along_);
    const std::uint32_t element_stride = choice_.element_stride;
    locate_along(element_stride);
    for (const array_argument& in : b_.inputs) {
        const std::string type = b_.needs.type(in.at->head.type);
        if (!moves(in)) continue;
        if (moves_along(in)) {
            out.line(type, ' ', in.name, '[', each_, "] = {};");
            b_.body.name(in.node, in.name + "[e]");
        } else {
            out.line("const ", type, ' ', in.name, " = ", b_.element(in, b_.offset(in, still)), ";");
            b_.body.name(in.node, in.name);
        }
    }
    open_present(element_stride);
    for (const array_argument& in : b_.inputs)
        if (moves_along(in)) out.line(in.name, "[e] = ", b_.element(in, b_.offset(in, all_axes())), ";");
    close_present();
    b_.body.hoist(still, b_.graph.roots, out);
    compute_elements();
    open_present(element_stride);
    for (const array_argument& z : b_.outputs) b_.store_element(z, b_.offset(z, all_axes()), z.name + "[e]");
    close_present();
}

void cuda_map::locate_along(std::uint32_t element_stride) {
    source_writer& out = b_.code;
    const formula groups = ceil_divide(points_of(axis_bit(along_)), each_ * element_stride);
    const formula all = points_of(axis_range(0, b_.rank) & ~axis_bit(along_)) * groups;
    b_.step.grid[0] = ceil_divide(all, threads / element_stride);
    const std::string type = b_.linear(), far = std::to_string(element_stride) + 'u';
    b_.count(points_of(axis_bit(along_)), "n" + std::to_string(along_));
    out.line("const ", type, " q = ", b_.thread_index(threads), ";");
    out.line("if (q >= ", b_.count(all, "groups"), " * ", far, ") return;");
    std::string rest = "q";
    if (along_ != inner_) {
        const formula within = points_of(axis_range(along_ + 1, b_.rank));
        const std::string inside = b_.count(within, "inside"), by_inside = b_.divisor(within, "by_inside");
        out.line("const ", type, " line = quotient(q, ", by_inside, "), inside = q - line * ", inside, ";");
        std::vector<int> axes;
        for (int a = along_ + 1; a < b_.rank; ++a) axes.push_back(a);
        b_.write_digits("inside", axes);
        rest = "line";
    }
    std::string group = rest + " / " + far;
    if (along_ > 0) {
        out.line("const ", type, " outer = quotient(", group, ", ", b_.divisor(groups, "by_groups"), ");");
        b_.write_digits("outer", outer_axes(along_));
        group = '(' + group + " - outer * " + b_.count(groups, "groups_along") + ')';
    }
    out.line("const ", type, " first = ", group, " * ", each_ * element_stride, " + ", rest, " % ", far, ";");
}

void cuda_map::open_present(std::uint32_t element_stride) {
    const std::string at = "first + e * " + std::to_string(element_stride) + 'u';
    open_unrolled_elements();
    b_.code.open("if (", at, " < ", b_.count(points_of(axis_bit(along_)), "n" + std::to_string(along_)), ")");
    b_.code.line("const ", b_.signed_index(), ' ', digit(along_), " = ", b_.signed_index(), '(', at, ");");
}

void cuda_map::close_present() {
    b_.code.close();
    b_.code.close();
}

}  // namespace ingot::codegen
