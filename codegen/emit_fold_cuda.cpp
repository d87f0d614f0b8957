// Which of CUDA's schedules a fold gets: where memory runs along the last kept axis, and not along what is folded,
// neighbours fold neighbouring columns; else lanes share rows.
#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

using namespace detail;

void emit_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) {
    std::uint64_t kept = 0, last_kept = 0;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == 0) kept |= last_kept = axis_bit(static_cast<int>(a));
    bool along_kept = false, along_bound = false;
    for (const node& n : g.nodes) {
        if (n.kind != node_kind::operand || (n.axes & ~kept) == 0) continue;
        const std::vector<stride_class>& strides = k.operands[n.index].strides;
        for (std::size_t a = 0; a < strides.size(); ++a) {
            if (strides[a] != stride_class::unit) continue;
            along_kept = along_kept || last_kept == axis_bit(static_cast<int>(a));
            along_bound = along_bound || (kept >> a & 1u) == 0;
        }
    }
    const bool across = along_kept && !along_bound;
    if (across && (emit_short_columns_cuda(k, g, f, p) || emit_brief_columns_cuda(k, g, f, p) ||
                   emit_column_strips_cuda(k, g, f, p)))
        return;
    across ? emit_column_fold_cuda(k, g, f, p) : emit_row_fold_cuda(k, g, f, p);
}

}  // namespace ingot::codegen
