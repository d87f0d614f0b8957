// A block has one row, or across memory some neighbouring ones. It goes over them once for each phase of reductions,
// and once for the outputs; after the first time they are in the cache. What costs much and is wanted again is kept
// beside them.
#include <algorithm>

#include "codegen/host_folds.hpp"
#include "codegen/host_rows.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint8_t longest_along = 13, longest_alone = 11, longest_across = 9;  // buckets
constexpr std::uint32_t cost_worth_keeping = 6;
constexpr std::uint32_t most_kept_bytes = 1u << 18;  // a part of a second-level cache

folded_space space_of(const row_program& r) {
    folded_space s;
    s.axes = r.row;
    s.bucket = r.bucket;
    return s;
}

/// Loop axes along which an output moves.
std::uint64_t axes_of(const kernel_builder& b, const place& output) {
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < output.at->strides.size(); ++a)
        if (output.at->strides[a] != stride_class::broadcast) axes |= axis_bit(b.graph.loop_axis[a]);
    return axes;
}

class host_rows {
public:
    host_rows(const key& k, const graph& g, const row_program& r)
        : b_(k, g),
          r_(r),
          way_(choose_direction(b_, r.kept, {space_of(r)})),
          walk_(b_, r.kept, way_, strip(), {}),
          rows_(b_, walk_) {
        std::size_t number = 0;
        for (const auto& phase : r.phases) {
            std::vector<fold_writer>& own = folds_.emplace_back();
            for (const node_id reduction : phase) own.emplace_back(g, reduction, number++, b_.needs);
        }
        for (auto& phase : folds_)
            for (fold_writer& f : phase)
                lanes_.emplace_back(f, g, lanes_.size(), walk_.strip(), !walk_.across(), b_.needs);
        choose_kept();
    }

    void write(plan& p) {
        b_.name_scalars();
        std::vector<node_id> all;
        for (std::size_t phase = 0; phase <= r_.phases.size(); ++phase)
            for (const node_id n : r_.wanted(b_.graph, phase)) all.push_back(n);
        walk_.open_block(all);
        const folded_space row = whole_row();
        const std::string n = b_.count({.axes = row.bits()}, "folded");
        walk_.stage(row, n);
        for (const kept& k : kept_) walk_.declare_kept(k.value, row_capacity());
        std::span<lane_fold> lanes(lanes_);
        for (std::size_t phase = 0; phase < r_.phases.size(); ++phase) {
            write_phase(phase, lanes.first(folds_[phase].size()));
            lanes = lanes.subspan(folds_[phase].size());
        }
        write_results(row, n);
        b_.code.close();
        describe(b_.step);
        p.source = b_.assemble(
            p.expression,
            "extern \"C\" void rows(const arguments* given, unsigned long long begin, unsigned long long end)");
        p.steps.push_back(std::move(b_.step));
    }

private:
    struct kept {
        host_walk::kept_value value;
        std::size_t phase;  // that computes it
    };

    std::uint32_t strip() const {
        if (way_ == direction::along) return strip_along(r_.bucket);
        return r_.bucket <= 6 ? 256 : 64;  // columns of up to 1024, and more
    }
    std::uint32_t row_capacity() const { return std::max(16u << r_.bucket, 64u); }

    /// What a phase computes and a later one wants, where computing it again costs much and there is room.
    void choose_kept() {
        constexpr std::size_t never = ~std::size_t{0};
        std::vector<std::size_t> first(b_.graph.nodes.size(), never);
        std::uint64_t bytes = 0;
        for (std::size_t phase = 0; phase <= r_.phases.size(); ++phase) {
            std::vector<node_id> open = r_.wanted(b_.graph, phase);
            while (!open.empty()) {
                const node_id i = open.back();
                open.pop_back();
                const node& n = b_.graph.nodes[i];
                if (first[i] == phase || n.kind == node_kind::reduce || (n.axes & r_.row_bits()) == 0) continue;
                const bool known = first[i] < phase;
                if (std::ranges::any_of(kept_, [&](const kept& k) { return k.value.node == i; })) continue;
                if (known && n.kind != node_kind::operand && cost_of(b_.graph, {i}) >= cost_worth_keeping) {
                    bytes += row_capacity() * (walk_.across() ? walk_.strip() : 1) * size_of(n.type);
                    if (bytes > most_kept_bytes) return;
                    kept_.push_back({{i, "kept" + std::to_string(kept_.size())}, first[i]});
                    continue;
                }
                if (!known) first[i] = phase;
                open.insert(open.end(), n.arguments, n.arguments + n.arity);
            }
        }
    }

