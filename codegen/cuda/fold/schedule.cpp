// The schedule of a fold on CUDA: a column fold where memory runs along the last kept axis and not along a folded one
// (neighbouring threads fold neighbouring columns), else a row fold, in which lanes share rows.
#include "codegen/cuda/fold/across/choice.hpp"
#include "codegen/cuda/fold/along/choice.hpp"
#include "codegen/graph/rows.hpp"
#include "codegen/plan/emitters.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

bool folds_across(const key& k, const graph& g) {
    std::uint64_t kept_axes = 0;
    int innermost_kept = -1;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == 0) kept_axes |= axis_bit(innermost_kept = static_cast<int>(a));
    return innermost_kept >= 0 && reduces_strided_axis(k, g, ~kept_axes, innermost_kept);
}

}  // namespace

void emit_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) {
    cuda_kernel b(k, g);
    const folded_kernel folds(b, f);
    const auto emit = [&](const auto& layout) {
        layout.write(b, folds);
        b.step.describe(layout);
        b.finish(p, "reduce", layout.threads, layout.resident_blocks);
    };
    folds_across(k, g) ? std::visit(emit, choose_column_fold(folds)) : std::visit(emit, choose_row_fold(folds));
}

}  // namespace ingot::codegen
