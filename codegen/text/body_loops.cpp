// Loops of a thread's own, for folds that the thread computes itself. Parts that do not change in a loop are written
// before it: values, rows of arrays in registers, and, for a thread with several elements, arrays of values. The loop
// over such elements is the innermost one, so that what is constant over them is loaded and computed once.
#include <algorithm>

#include "codegen/text/body.hpp"
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

std::uint64_t body_writer::elements() const {
    return from_ == nullptr || from_->choice().along < 0 ? 0 : std::uint64_t{1} << from_->choice().along;
}

void body_writer::write_folds(const std::vector<node_id>& roots, source_writer& out) {
    load_rows(unnamed_below(roots), out);
    write_needed(roots, static_cast<node_id>(graph_.nodes.size()), out);
}

void body_writer::open_elements(source_writer& out) {
    from_->open_elements(out);
    outside_elements_ = names_;
    open_ |= elements();
}

void body_writer::close_elements(source_writer& out) {
    out.close();
    open_ &= ~elements();
    names_ = outside_elements_;
}

/// Loads the rows that move along no loop that is still to be opened, except the row's own.
void body_writer::load_rows(const std::vector<bool>& below, source_writer& out) {
    for (const loop_choice::row& r : from_->choice().rows) {
        const std::uint64_t others = graph_.nodes[r.operand].axes & ~(std::uint64_t{1} << r.axis);
        if (!below[r.operand] || !names_.rows[r.operand].empty() || (others & loops_ & ~open_) != 0) continue;
        std::string& first = names_.rows[r.like];
        if (first.empty()) {
            first = "row" + std::to_string(r.like);
            from_->load_row(r, first, out);
        }
        names_.rows[r.operand] = first;
    }
}

/// "row4[i2]"
std::string body_writer::row_element(node_id operand) const {
    const loop_choice::row& r = *from_->choice().row_of(operand);
    const std::string digit = from_->element_digit(), i = 'i' + std::to_string(r.axis);
    if (r.window) return names_.rows[operand] + '[' + digit + " + " + i + ']';
    const std::string element = '[' + digit + ']', at = '[' + i + ']';
    return names_.rows[operand] + (r.axis == from_->choice().along ? element : r.each ? element + at : at);
}

/// The fold and those that one loop can compute with it: over the same axes, none of them using another.
std::vector<node_id> body_writer::fused_folds(node_id fold, const std::vector<bool>& required) const {
    std::vector<node_id> fused{fold};
    const std::vector<int> loops = from_->loops_of(fold);
    for (node_id i = fold + 1; i < graph_.nodes.size(); ++i) {
        const node& n = graph_.nodes[i];
        if (!required[i] || has_name(i) || n.kind != node_kind::thread_fold || !is_in_open_loops(i)) continue;
        if (from_->loops_of(i) != loops) continue;
        const std::vector<bool> below = unnamed_below({n.arguments[0]});
        bool ready = true;
        for (node_id b = 0; b < i; ++b)
            ready = ready && !(below[b] && graph_.nodes[b].kind == node_kind::thread_fold && !has_name(b) &&
                               is_in_open_loops(b));
        if (ready) fused.push_back(i);
    }
    return fused;
}

/// Keeps in arrays the values that differ between elements but not in the loop to be opened for `values`.
void body_writer::keep_elements(const std::vector<node_id>& values, source_writer& out) {
    const std::vector<bool> below = unnamed_below(values);
    const auto stays = [&](node_id i) {
        const node_kind kind = graph_.nodes[i].kind;
        return below[i] && !has_name(i) && is_in_open_loops(i) && has_elements(i) &&
               (kind == node_kind::map || kind == node_kind::cast || kind == node_kind::user);
    };
    std::vector<bool> cached(below.size());  // the cached values that the loop reads
    for (const node_id v : values) cached[v] = stays(v);
    for (node_id i = 0; i < below.size(); ++i)
        for (int a = 0; a < graph_.nodes[i].arity && below[i] && !stays(i); ++a)
            if (const node_id of = graph_.nodes[i].arguments[a]; stays(of)) cached[of] = true;
    std::vector<node_id> all;
    for (node_id i = 0; i < cached.size(); ++i)
        if (cached[i]) all.push_back(i);
    if (all.empty()) return;
    const auto name_of_cached = [](node_id i) { return "cached" + std::to_string(i); };
    for (const node_id i : all)
        out.line(needs_.type(graph_.nodes[i].type), ' ', name_of_cached(i), '[', from_->choice().elements, "];");
    const std::string element = '[' + from_->element_digit() + ']';
    open_elements(out);
    for (const node_id i : all) {
        const std::string of_one = value(i, out);
        out.line(name_of_cached(i), element, " = ", of_one, ";");
        name(i, of_one);
    }
    close_elements(out);
    for (const node_id i : all) name(i, name_of_cached(i) + element);
}

