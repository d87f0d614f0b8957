// The map kernel for CUDA whose threads have elements a block apart: every access of a warp is coalesced whatever the
// alignment and the strides, and a thread's loads are in flight together.
#include <algorithm>

#include "codegen/cuda/map/map_writer.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

class spread_map final : public apart_writer {
public:
    spread_map(cuda_kernel& b, const spread_layout& c) : apart_writer(b, c.each) {}

private:
    void write_elements() override {
        source_writer& out = b_.code;
        const formula all = points_of(axis_range(0, b_.rank));
        const std::string n = b_.count(all, "n"), each = std::to_string(elements_);
        const std::string q = number_of_element();
        out.line("const ", b_.linear(), " first = ", b_.thread_index(threads * elements_), ";");
        out.line("if (first >= ", n, ") return;");
        for (const array_argument& in : b_.inputs)
            if (moves(in)) out.line(b_.needs.type(in.at->head.type), ' ', in.name, '[', each, "];");
        for (const array_argument& z : b_.outputs)
            if (moves(z))
                out.line(b_.needs.type(z.at->head.wide ? dtype::i8 : dtype::i4), ' ', z.name, "_offset[", each, "];");
        for (const node_id g : b_.generators) declare_random(b_.leaf_of(g));
        if (b_.checks_indices()) out.line("bool inside[", each, "];");
        open_unrolled_elements();
        if (elements_ == 1) {
            out.line("const ", b_.linear(), " q = first;");
        } else {
            // Without a branch all elements are loaded together, and all indices before the elements at them.
            out.line("const ", b_.linear(), " next = ", q, ", q = next < ", n, " ? next : first;");
        }
        b_.write_digits("q", axes_in(axis_range(0, b_.rank)));
        read_elements();
        for (const array_argument& z : b_.outputs)
            if (moves(z)) out.line(z.name, "_offset[e] = ", b_.index(z, all_axes()), ";");
        out.close();
        compute_elements();
        open_unrolled_elements();
        if (elements_ > 1) out.open("if (", q, " < ", n, ")");
        for (const array_argument& z : b_.outputs)
            if (b_.is_scattered(z))
                b_.store_scattered(z, indices_of(z) + "[e]", z.name + "[e]", b_.checks_indices() ? "inside[e]" : "");
            else
                b_.store_element(z, moves(z) ? " + " + z.name + "_offset[e]" : "", z.name + "[e]");
        if (elements_ > 1) out.close();
        out.close();
        b_.step.grid[0] = ceil_divide(all, threads * elements_);
    }
};

}  // namespace

spread_layout choose_spread(const cuda_kernel& b) {
    spread_layout c;
    // A map that can be packed is spread because its vectors have one element.
    if (b.rank > 0 && b.loops == 0 && !can_pack(b))
        c.each = elements_within(b, std::max(4u, elements_of_vector(b, true, [&](const array_argument& at) {
                                                 return b.moves_along(at, axis_bit(b.rank - 1));
                                             })));
    c.loops = choose_loops(b, b.rank - 1, 1);
    return c;
}

kernel_shape spread_layout::shape() const { return {.name = "spread", .threads = map_threads, .chunks = each}; }

std::string spread_layout::reason() const {
    return std::to_string(each) + (each == 1 ? " element" : " elements") +
           " a thread, a block apart: coalesced at any alignment and stride" + loops.reason();
}

void spread_layout::write(cuda_kernel& b) const {
    b.looping = loops;
    spread_map(b, *this).write();
}

}  // namespace ingot::codegen
