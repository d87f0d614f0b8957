// Row programs for CUDA, in one kernel and one read: a row lies in the registers of its lanes, by the choice
// (cuda/row/register_rows.hpp), from its loads (cuda/row/elements.hpp) to its stores. Loops over a lane's elements are
// unrolled, so arrays are registers; chunks behind the row's end are skipped, and elements past the end are the fold's
// start. A scan's prefixes replace the scanned values: within a chunk one after the other, then joined in a tree with
// the prefix ahead of the chunk, among lanes and among warps, in an order that the key alone decides.
#include <algorithm>

#include "codegen/cuda/join.hpp"
#include "codegen/cuda/kernel.hpp"
#include "codegen/cuda/row/row_program.hpp"
#include "codegen/graph/reduction.hpp"

namespace ingot::codegen {

using namespace detail;

cuda_rows::cuda_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice)
    : row_elements(k, g, r, choice), exchange_(b_, choice_) {
    std::size_t number = 0;
    for (const std::vector<node_id>& phase : r.phases) {
        std::vector<fold_writer>&folds = folds_.emplace_back(), &scans = scans_.emplace_back();
        for (const node_id fold : phase)
            (g.nodes[fold].kind == node_kind::scan ? scans : folds).emplace_back(g, fold, number++, b_.needs);
    }
}

void cuda_rows::write(plan& p) {
    b_.name_scalars();
    b_.declare_outside_indices();
    if (choice_.rows_per_thread > 1) {
        load_rows();
    } else {
        write_position();
        find_gathered();
        read_constant();
        exchange_.begin(folds_);
        load();
        load_deferred();
        prefetch_rows();
        exchange_.meet();
        await_loads();
    }
    const auto await_deferred = [&](std::size_t phase) {
        if (!choice_.held.deferred_loads.empty() && phase == choice_.held.deferred_phase) b_.wait_for_copies();
    };
    for (std::size_t phase = 0; phase < folds_.size(); ++phase) {
        await_deferred(phase);
        write_folds(phase);
        for (fold_writer& f : folds_[phase]) b_.body.name(f.reduction(), f.result());
        exchange_.write(folds_[phase]);
        scan_rows(phase);
        hoist();
    }
    await_deferred(folds_.size());
    write_outputs();
    if (choice_.rows_per_thread > 1) b_.code.close();
    launch& step = b_.step;
    step.cluster = choice_.cluster;
    step.shared_bytes = choice_.shared_bytes();
    const formula outer = points_of(choice_.run() ? r_.kept_bits() & ~axis_bit(r_.kept_axes.back()) : r_.kept_bits());
    step.grid[0] = ceil_divide(outer, choice_.fitted() ? fitted_rows() : choice_.rows_per_block);
    step.describe(choice_);
    count_work();
    b_.finish(p, "rows", choice_.threads, step.shape.resident_blocks);
}

void cuda_rows::count_work() {
    std::uint32_t along = 0, still = 0;
    for (const node& n : b_.graph.nodes) {
        if (n.kind == node_kind::map)
            ((n.axes & r_.row_bits()) != 0 ? along : still) += facts(static_cast<op>(n.code)).cost;
        if (n.kind == node_kind::reduce || n.kind == node_kind::scan) ++along;
    }
    b_.step.work = {{r_.kept_bits() | r_.row_bits(), along}, {r_.kept_bits(), still}};
}

void cuda_rows::load_rows() {
    for (const array_argument& leaf : leaves_)
        if (is_stream(leaf))
            b_.code.line(b_.needs.type(leaf.at->head.type), ' ', leaf.name, '[', choice_.rows_per_thread, "][",
                         choice_.chunks, "];");
    b_.open_unrolled("r", choice_.rows_per_thread);
    write_position();
    load_streams();
    b_.code.close();
    b_.open_unrolled("r", choice_.rows_per_thread);
    write_position();
    read_constant();
}