/// The loop of some folds. A sum of many floats is split into sums of 64, so that its error stays small.
void body_writer::write_loop(const std::vector<node_id>& folds, source_writer& out) {
    constexpr std::uint32_t part = 64;
    const loop_choice& choice = from_->choice();
    const auto all = static_cast<node_id>(graph_.nodes.size());
    std::vector<node_id> values;
    for (const node_id f : folds) values.push_back(graph_.nodes[f].arguments[0]);
    load_rows(unnamed_below(values), out);
    write_needed(values, all, out);  // the values that do not change in the loop
    if (elements() != 0) keep_elements(values, out);
    const std::vector<bool> below = unnamed_below(values);

    const std::vector<int> axes = from_->loops_of(folds[0]);
    const std::string type = from_->digit_type();
    std::vector<fold_writer> writers;
    bool in_parts = false, is_long = false, have_elements = false;
    for (const node_id f : folds) {
        const fold_writer& w = writers.emplace_back(graph_, f, f, needs_);
        in_parts = in_parts || (w.rounds() && !from_->is_short(f));
        is_long = is_long || !from_->is_short(f);
        have_elements = have_elements || has_elements(f);
    }
    const std::uint32_t lanes = is_long && (open_ & loops_) == 0 ? choice.lanes : 1;
    const std::uint64_t of_elements = elements() & ~open_;
    const auto is_whole = [&](const fold_writer& w) { return in_parts && w.rounds(); };
    const auto each = [&](const fold_writer& w) { return (graph_.nodes[w.reduction()].axes & of_elements) != 0; };
    const auto of_element = [&](const fold_writer& w, const std::string& name) {
        return each(w) ? name + '[' + from_->element_digit() + ']' : name;
    };
    /// Calls `write` for all folds; those that have several elements inside a loop over these.
    const auto for_folds = [&](const auto& write) {
        for (fold_writer& w : writers)
            if (!each(w)) write(w);
        if (!have_elements) return;
        open_elements(out);
        for (fold_writer& w : writers)
            if (each(w)) write(w);
        close_elements(out);
    };
    const auto declare = [&](bool parts) {
        const auto type_of = [&](fold_writer& w) { return parts || !is_whole(w) ? w.type() : w.wide_type(); };
        const auto start_of = [&](fold_writer& w) { return parts || !is_whole(w) ? w.start() : w.wide_start(); };
        const auto name_of = [&](const fold_writer& w) { return parts ? w.part() : w.name(); };
        const auto is_meant = [&](const fold_writer& w) { return !parts || is_whole(w); };
        for (fold_writer& w : writers)
            if (is_meant(w) && each(w)) {
                const std::string of = type_of(w);
                out.line(of, ' ', name_of(w), '[', choice.elements, "];");
            }
        for_folds([&](fold_writer& w) {
            if (!is_meant(w)) return;
            const std::string of = each(w) ? "" : type_of(w) + ' ', first = start_of(w);
            out.line(of, of_element(w, name_of(w)), " = ", first, ";");
        });
    };

    const names outside = names_;
    std::uint64_t own = 0, opened = open_;
    for (const int a : axes) own |= std::uint64_t{1} << a;
    open_ |= own;
    for (node_id i = 0; i < all; ++i)
        if (below[i] && (graph_.nodes[i].axes & own) != 0 && is_at_hand(i) && from_->is_drawn_in_groups(i))
            from_->declare_group(i, out);
    for (node_id i = 0; i < all; ++i)
        if (below[i] && graph_.nodes[i].kind == node_kind::thread_scan && is_at_hand(i)) {
            fold_writer f(graph_, i, i, needs_);
            out.line(f.type(), ' ', f.name(), " = ", f.start(), ";");
        }
    declare(false);
    const bool counts = axes.size() > 1 && std::ranges::any_of(writers, &fold_writer::is_arg_reduction);
    const std::string at = axes.size() > 1 ? "at" + std::to_string(folds[0]) : "i" + std::to_string(axes[0]);
    if (counts) out.line(type, ' ', at, " = 0;");  // places over several axes are counted
    for (std::size_t a = 0; a < axes.size(); ++a) {
        const std::string digit = "i" + std::to_string(axes[a]), n = from_->turns(axes[a]);
        const std::string first = lanes > 1 ? from_->lane() : "0";
        const auto open = [&](const std::string& i, const std::string& begin, const std::string& end,
                              std::uint32_t step) {
            const std::string next = step == 1 ? "++" + i : i + " += " + std::to_string(step);
            out.open("for (", type, ' ', i, " = ", begin, "; ", i, " < ", end, "; ", next, ")");
        };
        if (in_parts && a + 1 == axes.size()) {
            const std::string span = std::to_string(part * lanes);
            open("from", first, n, part * lanes);
            declare(true);
            out.line("const ", type, " to = ", n, " - from < ", span, " ? ", n, " : from + ", span, ";");
            open(digit, "from", "to", lanes);
        } else {
            if ((choice.unrolled >> axes[a] & 1u) != 0) out.margin("#pragma unroll");
            open(digit, first, n, lanes);
        }
        // Rows along the loops still to be opened.
        opened |= std::uint64_t{1} << axes[a];
        open_ = opened;
        load_rows(below, out);
    }
    if (have_elements) write_needed(values, all, out);
    for_folds([&](fold_writer& w) {
        const std::string element = w.element(value(w.value(), out), at),
                          to = of_element(w, is_whole(w) ? w.part() : w.name());
        out.line(to, " = ", w.joined(to, element), ";");
    });
    if (counts) out.line("++", at, ";");
    for (std::size_t a = axes.size(); a-- > 0;) {
        out.close();
        if (!in_parts || a + 1 != axes.size()) continue;
        for_folds([&](fold_writer& w) {
            if (!is_whole(w)) return;
            const std::string joiner = w.wide_joiner(), to = of_element(w, w.name());
            out.line(to, " = ", joiner, "::join(", to, ", ", of_element(w, w.part()), ");");
        });
        out.close();
    }
    open_ &= ~own;
    names_ = outside;
    if (lanes > 1)
        for_folds([&](fold_writer& w) {
            const std::string joiner = is_whole(w) ? w.wide_joiner() : w.joiner(), to = of_element(w, w.name());
            const std::string joined = from_->joined_lanes(w, joiner, to);
            out.line(to, " = ", joined, ";");
        });
    for (fold_writer& w : writers) {
        const std::string result = needs_.type(graph_.nodes[w.reduction()].type), of = of_element(w, w.name());
        names_.values[w.reduction()] = is_whole(w) ? result + '(' + of + ')' : w.result(of);
    }
}

}  // namespace ingot::codegen