    void write_phase(std::size_t phase, std::span<lane_fold> lanes) {
        folded_space s = space_of(r_);
        s.reductions = r_.phases[phase];
        s.values = r_.wanted(b_.graph, phase);
        b_.body.hoist(walk_.outer_axes(), s.values, b_.code);
        std::vector<host_walk::kept_value> now;
        for (const kept& k : kept_)
            if (k.phase == phase) now.push_back(k.value);
        rows_.write(s, "", true, lanes, now);
        b_.step.work.push_back({walk_.kept_axes() | s.bits(), cost_of(b_.graph, s.values) + s.reductions.size()});
    }

    /// The row with the outputs that have an element for each of its.
    folded_space whole_row() const {
        folded_space s = space_of(r_);
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            if ((axes_of(b_, b_.outputs[k]) & r_.row_bits()) != 0) s.outputs.push_back(k);
        return s;
    }

    void write_results(const folded_space& s, const std::string& n) {
        std::vector<std::size_t> once;  // a row
        std::vector<node_id> once_roots;
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            if (std::ranges::find(s.outputs, k) != s.outputs.end()) continue;
            once.push_back(k);
            once_roots.push_back(b_.graph.roots[k]);
        }
        const std::vector<node_id> along_roots = s.wanted(b_.graph);
        b_.body.hoist(walk_.outer_axes(), b_.graph.roots, b_.code);
        if (!s.outputs.empty()) {
            walk_.strips(s, "0", n, along_roots, [&] {
                walk_.open_outputs(s);
                walk_.elements(along_roots, [&](const std::vector<std::string>& values) { walk_.put(s, values); });
                walk_.close_outputs(s);
            });
            walk_.unstage(s, n);
            b_.step.work.push_back({walk_.kept_axes() | s.bits(), cost_of(b_.graph, along_roots)});
        }
        if (once.empty()) return;
        if (walk_.across())
            walk_.store_rows(once);
        else
            for (const std::size_t k : once)
                b_.code.line("*(", b_.pointer(b_.outputs[k]), b_.offset(b_.outputs[k], walk_.kept_axes()),
                             ") = ", b_.body.value(b_.graph.roots[k], b_.code), ";");
        b_.step.work.push_back({walk_.kept_axes(), cost_of(b_.graph, once_roots)});
    }

    void describe(launch& step) const {
        step.kernel = "rows";
        step.threads = 1;
        step.pattern = "row program";
        const std::string rows = walk_.across() ? std::to_string(walk_.strip()) + " neighbouring rows" : "a row";
        step.reason = "a block " + rows + ", in the cache from phase to phase";
    }

    kernel_builder b_;
    const row_program& r_;
    direction way_;
    host_walk walk_;
    row_folds rows_;
    std::vector<std::vector<fold_writer>> folds_;  // of each phase
    std::vector<lane_fold> lanes_;                 // of all folds
    std::vector<kept> kept_;
};

}  // namespace

bool hold_in_caches(const key& k, const graph& g, const row_program& r) {
    const kernel_builder b(k, g);
    for (std::size_t i = 0; i < b.outputs.size(); ++i) {
        const std::uint64_t axes = axes_of(b, b.outputs[i]);
        if ((r.kept_bits() & ~axes) != 0) return false;  // rows would write over each other's results
        if ((g.nodes[g.roots[i]].axes & ~axes) != 0) return false;
    }
    if (choose_direction(b, r.kept, {space_of(r)}) == direction::across) return r.bucket <= longest_across;
    return r.bucket <= (r.kept.empty() ? longest_alone : longest_along);
}

void emit_row_host(const key& k, const graph& g, const row_program& r, plan& p) { host_rows(k, g, r).write(p); }

}  // namespace ingot::codegen
