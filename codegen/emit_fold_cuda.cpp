// Which of CUDA's schedules a fold gets: where memory runs along the last kept axis, and not along what is folded,
// neighbours fold neighbouring columns; else lanes share rows.
#include "codegen/fold_cuda.hpp"
#include "codegen/rows.hpp"

namespace ingot::codegen {

using namespace detail;

void emit_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) {
    std::uint64_t kept = 0;
    int last_kept = -1;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == 0) kept |= axis_bit(last_kept = static_cast<int>(a));
    const bool across = last_kept >= 0 && runs_across(k, g, ~kept, last_kept);
    if (across && (emit_short_columns_cuda(k, g, f, p) || emit_brief_columns_cuda(k, g, f, p) ||
                   emit_column_strips_cuda(k, g, f, p)))
        return;
    across ? emit_column_fold_cuda(k, g, f, p) : emit_row_fold_cuda(k, g, f, p);
}

}  // namespace ingot::codegen
