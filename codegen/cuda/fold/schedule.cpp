// The schedule of a fold on CUDA: a column fold where memory runs along the last kept axis and not along a folded one
// (neighbouring threads fold neighbouring columns), else a row fold, in which lanes share rows.
#include "codegen/cuda/fold/across/column_fold.hpp"
#include "codegen/cuda/fold/along/row_fold.hpp"
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

void emit_column_fold(cuda_kernel& b, const folded_kernel& folds, const column_fold_choice& c, plan& p) {
    using layout = column_fold_choice::layout;
    switch (c.how) {
        case layout::staged:
            return emit_short_columns_cuda(b, folds, c, p);
        case layout::unrolled:
            return emit_unrolled_columns_cuda(b, folds, c, p);
        case layout::strips:
            return emit_column_strips_cuda(b, folds, c, p);
        case layout::contiguous:
            return emit_contiguous_columns_cuda(b, folds, c, p);
        default:
            return emit_columns_cuda(b, folds, c, p);
    }
}

}  // namespace

void emit_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) {
    cuda_kernel b(k, g);
    const folded_kernel folds(b, f);
    if (folds_across(k, g))
        emit_column_fold(b, folds, choose_column_fold(folds), p);
    else
        emit_row_fold_cuda(b, folds, choose_row_fold(folds), p);
}

}  // namespace ingot::codegen