void cuda_rows::prefetch_rows() {
    if (choice_.loads.prefetch_share == 0) return;
    constexpr std::uint32_t line_bytes = 128;
    source_writer& out = b_.code;
    const formula resident = min(points_of(r_.kept_bits()), choice_.resident_blocks * processors());
    const std::string type = b_.linear(), blocks = b_.count(resident, "resident"), all = rows(), end = length();
    out.open("if (const ", type, " next = row + ", blocks, " / ", choice_.loads.prefetch_share * choice_.cluster,
             "; next < ", all, ")");
    b_.write_digits("next", r_.kept_axes);
    for (const array_argument& leaf : leaves_) {
        if (!is_stream(leaf) || !is_packed(*leaf.at, b_.graph, r_)) continue;
        const std::uint32_t line = line_bytes / bytes_of(leaf);
        out.open("for (", u4(), " at = ", lane_, " * ", line, "; at < ", end, "; at += ", choice_.lanes * line, ")");
        b_.write_digits("at", r_.row);
        out.line("prefetch(", b_.pointer(leaf), b_.offset(leaf, all_axes()), ");");
        out.close();
    }
    out.close();
    b_.needs.add("prefetch",
                 b_.function("Prefetches a line of memory into the second-level cache.", "template <class type>\n") +
                     "void prefetch(const type* at) {\n"
                     "    asm volatile(\"prefetch.global.L2 [%0];\" ::\"l\"(at));\n}\n");
}

void cuda_rows::find_gathered() {
    for (const unravelling& u : b_.unravellings) {
        read_still(b_.body.required_by({u.index}));
        const std::string index = b_.body.value(u.index, b_.code);
        b_.code.line("const ", b_.signed_index(), ' ', digit(u.axes[0]), " = ", b_.gathered_index(u, index), ";");
    }
    b_.report_outside_indices();
}

void cuda_rows::read_constant() {
    read_still(std::vector<bool>(b_.graph.nodes.size(), true));
    if (choice_.shifted) write_shift();
    hoist();
}

void cuda_rows::read_still(const std::vector<bool>& required) {
    source_writer& out = b_.code;
    for (const array_argument& leaf : leaves_) {
        if (along_row(leaf.node) || !required[leaf.node] || b_.body.has_name(leaf.node)) continue;
        out.line("const ", b_.needs.type(leaf.at->head.type), ' ', leaf.name, " = ", one(leaf, still_axes()), ";");
        b_.body.name(leaf.node, leaf.name);
    }
}

void cuda_rows::hoist() {
    std::vector<node_id> values;
    for (std::size_t phase = 0; phase <= folds_.size(); ++phase) {
        const std::vector<node_id> computed = r_.computed_nodes(b_.graph, phase);
        values.insert(values.end(), computed.begin(), computed.end());
    }
    b_.body.hoist(still_axes(), values, b_.code);
}

// Phases.

bool cuda_rows::has_quick_bodies(const std::vector<node_id>& values) const {
    const std::vector<bool> required = b_.body.required_by(values);
    for (node_id i = 0; i < required.size() && b_.key.header.math != math_mode::fast; ++i)
        if (required[i] && along_row(i) && !b_.body.has_name(i) && has_quick_body(b_.graph.nodes[i])) return true;
    return false;
}

std::vector<node_id> cuda_rows::newly_cached(const std::vector<node_id>& values) const {
    const std::vector<bool> below = nodes_below(b_.graph, values);
    std::vector<node_id> cached;
    for (const node_id n : choice_.held.cached)
        if (below[n] && !b_.body.has_name(n)) cached.push_back(n);
    return cached;
}

