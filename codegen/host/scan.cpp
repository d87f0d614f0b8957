// Scans for the host, with the trees before and after them. A block is a row, folded element by element from the left;
// where rows are long, a piece of a row; where memory runs across the rows (columns), a strip of rows side by side.
//
// Pieces of a row begin in order: a counter in the scratch numbers them, so a piece waits only for a piece that runs. A
// piece is folded first, then joined to its predecessor's fold, then scanned from there while the caches still hold it.
// Every prefix is one left fold, whatever the threads and the timing.
//
// Functions of the mathematical library round differently when vectorised: where one is called, elements go through
// whole vectors (host/loops.hpp), so their bits never depend on their places.
#include <algorithm>

#include "codegen/host/choice.hpp"
#include "codegen/host/loops.hpp"
#include "codegen/plan/emitters.hpp"
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class host_scan {
public:
    host_scan(const key& k, const graph& g, const scanning& s)
        : b_(k, g),
          s_(s),
          choice_(choose_scan_strips(b_, s)),
          split_(choice_.how == scan_strips::layout::pieces),
          line_(choice_.line),
          strip_(choice_.strip),
          folds_(folds_of(s, g, b_.needs)) {}

    void write(plan& p) {
        b_.name_scalars();
        open_block();
        read_fixed();
        if (split_) {
            write_piece();
        } else if (columns()) {
            write_columns();
        } else {
            declare_folds();
            write_row("0", b_.count(points_of(s_.bit()), "scanned"), true);
        }
        b_.code.close();
        launch& step = b_.step;
        step.describe(choice_);
        step.work.push_back({all_bits(), cost_of(b_.graph, s_.values) + s_.scans.size() + b_.cost});
        b_.add_to(p, "scan");
    }

private:
    /// An array or a random leaf that moves along the line. The copy of a random leaf holds the numbers of elements.
    struct input {
        std::string name, type, at;
        node_id node;
        bool random;
    };

    bool columns() const { return choice_.how == scan_strips::layout::columns; }
    std::uint64_t all_bits() const { return axis_range(0, b_.rank); }
    std::uint64_t fixed_bits() const { return all_bits() & ~s_.bit() & ~axis_bit(line_); }
    std::uint64_t loops_of(node_id n) const { return b_.graph.nodes[n].axes; }
    std::string numbered(const char* name, std::size_t i) const { return name + std::to_string(i); }

    void open_block() {
        source_writer& out = b_.code;
        const std::string index = b_.linear();
        const bool in_pieces = split_ || columns();
        const formula pieces =
            in_pieces ? ceil_divide(points_of(axis_bit(line_)), split_ ? choice_.piece : strip_) : formula();
        b_.step.grid[0] = points_of(fixed_bits()) * pieces;
        out.line("const arguments& p = *given;");
        if (in_pieces) out.line("const ", index, " pieces = ", b_.count(pieces, "row_pieces"), ";");
        out.open("for (", index, " block = ", index, "(begin); block < end; ++block)");
        std::string row = "block";
        if (split_) {
            const std::string u8 = b_.needs.type(dtype::u8);
            const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch");
            out.line("const ", index, " ticket = ", index, "(__atomic_fetch_add(", scratch, ", 1, __ATOMIC_RELAXED));");
            row = "ticket";
        }
        if (in_pieces) {
            out.line("const ", index, " piece = ", row, " % pieces;");
            row += " / pieces";
        }
        std::vector<int> fixed = axes_without(b_.rank, s_.axis);
        std::erase(fixed, line_);
        if (!fixed.empty()) out.line(fixed.size() > 1 ? "" : "const ", index, " row = ", row, ";");
        for (std::size_t k = fixed.size(); k-- > 1;) {
            const std::string n = b_.extent(fixed[k]), type = b_.signed_index();
            out.line("const ", type, ' ', digit(fixed[k]), " = ", type, "(row % ", n, ");");
            out.line("row /= ", n, ";");
        }
        if (!fixed.empty())
            out.line("const ", b_.signed_index(), ' ', digit(fixed[0]), " = ", b_.signed_index(), "(row);");
    }

    /// Reads the operands that move along no other axes and have no name yet: all, or those that the folds need.
    void read(std::uint64_t axes, bool everything = true) {
        const std::vector<bool> below = nodes_below(b_.graph, s_.values);
        const auto required = [&](node_id n) {
            return (everything || below[n]) && !b_.body.has_name(n) && (loops_of(n) & ~axes) == 0;
        };
        for (const array_argument& in : b_.inputs) {
            if (!required(in.node)) continue;
            const std::string element = "*(" + b_.pointer(in) + b_.offset(in, axes) + ')';
            b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ",
                         b_.needs.element(in.at->head.type, element), ";");
            b_.body.name(in.node, in.name);
        }
        for (const node_id g : b_.generators)
            if (required(g)) b_.body.name(g, b_.generator_call(g, b_.generator_index(g, axes)));
    }
    void read_fixed() {
        read(fixed_bits());
        std::vector<node_id> roots = s_.values;
        roots.insert(roots.end(), b_.graph.roots.begin(), b_.graph.roots.end());
        b_.body.hoist(fixed_bits(), roots, b_.code);
    }

    /// The variables of the folds so far; a float's sums are joined in double.
    void declare_folds() {
        for (fold_writer& f : folds_) b_.code.line(f.wide_type(), ' ', f.name(), " = ", f.wide_start(), ";");
    }
    std::string so_far(const fold_writer& f, const std::string& index) const {
        return f.name() + (columns() ? '[' + index + ']' : "");
    }
    std::string result(fold_writer& f, const std::string& index) const {
        const std::string value = so_far(f, index);
        return f.wide_type() == f.type() ? value : f.type() + '(' + value + ')';
    }
    void join(fold_writer& f, const std::string& index, const std::string& value) {
        const std::string now = so_far(f, index);
        b_.code.line(now, " = ", f.wide_joiner(), "::join(", now, ", ", value, ");");
    }

    /// Elements [from, to) of the line, or of a row. `results`: the outputs are stored too.
    void write_row(const std::string& from, const std::string& to, bool results) {
        if (choice_.whole_vectors) return write_strips(from, to, results);
        const auto outside = b_.body.scope();
        const std::string i = digit(line_), index = columns() ? i + " - first" : i;
        const std::string type = b_.signed_index();
        if (columns()) b_.declare_independent();
        b_.code.open("for (", type, ' ', i, " = ", type, '(', from, "); ", i, " < ", type, '(', to, "); ++", i, ")");
        read(all_bits(), results);
        for (fold_writer& f : folds_) {
            join(f, index, b_.body.value(f.value(), b_.code));
            b_.body.name(f.reduction(), result(f, index));
        }
        if (results) write_results();
        b_.code.close();
        b_.body.leave(outside);
    }
    /// All values are computed before the first store, as an output may be an input's own array.
    void write_results() {
        std::vector<std::string> values;
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            values.push_back(b_.body.value(b_.graph.roots[k], b_.code));
            if (b_.outputs.size() == 1) break;
            b_.code.line("const ", b_.needs.type(b_.outputs[k].at->head.type), ' ', numbered("r", k), " = ",
                         values.back(), ";");
            values.back() = numbered("r", k);
        }
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.code.line("*(", b_.pointer(b_.outputs[k]), b_.offset(b_.outputs[k], all_bits()), ") = ", values[k], ";");
    }

    void write_strips(const std::string& from, const std::string& to, bool results) {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        const std::string type = b_.signed_index(), length = std::to_string(strip_), i = digit(line_);
        const std::vector<input> inputs = inputs_of(results);
        if (!columns())
            out.open("for (", type, " first = ", type, '(', from, "); first < ", type, '(', to, "); first += ", length,
                     ")");
        out.line("const int m = ", type, '(', to, ") - first < ", length, " ? int(", type, '(', to,
                 ") - first) : ", length, ";");
        for (const input& in : inputs) out.line("alignas(64) ", in.type, ' ', in.name, "_copy[", length, "] = {};");
        if (!inputs.empty()) {
            out.open("for (int j = 0; j < m; ++j)");
            out.line("const ", type, ' ', i, " = first + j;");
            for (const input& in : inputs) out.line(in.name, "_copy[j] = ", in.at, ";");
            out.close();
        }
        for (const input& in : inputs)
            b_.body.name(in.node, in.random ? b_.generator_call(in.node, in.name + "_copy[j]")
                                            : b_.needs.element(b_.graph.nodes[in.node].type, in.name + "_copy[j]"));
        for (std::size_t f = 0; f < folds_.size(); ++f)
            out.line("alignas(64) ", folds_[f].type(), ' ', numbered("value", f), '[', length, "];");
        const auto before = b_.body.scope();
        open_whole_vectors(b_);
        for (std::size_t f = 0; f < folds_.size(); ++f)
            out.line(numbered("value", f), "[j] = ", b_.body.value(folds_[f].value(), out), ";");
        close_whole_vectors(b_);
        b_.body.leave(before);
        out.open("for (int j = 0; j < m; ++j)");
        for (std::size_t f = 0; f < folds_.size(); ++f) {
            join(folds_[f], "j", numbered("value", f) + "[j]");
            if (results) out.line(numbered("value", f), "[j] = ", result(folds_[f], "j"), ";");
            b_.body.name(folds_[f].reduction(), numbered("value", f) + "[j]");
        }
        out.close();
        if (results) write_strip_results(type, i);
        if (!columns()) out.close();
        b_.body.leave(outside);
    }

    void write_strip_results(const std::string& type, const std::string& i) {
        source_writer& out = b_.code;
        const auto outside = b_.body.scope();
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            out.line("alignas(64) ", b_.needs.type(b_.outputs[k].at->head.type), ' ', numbered("r", k), '[', strip_,
                     "];");
        open_whole_vectors(b_);
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            out.line(numbered("r", k), "[j] = ", b_.body.value(b_.graph.roots[k], out), ";");
        close_whole_vectors(b_);
        b_.body.leave(outside);
        out.open("for (int j = 0; j < m; ++j)");
        out.line("const ", type, ' ', i, " = first + j;");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            out.line("*(", b_.pointer(b_.outputs[k]), b_.offset(b_.outputs[k], all_bits()), ") = ", numbered("r", k),
                     "[j];");
        out.close();
    }

    /// The inputs that move along the line: all, or those that the folds need.
    std::vector<input> inputs_of(bool results) {
        const std::vector<bool> below = nodes_below(b_.graph, s_.values);
        std::vector<input> inputs;
        for (const array_argument& in : b_.inputs)
            if ((results || below[in.node]) && (loops_of(in.node) & axis_bit(line_)) != 0)
                inputs.push_back({in.name, b_.needs.type(in.at->head.type),
                                  "*(" + b_.pointer(in) + b_.offset(in, all_bits()) + ')', in.node, false});
        for (const node_id g : b_.generators)
            if ((results || below[g]) && (loops_of(g) & axis_bit(line_)) != 0)
                inputs.push_back({b_.names[b_.graph.nodes[g].index], b_.needs.type(dtype::i8),
                                  b_.generator_index(g, all_bits()), g, true});
        return inputs;
    }

    void write_columns() {
        source_writer& out = b_.code;
        const std::string type = b_.signed_index(), n = b_.extent(line_), along = digit(s_.axis);
        out.line("const ", type, " first = ", type, "(piece * ", strip_, ");");
        out.line("const ", type, " last = ", type, '(', n, ") - first < ", strip_, " ? ", type, '(', n, ") : first + ",
                 strip_, ";");
        for (fold_writer& f : folds_) {
            out.line("alignas(64) ", f.wide_type(), ' ', f.name(), '[', strip_, "];");
            out.line("for (int j = 0; j < ", strip_, "; ++j) ", f.name(), "[j] = ", f.wide_start(), ";");
        }
        const auto outside = b_.body.scope();
        out.open("for (", type, ' ', along, " = 0; ", along, " < ", type, '(', b_.extent(s_.axis), "); ++", along, ")");
        read(all_bits() & ~axis_bit(line_));
        write_row("first", "last", true);
        out.close();
        b_.body.leave(outside);
    }

    /// Scratch: a counter of pieces begun, one of pieces done, then for each piece a flag and the folds up to its end.
    void write_piece() {
        source_writer& out = b_.code;
        const std::string index = b_.linear(), u8 = b_.needs.type(dtype::u8);
        const std::string n = b_.count(points_of(s_.bit()), "scanned"), length = std::to_string(choice_.piece);
        const auto words = static_cast<std::uint32_t>(1 + folds_.size());
        b_.step.scratch_bytes = 8 * (words + 2);
        b_.step.scratch_count = b_.step.grid[0];
        declare_turns();
        out.line("const ", index, " from = piece * ", length, ", to = ", n, " - from < ", length, " ? ", n,
                 " : from + ", length, ";");
        out.line(u8, "* const left = p.scratch + 2 + ", u8, "(ticket) * ", words, ";");
        declare_folds();
        write_row("from", "to", false);
        for (fold_writer& f : folds_) out.line(f.wide_type(), ' ', f.whole(), " = ", f.name(), ";");
        for (fold_writer& f : folds_) out.line(f.name(), " = ", f.wide_start(), ";");
        out.open("if (piece != 0)");
        out.line("wait_for(left - ", words, ");");
        for (std::size_t f = 0; f < folds_.size(); ++f) {
            fold_writer& fold = folds_[f];
            out.line("__builtin_memcpy(&", fold.name(), ", left - ", words - 1 - f, ", sizeof ", fold.name(), ");");
            out.line(fold.whole(), " = ", fold.wide_joiner(), "::join(", fold.name(), ", ", fold.whole(), ");");
        }
        out.close();
        for (std::size_t f = 0; f < folds_.size(); ++f)
            out.line("__builtin_memcpy(left + ", f + 1, ", &", folds_[f].whole(), ", sizeof ", folds_[f].whole(), ");");
        out.line("__atomic_store_n(left, 1, __ATOMIC_RELEASE);");
        write_row("from", "to", true);
        const std::string blocks = b_.count(b_.step.grid[0], "blocks");
        out.line("if (__atomic_add_fetch(p.scratch + 1, 1, __ATOMIC_ACQ_REL) != ", blocks, ") continue;");
        out.line("__builtin_memset(p.scratch, 0, ", u8, "(", blocks, ") * ", 8 * words, " + 16);");
    }
    void declare_turns() {
        b_.needs.add("wait_for",
                     "extern \"C\" int sched_yield(void) noexcept;\n"
                     "/// Waits until the flag is set; the thread that sets it is already running.\n"
                     "static inline void wait_for(const uint64* flag) {\n"
                     "    for (int turns = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0; ++turns)\n"
                     "        if (turns % 1024 == 0) sched_yield();\n}\n");
    }

    kernel_builder b_;
    const scanning& s_;
    const scan_strips choice_;
    const bool split_;  // rows are cut into pieces
    const int line_;
    const std::uint32_t strip_;
    std::vector<fold_writer> folds_;
};

}  // namespace

void emit_scan_host(const key& k, const graph& g, const scanning& s, plan& p) { host_scan(k, g, s).write(p); }

}  // namespace ingot::codegen
