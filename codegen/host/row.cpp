// A block has one row, or across memory some neighbouring ones. It goes over them once for each phase's reductions,
// once for its scans, and once for the outputs; after the first time they are in the cache. Costly values that are
// needed again are kept beside them, and so are prefixes, each row's one left fold as in a scan's own kernel.
#include <utility>

#include "codegen/host/folds.hpp"
#include "codegen/plan/emitters.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

folded_space space_of(const row_program& r) {
    folded_space s;
    s.axes = r.row;
    s.length_class = r.length_class;
    return s;
}

class host_rows {
public:
    host_rows(const key& k, const graph& g, const row_program& r, const row_strips& choice)
        : b_(k, g), r_(r), choice_(choice), walk_(b_, r.kept_axes, choice_), rows_(b_, walk_) {
        std::size_t number = 0;
        for (const auto& phase : r.phases) {
            std::vector<fold_writer>&own = folds_.emplace_back(), &scans = scans_.emplace_back();
            for (const node_id fold : phase)
                (g.nodes[fold].kind == node_kind::scan ? scans : own).emplace_back(g, fold, number++, b_.needs);
        }
        for (auto& phase : folds_)
            for (fold_writer& f : phase)
                lanes_.emplace_back(f, g, lanes_.size(), walk_.strip(), !walk_.across(), b_.needs);
        for (const row_strips::cached_value& value : choice_.cached)
            cached_.push_back({value.node, "cached" + std::to_string(cached_.size())});
    }

    void write(plan& p) {
        b_.name_scalars();
        std::vector<node_id> all;
        for (std::size_t phase = 0; phase <= r_.phases.size(); ++phase)
            for (const node_id n : r_.computed_nodes(b_.graph, phase)) all.push_back(n);
        walk_.open_block(all);
        const folded_space row = whole_row();
        const std::string n = b_.count(points_of(row.bits()), "folded");
        walk_.stage(row, n);
        for (const host_walk::cached_value& k : cached_) walk_.declare_cached(k, choice_.room);
        for (const auto& phase : scans_)
            for (const fold_writer& f : phase) walk_.declare_cached(prefixes(f), choice_.room);
        std::span<lane_fold> lanes(lanes_);
        for (std::size_t phase = 0; phase < r_.phases.size(); ++phase) {
            write_phase(phase, lanes.first(folds_[phase].size()));
            lanes = lanes.subspan(folds_[phase].size());
        }
        write_results(row, n);
        walk_.close_block();
        b_.step.describe(choice_);
        b_.add_to(p, "rows");
    }

private:
    void write_phase(std::size_t phase, std::span<lane_fold> lanes) {
        const std::vector<node_id> values = r_.computed_nodes(b_.graph, phase);
        b_.body.hoist(walk_.outer_axes(), values, b_.code);
        folded_space s = space_of(r_);
        for (const fold_writer& f : folds_[phase]) {
            s.reductions.push_back(f.reduction());
            s.values.push_back(f.value());
        }
        std::vector<host_walk::cached_value> now;
        for (std::size_t k = 0; k < cached_.size(); ++k)
            if (choice_.cached[k].phase == phase) now.push_back(cached_[k]);
        if (!s.reductions.empty()) rows_.write(s, "", true, lanes, std::exchange(now, {}));
        if (!scans_[phase].empty()) write_scans(scans_[phase], now);
        b_.step.work.push_back({walk_.kept_axes() | s.bits(), cost_of(b_.graph, values) + r_.phases[phase].size()});
    }

    host_walk::cached_value prefixes(const fold_writer& f) const { return {f.reduction(), f.name() + "_row"}; }

    /// Strip after strip: the scanned values, then the prefixes in their place. A float's sums are joined in double.
    void write_scans(std::vector<fold_writer>& scans, std::vector<host_walk::cached_value> cached) {
        source_writer& out = b_.code;
        folded_space s = space_of(r_);
        std::vector<host_walk::cached_value> made;
        for (fold_writer& f : scans) {
            s.values.push_back(f.value());
            made.push_back(prefixes(f));
            const std::string so_far = f.wide_type() + ' ' + f.name();
            if (walk_.across()) {
                out.line("alignas(64) ", so_far, '[', walk_.strip(), "];");
                out.line("for (int j = 0; j < m; ++j) ", f.name(), "[j] = ", f.wide_start(), ";");
            } else {
                out.line(so_far, " = ", f.wide_start(), ";");
            }
        }
        std::vector<node_id> computed = s.values;
        for (const host_walk::cached_value& k : cached) computed.push_back(k.node);
        cached.insert(cached.begin(), made.begin(), made.end());
        const std::string n = b_.count(points_of(s.bits()), "folded");
        const auto scan_strip = [&] {
            walk_.elements(computed, [&](const std::vector<std::string>& values) {
                for (std::size_t i = 0; i < cached.size(); ++i) out.line(cached[i].to(), " = ", values[i], ";");
            });
            out.open("for (int j = 0; j < m; ++j)");
            for (std::size_t i = 0; i < scans.size(); ++i) {
                fold_writer& f = scans[i];
                const std::string so_far = f.name() + (walk_.across() ? "[j]" : "");
                out.line(so_far, " = ", f.wide_joiner(), "::join(", so_far, ", ", made[i].to(), ");");
                out.line(made[i].to(), " = ", so_far, ";");
            }
            out.close();
        };
        // Copies of strips end with the loop, as the outputs' loop has copies of its own.
        const bool copies = s.axes.size() > 1 || calls_inexact(b_.graph, target::host);
        if (copies) out.open();
        walk_.strips(s, "0", n, computed, scan_strip, cached);
        if (copies) out.close();
    }

    /// The row, with the outputs that have an element for each of its elements.
    folded_space whole_row() const {
        folded_space s = space_of(r_);
        s.outputs = choice_.along_rows;
        return s;
    }

    void write_results(const folded_space& s, const std::string& n) {
        const std::vector<std::size_t>& once = choice_.once_a_row;
        std::vector<node_id> once_roots;
        for (const std::size_t k : once) once_roots.push_back(b_.graph.roots[k]);
        const std::vector<node_id> along_roots = s.computed_nodes(b_.graph);
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

    kernel_builder b_;
    const row_program& r_;
    const row_strips& choice_;
    host_walk walk_;
    row_folds rows_;
    std::vector<std::vector<fold_writer>> folds_, scans_;  // of each phase: reductions, scans
    std::vector<lane_fold> lanes_;                         // of all reductions
    std::vector<host_walk::cached_value> cached_;          // the values that the choice keeps
};

}  // namespace

void emit_row_host(const key& k, const graph& g, const row_program& r, const row_strips& choice, plan& p) {
    host_rows(k, g, r, choice).write(p);
}

}  // namespace ingot::codegen
