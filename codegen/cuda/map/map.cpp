// The map kernel for CUDA, one thread for several elements, in the layout that is chosen for it (choice.hpp). Over more
// than one axis the linear number of a thread is decoded by multiply-high divisions.
#include "codegen/cuda/map/choice.hpp"
#include "codegen/cuda/map/stencil_steps.hpp"
#include "codegen/plan/emitters.hpp"

namespace ingot::codegen {

void emit_map_cuda(const key& k, const graph& g, plan& p) {
    cuda_kernel b(k, g);
    if (k.iteration.steps > 1) return emit_stencil_steps_cuda(b, p);
    const map_choice choice = choose_map(b);
    launch& step = b.step;
    std::visit(
        [&](const auto& layout) {
            layout.write(b);
            step.describe(layout);
        },
        choice);
    step.work.push_back({axis_range(0, b.rank), cost_of(g, g.roots)});
    const auto* stencil = std::get_if<stencil_layout>(&choice);
    b.finish(p, "map", step.shape.threads, stencil != nullptr ? stencil->least_blocks : 0);
}

}  // namespace ingot::codegen