void cuda_rows::write_folds(std::size_t phase) {
    source_writer& out = b_.code;
    std::vector<fold_writer>&folds = folds_[phase], &scans = scans_[phase];
    const std::vector<node_id> values = r_.computed_nodes(b_.graph, phase);
    const std::vector<node_id> cached = newly_cached(values);
    for (const node_id n : cached) declare(b_.graph.nodes[n].type, cached_name(n), false);
    for (fold_writer& f : scans) declare(b_.graph.nodes[f.reduction()].type, f.name(), false);
    for (fold_writer& f : folds) out.line(f.type(), ' ', f.part(), '[', choice_.chunks, "];");
    const auto outside = b_.body.scope();
    open_chunks();
    const std::string present = is_present();
    if (!present.empty()) out.open("if (", present, ")");
    load_unheld(values);
    if (choice_.each > 1)
        for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].type(), ' ', value(i), of_chunk(), ";");
    std::vector<std::string> elements;
    b_.compute(has_quick_bodies(values), [&] {
        open_elements();
        for (const node_id n : cached) {
            out.line(cached_name(n), along_, " = ", b_.body.value(n, out), ";");
            b_.body.name(n, cached_name(n) + along_);
        }
        for (std::size_t i = 0; i < folds.size(); ++i) {
            fold_writer& f = folds[i];
            const std::string element = f.element(b_.body.value(f.value(), out), position());
            if (choice_.each == 1) {
                out.line(f.part(), "[u] = ", element, ";");
                elements.push_back(element);
                continue;
            }
            out.line(value(i), "[e] = ", element, ";");
        }
        for (fold_writer& f : scans) out.line(f.name(), along_, " = ", b_.body.value(f.value(), out), ";");
        close_elements();
    });
    if (choice_.each > 1) {
        out.open("if (!(", is_whole(), "))");
        open_elements();
        for (std::size_t i = 0; i < folds.size(); ++i) drop_outside(folds[i], value(i) + "[e]");
        for (fold_writer& f : scans) drop_outside(f, f.name() + along_);
        close_elements();
        out.close();
    }
    for (fold_writer& f : scans) scan_elements(f, "e", choice_.each, f.name() + "[u]");
    if (choice_.each > 1)
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line(folds[i].part(), "[u] = ", b_.join_pairs(folds[i].joiner(), choice_.each, value(i)), ";");
    if (!present.empty()) {
        out.otherwise();
        // A fold that joins held values takes no further register.
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line(choice_.each == 1 && is_held(elements[i]) ? elements[i] + " = " : "", folds[i].part(),
                     "[u] = ", folds[i].start(), ";");
        if (!scans.empty()) {
            open_elements();
            for (fold_writer& f : scans) out.line(f.name(), along_, " = ", f.start(), ";");
            close_elements();
        }
        out.close();
    }
    out.close();
    b_.body.leave(outside);
    for (const node_id n : cached) b_.body.name(n, cached_name(n) + along_);
    for (fold_writer& f : folds) {
        const std::uint32_t pairs = choice_.shifted && choice_.chunks > 1 ? choice_.chunks - 1 : choice_.chunks;
        std::string all = b_.join_pairs(f.joiner(), pairs, f.part());
        if (pairs < choice_.chunks) all = f.joined(all, f.part() + '[' + std::to_string(pairs) + ']');
        out.line(f.type(), ' ', f.name(), " = ", all, ";");
    }
}

void cuda_rows::drop_outside(fold_writer& f, const std::string& element) {
    b_.code.line("if (!(", is_inside(), ")) ", element, " = ", f.start(), ";");
}

/// Joins each of n elements with the one before it.
void cuda_rows::scan_elements(fold_writer& f, const char* index, std::uint32_t n, const std::string& of) {
    if (n == 1) return;
    b_.code.margin("#pragma unroll");
    b_.code.open("for (unsigned int ", index, " = 1; ", index, " < ", n, "; ++", index, ")");
    const std::string element = of + '[' + index;
    b_.code.line(element, "] = ", f.joined(element + " - 1]", element + ']'), ";");
    b_.code.close();
}

void cuda_rows::scan_rows(std::size_t phase) {
    source_writer& out = b_.code;
    const std::uint32_t warps = choice_.lanes / 32;
    for (fold_writer& f : scans_[phase]) {
        const std::string type = f.type(), fold = f.joiner(), before = "before_" + f.name();
        b_.body.name(f.reduction(), f.name() + along_);
        if (choice_.lanes == 1 && choice_.each == 1) {
            scan_elements(f, "u", choice_.chunks, f.name());
            continue;
        }
        out.line(type, ' ', before, '[', choice_.chunks, "];");
        b_.open_unrolled("u", choice_.chunks);
        out.line(before, "[u] = ", f.name(),
                 choice_.each > 1 ? "[u][" + std::to_string(choice_.each - 1) + "];" : "[u];");
        out.close();
        if (choice_.lanes > 32) {
            out.line("__shared__ ", type, " parts_", f.name(), '[', choice_.chunks * warps, "];");
            out.line(scan_block(b_.needs), '<', fold, ", ", warps, ">(", before, ", ", f.start(), ", parts_", f.name(),
                     ");");
        } else {
            out.line(scan_lanes(b_.needs), '<', fold, ", ", choice_.lanes, ">(", before, ", ", f.start(), ", ", lane_,
                     ");");
        }
        b_.open_unrolled("u", choice_.chunks);
        open_elements();
        out.line(f.name(), along_, " = ", f.joined(before + "[u]", f.name() + along_), ";");
        close_elements();
        out.close();
    }
}

