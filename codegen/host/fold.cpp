// Folds over bound axes for the host. A block has one row, or a piece of a long one; or, across memory, some
// neighbouring rows at once, or a piece of them. Pieces of rows meet in the scratch, where the last to arrive joins
// them by number: the order of joining depends on the sizes alone, never on the number of threads.
#include <algorithm>

#include "codegen/host/folds.hpp"
#include "codegen/plan/emitters.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class host_fold {
public:
    host_fold(const key& k, const graph& g, const folding& f)
        : b_(k, g),
          spaces_(f.spaces),
          results_(f.results),
          choice_(choose_fold_strips(b_, f)),
          walk_(b_, axes_in(axis_range(0, b_.rank)), choice_),
          rows_(b_, walk_),
          folds_(folds_of(f, g, b_.needs)) {
        for (std::vector<fold_writer>& of_space : folds_)
            for (fold_writer& fold : of_space) {
                lanes_.emplace_back(fold, g, lanes_.size(), walk_.strip(), !walk_.across(), b_.needs);
                words_ += fold.words();
            }
    }

    void write(plan& p) {
        b_.name_scalars();
        std::vector<node_id> values;
        for (const folded_space& s : spaces_) {
            const std::vector<node_id> computed = s.computed_nodes(b_.graph);
            values.insert(values.end(), computed.begin(), computed.end());
        }
        walk_.open_block(values);
        std::span<lane_fold> lanes(lanes_);
        for (std::size_t s = 0; s < spaces_.size(); ++s) {
            const bool only = spaces_.size() == 1;
            if (choice_.stages) walk_.stage(spaces_[s], b_.count(points_of(spaces_[s].bits()), "folded"));
            rows_.write(spaces_[s], only ? "" : std::to_string(s), only, lanes.first(folds_[s].size()));
            lanes = lanes.subspan(folds_[s].size());
        }
        if (walk_.split()) write_finish();
        write_results();
        walk_.close_block();
        std::vector<node_id> roots_of_results;
        for (const std::size_t k : results_) roots_of_results.push_back(b_.graph.roots[k]);
        launch& step = b_.step;
        step.describe(choice_);
        for (const folded_space& s : spaces_)  // the cost of the folded values, and one operation to join each
            step.work.push_back(
                {walk_.kept_axes() | s.bits(), cost_of(b_.graph, s.computed_nodes(b_.graph)) + s.reductions.size()});
        step.work.push_back({walk_.kept_axes(), cost_of(b_.graph, roots_of_results)});
        b_.add_to(p, "reduce");
    }

private:
    /// The slots are as on CUDA: a counter for each row, then one slot for each piece, word and row.
    void write_finish() {
        source_writer& out = b_.code;
        const std::string u8 = b_.needs.type(dtype::u8), rows = b_.count(points_of(walk_.kept_axes()), "rows");
        const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch");
        const std::string row = walk_.first_row(), j = walk_.across() ? " + j" : "";
        b_.step.scratch_count = points_of(walk_.kept_axes()) * b_.step.grid[1];
        b_.step.scratch_bytes = 8 * (words_ + 1);
        b_.needs.add("slots",
                     "/// A block writes its slots of the scratch memory; the finishing block reads and clears them.\n"
                     "template <class type>\nstatic inline void put(uint64* slot, type v) {\n"
                     "    __builtin_memcpy(slot, &v, sizeof v);\n}\n\n"
                     "template <class type>\nstatic inline type take(uint64* slot) {\n"
                     "    type v;\n    __builtin_memcpy(&v, slot, sizeof v);\n    *slot = 0;\n    return v;\n}\n");
        out.line(u8, "* const slots = ", scratch, " + ", rows, " + ", row, ";");
        out.line("const ", u8, " stride = ", u8, '(', rows, ") * ", words_, ";");
        std::uint32_t word = 0;
        for (const lane_fold& l : lanes_)
            for (std::uint32_t i = 0; i < l.fold().words(); ++i)
                out.line(walk_.across() ? "for (int j = 0; j < m; ++j) " : "", "put(slots + piece * stride",
                         slot(word++), j, ", ", l.fold().word(i, rows_.whole(l.fold())), ");");
        out.line("if (__atomic_add_fetch(", scratch, " + ", row, ", 1, __ATOMIC_ACQ_REL) != pieces) continue;");
        out.line(scratch, "[", row, "] = 0;");
        word = 0;
        for (const lane_fold& l : lanes_) {
            fold_writer& f = l.fold();
            std::string taken;
            for (std::uint32_t i = 0; i < f.words(); ++i) {
                const std::string type = walk_.across() && f.words() == 1 ? f.wide_type() : f.word_type(i);
                taken += (i == 0 ? "take<" : ", take<") + type + ">(slots + s * stride" + slot(word++) + j + ')';
            }
            if (f.words() > 1) taken = f.type() + '{' + taken + '}';
            const std::string pieces = "for (" + b_.linear() + " s = 0; s < pieces; ++s)";
            const auto join_to = [&](const std::string& name) {
                return name + " = " + f.wide_joiner() + "::join(" + name + ", " + taken + ");";
            };
            if (walk_.across()) {
                rows_.start(f);
                out.line(pieces);
                out.line("    for (int j = 0; j < m; ++j) ", join_to(rows_.whole(f)));
            } else {
                out.line(f.wide_type(), ' ', f.whole(), " = ", f.wide_start(), ";");
                out.line(pieces, ' ', join_to(f.whole()));
                out.line(f.name(), " = ", f.wide_type() == f.type() ? f.whole() : f.type() + '(' + f.whole() + ')',
                         ";");
            }
        }
    }
    std::string slot(std::uint32_t i) { return i == 0 ? "" : " + " + std::to_string(i) + " * p.rows"; }

    void write_results() {
        if (walk_.across()) return walk_.store_rows(results_);
        for (const std::size_t k : results_)
            b_.code.line("*(", b_.pointer(b_.outputs[k]), b_.offset(b_.outputs[k], walk_.kept_axes()),
                         ") = ", b_.body.value(b_.graph.roots[k], b_.code), ";");
    }

    kernel_builder b_;
    const std::vector<folded_space>& spaces_;
    const std::vector<std::size_t>& results_;
    const fold_strips choice_;
    host_walk walk_;
    row_folds rows_;
    std::vector<std::vector<fold_writer>> folds_;  // of each space
    std::vector<lane_fold> lanes_;                 // of all folds
    std::uint32_t words_ = 0;                      // of scratch for a row's partial results
};

}  // namespace

void emit_fold_host(const key& k, const graph& g, const folding& f, plan& p) { host_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
