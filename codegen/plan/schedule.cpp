// The steps of a key: finds the pattern of its graph and calls that pattern's emitter.
#include "codegen/plan/schedule.hpp"

#include <algorithm>
#include <bit>

#include "codegen/graph/flush_shifted_exponentials.hpp"
#include "codegen/graph/online_reductions.hpp"
#include "codegen/plan/kernel_choice.hpp"
#include "codegen/plan/stages.hpp"
#include "codegen/plan/thread_folds.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t most_argument_bytes = 32764;  // of a CUDA kernel

std::string expression_of(const key& k, const graph& g) {
    std::string out;
    for (const node_id root : g.roots) out += (out.empty() ? "" : "; ") + text(g, root, k);
    return out;
}

/// Whether memory runs along the last kept axis and not along the rows. A few long rows side by side on a middle axis
/// do not count, except for doubles, of which a block's registers hold few.
bool reduces_strided_axis(const key& k, const graph& g, const row_program& r) {
    if (r.kept_axes.empty()) return false;
    constexpr std::uint8_t few_side_by_side = 8, long_class = 7;
    const axis_class inner = k.axes[static_cast<std::size_t>(r.kept_axes.back())];
    const bool few =
        (inner.flags & axis_flags::contiguous_columns) != 0 && inner.extent != 0 && inner.extent <= few_side_by_side;
    const bool doubles = std::ranges::any_of(g.nodes, [](const node& n) { return n.type == dtype::f8; });
    if (few && r.length_class >= long_class && r.kept_axes.size() > 1 && !doubles) return false;
    return reduces_strided_axis(k, g, r.row_bits(), r.kept_axes.back());
}

/// Replaces sums about a value of their own row by online reductions: one pass that neither holds the row nor reads it
/// twice. Cases: (1) it takes fewer kernels; (2) on CUDA, holding rows is slower: few long rows, and short rows over a
/// strided axis; (3) on CUDA, squares, which cost no more than a sum, over any strided axis or rows that fill a block's
/// registers.
void use_online_reductions(const key& k, graph& g, staging& s) {
    constexpr std::uint8_t filling_class = 10;
    const bool cuda = k.header.where == target::cuda;
    if (!cuda && s.stages.empty()) return;
    const row_kernel* const rows = s.kernel ? std::get_if<row_kernel>(&*s.kernel) : nullptr;
    const row_program* const held = rows != nullptr ? &rows->rows : nullptr;
    if (s.stages.empty() && (held == nullptr || std::holds_alternative<staged_rows>(rows->how))) return;
    graph once = with_online_reductions(k, g);
    const bool squares =
        held && !has_exponentials(once) && (held->length_class >= filling_class || reduces_strided_axis(k, g, *held));
    const bool slow = s.stages.empty() &&
                      (squares || held->length_class == 1 || few_results(k, static_cast<int>(held->kept_axes.size())));
    if (s.stages.empty() && !slow) return;
    staging shorter = cut_into_stages(k, once);
    const bool folds = shorter.stages.empty() && !std::holds_alternative<row_kernel>(*shorter.kernel);
    if (!(slow && folds) &&
        std::max<std::size_t>(shorter.stages.size(), 1) >= std::max<std::size_t>(s.stages.size(), 1))
        return;
    s = std::move(shorter);
    g = std::move(once);
}

void emit_stages(const key& k, staging s, plan& p) {
    p.temporaries = s.temporaries;
    for (std::size_t i = 0; i < s.stages.size(); ++i) {
        const stage& now = s.stages[i];
        if (now.call) {
            p.steps.push_back(*now.call);
            continue;
        }
        plan part;
        const std::string name = "step" + std::to_string(i + 1);
        const bool is_one_of_several = s.stages.size() > 1;  // its types get a namespace, its kernel a name of its own
        if (is_one_of_several) part.kernel_prefix = name + '_';
        part.expression = expression_of(now.key, now.graph);
        emit_kernel(*now.kernel, now.key, now.graph, part);
        auto& step = std::get<launch>(part.steps[0]);
        rebind(step, now, s, k.operands.size());
        if (!now.temporaries.empty()) step.reason += ", into a temporary";
        for (const std::uint16_t t : now.temporaries) step.reason += "; " + s.reasons[t];
        if (is_one_of_several)
            part.source = "namespace " + name + " {\n" + part.source + "}  // namespace " + name + '\n';
        p.source += (i == 0 ? "" : "\n") + part.source;
        p.steps.push_back(std::move(step));
    }
}

}  // namespace

plan make_plan(const key& k) {
    graph g = lower(k, loops::shared);
    plan p;
    p.expression = expression_of(k, g);
    p.contract = k.header.math != math_mode::strict;
    p.approximate = k.header.math == math_mode::fast;
    const bool cuda = k.header.where == target::cuda;
    if (cuda && k.header.math != math_mode::strict) flush_shifted_exponentials(k, g);
    const bool loops = use_thread_folds(k, g);
    staging s = cut_into_stages(k, g);
    if (k.header.math != math_mode::strict) use_online_reductions(k, g, s);  // strict: no bit depends on a cut
    const bool rows = s.kernel ? std::holds_alternative<row_kernel>(*s.kernel) : find_row_program(k, g).has_value();
    p.pattern = has_kind(g, {node_kind::library})                               ? "library"
                : has_kind(g, {node_kind::scan}) && !(rows && s.stages.empty()) ? "scan"
                : !has_kind(g, {node_kind::reduce}) && !rows                    ? (loops ? "reduction" : "map")
                : rows                                                          ? "row program"
                                                                                : "reduction";
    s.stages.empty() ? emit_kernel(*s.kernel, k, g, p) : emit_stages(k, std::move(s), p);
    for (const launch& step : launches_of(p))
        if (cuda && step.argument_bytes > most_argument_bytes)
            p.missing = "[evaluate] " + p.expression + ": one kernel has no room for the arguments of so many operands";
    return p;
}

std::string grid_text(const launch& step) {
    const formula along = step.cluster * step.grid[0];
    if (step.in_one_row) return '(' + (along * step.grid[1] * step.grid[2]).text() + ", 1, 1)";
    const std::string shared = step.resident_blocks != 0 ? "up to " : "";
    return '(' + along.text() + ", " + shared + step.grid[1].text() + ", " + step.grid[2].text() + ')';
}

std::string describe(const plan_step& s) {
    if (const auto* l = std::get_if<launch>(&s)) return l->pattern + ", grid " + grid_text(*l) + " (" + l->reason + ")";
    if (const auto* c = std::get_if<library_call>(&s)) return "library call of " + c->function + " (" + c->reason + ")";
    return "fill with " + std::to_string(std::get<fill>(s).value);
}

std::string describe(const plan& p) {
    std::string out = p.pattern + ": " + std::to_string(p.steps.size()) + (p.steps.size() == 1 ? " step" : " steps");
    for (const plan_step& s : p.steps) out += "\n  " + describe(s);
    for (const temporary& t : p.temporaries)
        if (t.workspace)
            out += "\n  workspace";
        else
            out += "\n  temporary of " + std::string(name(t.type)) + ", elements " + t.elements.text();
    if (!p.missing.empty()) out += "\n  missing: " + p.missing;
    return out + '\n';
}

}  // namespace ingot::codegen
