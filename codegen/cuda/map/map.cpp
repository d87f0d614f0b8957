// The map kernel for CUDA, one thread for several elements, in one of these shapes:
//   packed  a thread has consecutive elements of the inner axis and moves them in one access of up to 16 bytes; every
//           operand that moves along the inner axis is contiguous and aligned. The last elements of a row, and those of
//           a thread whose quick bodies met a rare value, go one by one, in the same kernel.
//   spread  a thread's elements are a block apart, so that every access of a warp is coalesced whatever the alignment
//           and the strides; its loads are in flight together.
//   along   as spread, but a thread's elements are some apart on one axis, along which an earlier step folded: its
//           results are read once.
//   counted as spread, or by vectors, where one value is added to few places: as many blocks as fit count in shared
//           memory how often each place is met, over all elements, and add to memory at their end. Sums of integers are
//           the same in any order.
// Over more than one axis the linear number of a thread is decoded by multiply-high divisions.
#include "codegen/cuda/map/map_writer.hpp"
#include "codegen/cuda/map/stencil_steps.hpp"
#include "codegen/plan/emitters.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

using layout = map_choice::layout;

}  // namespace

void cuda_map::write(plan& p) {
    b_.name_scalars();
    read_constants();
    b_.body.hoist(0, b_.graph.roots, b_.code);
    b_.declare_outside_indices();
    switch (choice_.how) {
        case layout::packed:
            write_packed();
            break;
        case layout::along:
            write_along();
            break;
        case layout::counted:
            write_counted();
            break;
        default:
            write_spread();
    }
    b_.report_outside_indices();
    finish_map(b_, choice_, p);
}

std::vector<int> cuda_map::outer_axes(int n) {
    std::vector<int> axes;
    for (int a = 0; a < n; ++a) axes.push_back(a);
    return axes;
}

void cuda_map::read_constants() {
    // Operands may be outputs: only one thread runs.
    if (b_.rank == 0) b_.code.line("if (threadIdx.x != 0) return;  // there is one element");
    for (const array_argument& in : b_.inputs) {
        if (moves(in)) continue;
        b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", b_.element(in, ""), ";");
        b_.body.name(in.node, in.name);
    }
}

array_argument cuda_map::argument_of(node_id generator) const {
    const std::uint16_t index = b_.graph.nodes[generator].index;
    return {&b_.key.operands[index], b_.names[index], index, false, generator};
}

void cuda_map::declare_random(const array_argument& g) {
    b_.code.line(b_.needs.type(b_.graph.nodes[g.node].type), ' ', g.name, '[', all_elements(), "];");
    b_.body.name(g.node, g.name + "[e]");
}

void cuda_map::write_random(const array_argument& g, const std::string& to, const std::string& further) {
    b_.code.line(to, " = ", b_.generator_call(g.node, b_.generator_index(g.node, all_axes()) + further), ";");
}

void cuda_map::open_elements(const std::string& count) {
    b_.code.open("for (", b_.wide() ? "int" : "unsigned int", " e = 0; e < ", count, "; ++e)");
}

void cuda_map::open_unrolled_elements() {
    b_.code.margin("#pragma unroll");
    open_elements(std::to_string(all_elements()));
}

void finish_map(cuda_kernel& b, const map_choice& c, plan& p) {
    b.step.kernel = "map";
    b.step.threads = c.block_threads;
    b.step.pattern = "map";
    b.step.work.push_back({axis_range(0, b.rank), cost_of(b.graph, b.graph.roots)});
    b.step.shape = c.shape();
    b.step.reason = c.reason();
    std::string bounds = std::to_string(c.block_threads);
    if (c.least_blocks > 0) bounds += ", " + std::to_string(c.least_blocks);
    p.source = b.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + bounds +
                                            ")\nmap(const __grid_constant__ arguments p)");
    p.steps.push_back(std::move(b.step));
}

void emit_map_cuda(const key& k, const graph& g, plan& p) {
    cuda_kernel b(k, g);
    if (k.iteration.steps > 1) return emit_stencil_steps_cuda(b, p);
    const map_choice c = choose_map(b);
    b.looping = c.loops;
    switch (c.how) {
        case layout::flat:
            return emit_flat_map_cuda(b, c, p);
        case layout::stencil:
            return emit_stencil_map_cuda(b, c, p);
        case layout::joint:
            return emit_joint_map_cuda(b, c, p);
        case layout::tiled:
            return emit_tiled_map_cuda(b, c, p);
        default:
            return cuda_map(b, c).write(p);
    }
}

}  // namespace ingot::codegen
