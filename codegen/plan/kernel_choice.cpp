// See kernel_choice.hpp. Staged rows are tried before rows in registers, as they are read and written as one run of
// memory.
#include "codegen/plan/kernel_choice.hpp"

#include <algorithm>

#include "codegen/plan/emitters.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// Whether joining in another order changes a scan's bits.
bool is_inexact(const graph& g, node_id scan) {
    const fold_traits f(g, scan);
    return f.rounds() || f.is_costly();
}

/// In strict arithmetic prefixes that round belong to a scan's own kernel.
std::optional<row_kernel> choose_row(const key& k, const graph& g, const row_program& r) {
    if (k.header.math == math_mode::strict &&
        std::ranges::any_of(r.scans(g), [&](node_id scan) { return is_inexact(g, scan); }))
        return {};
    if (k.header.where == target::host) {
        if (auto strips = choose_row_strips(kernel_builder(k, g), r)) return row_kernel{r, std::move(*strips)};
        return {};
    }
    if (auto staged = choose_staged_rows(k, g, r)) return row_kernel{r, std::move(*staged)};
    if (auto held = choose_register_rows(k, g, r)) return row_kernel{r, std::move(*held)};
    return {};
}

/// The rows of a graph in which no reduction's value is used along them.
row_program rows_of(const key& k, const folding& f) {
    row_program rows{};
    if (f.spaces.size() != 1) return rows;
    for (std::size_t a = 0; a < k.axes.size() && k.axes[a].owner == 0; ++a)
        rows.kept_axes.push_back(static_cast<int>(a));
    rows.row = f.spaces[0].axes;
    rows.length_class = f.spaces[0].length_class;
    rows.phases = {f.spaces[0].reductions};
    return rows;
}

kernel_choice choose_fold(const key& k, const graph& g) {
    folding f = find_folding(k, g);
    if (k.header.where == target::cuda) {
        row_program rows = rows_of(k, f);
        if (auto staged = choose_staged_rows(k, g, rows)) return staged_fold{std::move(rows), std::move(*staged)};
    }
    return fold_kernel{std::move(f)};
}

/// Adds the kernel of each kind to a plan.
struct emitter {
    const key& k;
    const graph& g;
    plan& p;
    bool cuda = k.header.where == target::cuda;

    void operator()(const map_kernel&) const { cuda ? emit_map_cuda(k, g, p) : emit_map_host(k, g, p); }
    void operator()(const row_kernel& r) const {
        if (const auto* staged = std::get_if<staged_rows>(&r.how))
            emit_staged_rows(k, g, r.rows, *staged, p);
        else if (const auto* held = std::get_if<register_rows>(&r.how))
            emit_register_rows(k, g, r.rows, *held, p);
        else
            emit_row_host(k, g, r.rows, std::get<row_strips>(r.how), p);
    }
    void operator()(const staged_fold& f) const { emit_staged_rows(k, g, f.rows, f.how, p); }
    void operator()(const fold_kernel& f) const {
        cuda ? emit_fold_cuda(k, g, f.folds, p) : emit_fold_host(k, g, f.folds, p);
    }
    void operator()(const scan_kernel& s) const {
        cuda ? emit_scan_cuda(k, g, s.scans, p) : emit_scan_host(k, g, s.scans, p);
    }
};

}  // namespace

bool has_kind(const graph& g, std::initializer_list<node_kind> kinds) {
    return std::ranges::any_of(g.nodes, [&](const node& n) { return std::ranges::find(kinds, n.kind) != kinds.end(); });
}

std::optional<kernel_choice> choose_kernel(const key& k, const graph& g, const std::optional<row_program>& rows) {
    if (rows) return choose_row(k, g, *rows);
    if (has_kind(g, {node_kind::thread_fold})) return map_kernel{};
    if (has_kind(g, {node_kind::reduce})) return choose_fold(k, g);
    if (has_kind(g, {node_kind::scan})) return scan_kernel{find_scanning(k, g)};
    return map_kernel{};
}

void emit_kernel(const kernel_choice& choice, const key& k, const graph& g, plan& p) {
    std::visit(emitter{k, g, p}, choice);
}

}  // namespace ingot::codegen