bool cuda_rows::is_held(const std::string& element) const {
    const auto names = [&](const std::string& held) { return element == held + "[u]"; };
    return std::ranges::any_of(leaves_,
                               [&](const array_argument& leaf) { return is_stream(leaf) && names(leaf.name); }) ||
           std::ranges::any_of(choice_.held.cached, [&](node_id n) { return names(cached_name(n)); });
}

std::string cuda_rows::cached_name(node_id n) const {
    const auto at = std::find(choice_.held.cached.begin(), choice_.held.cached.end(), n);
    return "cached" + std::to_string(at - choice_.held.cached.begin());
}

void cuda_rows::write_outputs() {
    source_writer& out = b_.code;
    std::vector<const array_argument*> along, still;
    std::vector<node_id> values;
    for (const array_argument& z : b_.outputs) {
        (along_row(z) ? along : still).push_back(&z);
        if (along_row(z)) values.push_back(b_.graph.roots[z.index]);
    }
    std::string idle = shares_block() ? "mine >= " + rows() : "";
    // The elements of a thread beyond the lanes are stored by another thread.
    if (choice_.has_columns() && (choice_.fitted() || choice_.threads % choice_.columns() != 0))
        idle += (idle.empty() ? "down == height" : " || down == height");
    if (!idle.empty()) out.line("if (", idle, choice_.rows_per_thread > 1 ? ") break;" : ") return;");
    const auto outside = b_.body.scope();
    if (!along.empty()) write_along(along, values);
    b_.body.leave(outside);
    if (still.empty()) return;
    if (!choice_.has_one_lane()) out.open("if (", lane_, " == 0)");
    for (const array_argument* z : still)
        b_.store_element(*z, b_.offset(*z, r_.kept_bits()), b_.body.value(b_.graph.roots[z->index], out));
    if (!choice_.has_one_lane()) out.close();
}

void cuda_rows::write_along(const std::vector<const array_argument*>& outputs, const std::vector<node_id>& values) {
    source_writer& out = b_.code;
    open_chunks();
    leave_absent();
    load_unheld(values);
    for (const array_argument* z : outputs) {
        const std::string type = b_.needs.type(z->at->head.type);
        out.line(packed(*z) ? "alignas(" + std::to_string(bytes_of(*z) * choice_.each) + ") " : "", type, ' ', z->name,
                 of_chunk(), ";");
    }
    b_.compute(has_quick_bodies(values), [&] {
        open_elements();
        for (const array_argument* z : outputs)
            out.line(z->name, of_element(), " = ", b_.body.value(b_.graph.roots[z->index], out), ";");
        close_elements();
    });
    std::vector<const array_argument*> vectors, singles;
    for (const array_argument* z : outputs) (packed(*z) ? vectors : singles).push_back(z);
    const auto store_elements = [&](const std::vector<const array_argument*>& some) {
        open_elements();
        open_inside();
        b_.write_digits(position(), r_.row);
        for (const array_argument* z : some) b_.store_element(*z, b_.offset(*z, all_axes()), z->name + of_element());
        close_inside();
        close_elements();
    };
    for (const std::vector<const array_argument*>& some : by_fit(vectors)) {
        out.open("if (", is_vector(*some[0]), ")");
        b_.write_digits("at", r_.row);
        for (const array_argument* z : some)
            out.line(b_.storer(), '<', word_of(bytes_of(*z) * choice_.each), ">(", b_.pointer(*z),
                     b_.offset(*z, all_axes()), ", ", z->name, ");");
        out.otherwise();
        store_elements(some);
        out.close();
    }
    if (!singles.empty()) store_elements(singles);
    out.close();
}

void emit_register_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice, plan& p) {
    if (choice.chunks_at_once > 1)
        emit_grouped_rows(k, g, r, choice, p);
    else
        cuda_rows(k, g, r, choice).write(p);
}

}  // namespace ingot::codegen
