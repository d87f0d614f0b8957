// Folds over bound axes for the host. A block is one row, or where rows are long a piece of one; what it folds goes
// through strips of a fixed length whose lanes are joined side by side, so the system's compiler vectorises both the
// tree before the fold and the fold itself, and an element's bits do not depend on its place.
//
// Pieces of a row meet in the scratch, where whichever comes last joins them by their number: the order of joining
// depends on the sizes alone, never on the number of threads.
#include <algorithm>

#include "codegen/fold.hpp"
#include "codegen/reduction.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t strip = 256, lanes = 64;
constexpr std::uint32_t piece_elements = 1u << 15;
constexpr std::uint8_t piece_bucket = 12;  // rows of more than piece_elements

class host_fold {
public:
    host_fold(const key& k, const graph& g, const folding& f)
        : b_(k, g), spaces_(f.spaces), folds_(folds_of(f, g, b_.needs)) {
        for (std::size_t s = 0; s < spaces_.size(); ++s) {
            split_ = split_ || spaces_[s].bucket >= piece_bucket;
            for (const fold_writer& fold : folds_[s]) words_ += fold.words();
        }
    }

    void write(plan& p) {
        b_.name_scalars();
        open_block();
        for (std::size_t s = 0; s < spaces_.size(); ++s) write_space(s);
        if (split_) write_finish();
        write_results();
        b_.code.close();
        launch& step = b_.step;
        step.kernel = "reduce";
        step.threads = 1;
        step.pattern = split_ ? "split reduction" : "row reduction";
        step.reason = split_ ? "pieces of rows, " + std::to_string(piece_elements) + " elements each" : "a block a row";
        for (const folded_space& s : spaces_)  // what is folded, and an operation to join it
            step.work.push_back({kept_bits() | s.bits(), cost_of(b_.graph, s.values) + s.reductions.size()});
        step.work.push_back({kept_bits(), b_.cost});
        p.source = b_.assemble(
            p.expression,
            "extern \"C\" void reduce(const arguments* given, unsigned long long begin, unsigned long long end)");
        p.steps.push_back(std::move(step));
    }

private:
    /// An array or a random leaf that moves within a space. Of a random leaf the strip holds the numbers of elements.
    struct input {
        place at;
        std::string type;
        bool random;
    };

    std::uint64_t kept_bits() const { return axis_range(0, b_.rank); }
    std::uint64_t loops_of(node_id n) const { return b_.graph.nodes[n].axes; }
    std::string numbered(const char* name, std::size_t i) const { return name + std::to_string(i); }

    void open_block() {
        source_writer& out = b_.code;
        const std::string index = b_.linear();
        b_.step.grid[0] = {.axes = kept_bits()};
        out.line("const arguments& p = *given;");
        if (split_) {
            const formula pieces{.inner = longest().bits(), .inner_divide = piece_elements};
            out.line("const ", index, " pieces = ", b_.count(pieces, "row_pieces"), ";");
            b_.step.grid[0].inner = pieces.inner;
            b_.step.grid[0].inner_divide = piece_elements;
            b_.step.scratch_count = b_.step.grid[0];
            b_.step.scratch_bytes = static_cast<std::uint32_t>(8 * (words_ + 1));
        }
        out.open("for (", index, " block = ", index, "(begin); block < end; ++block)");
        if (split_) out.line("const ", index, " piece = block % pieces;");
        if (b_.rank > 0) {
            out.line(b_.rank > 1 ? "" : "const ", index, " row = block", split_ ? " / pieces" : "", ";");
            if (split_ && b_.rank > 1) out.line("const ", index, " slot = row;");
            std::vector<int> kept;
            for (int a = 0; a < b_.rank; ++a) kept.push_back(a);
            write_digits("row", kept);
        }
        for (const place& in : b_.inputs) {
            if ((loops_of(in.node) & ~kept_bits()) != 0) continue;
            out.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = *(", b_.pointer(in),
                     b_.offset(in, kept_bits()), ");");
            b_.body.name(in.node, in.name);
        }
        for (const node_id g : b_.generators)
            if ((loops_of(g) & ~kept_bits()) == 0)
                b_.body.name(g, b_.generator_name(g) + '(' + b_.generator_key(g) + ", " +
                                    b_.generator_index(g, kept_bits()) + ')');
        std::vector<node_id> values;
        for (const folded_space& s : spaces_) values.insert(values.end(), s.values.begin(), s.values.end());
        b_.body.hoist(kept_bits(), values, out);
    }

    /// The digits of the variable `linear`, which is used up.
    void write_digits(const std::string& linear, const std::vector<int>& axes) {
        const std::string type = b_.signed_index();
        for (std::size_t k = axes.size(); k-- > 1;) {
            const std::string n = b_.count({.axes = axis_bit(axes[k])}, "n" + std::to_string(axes[k]));
            b_.code.line("const ", type, ' ', digit(axes[k]), " = ", type, '(', linear, " % ", n, ");");
            b_.code.line(linear, " /= ", n, ";");
        }
        if (!axes.empty()) b_.code.line("const ", type, ' ', digit(axes[0]), " = ", type, '(', linear, ");");
    }

    const folded_space& longest() const {
        return *std::max_element(spaces_.begin(), spaces_.end(),
                                 [](const folded_space& a, const folded_space& b) { return a.bucket < b.bucket; });
    }

    std::vector<input> inputs_of(const folded_space& s) {
        const std::vector<bool> below = nodes_below(b_.graph, s.values);
        std::vector<input> inputs;
        const auto take = [&](const place& at, dtype type, bool random) {
            input& in = inputs.emplace_back();
            in.at = at;
            in.type = b_.needs.type(type);
            in.random = random;
        };
        for (const place& in : b_.inputs)
            if (below[in.node] && (loops_of(in.node) & s.bits()) != 0) take(in, in.at->head.type, false);
        for (const node_id g : b_.generators) {
            const std::uint16_t i = b_.graph.nodes[g].index;
            if (below[g] && (loops_of(g) & s.bits()) != 0)
                take({&b_.key.operands[i], b_.names[i], i, false, g}, dtype::i8, true);
        }
        return inputs;
    }

    std::string start_of(const input& in, std::uint64_t axes) {
        return in.random ? b_.generator_index(in.at.node, axes) : b_.pointer(in.at) + b_.offset(in.at, axes);
    }
    /// The input's element `by` steps along the space's inner axis from where all its digits are those of now.
    std::string further(const input& in, const folded_space& s, const std::string& by) {
        const std::string along = b_.offset(in.at, axis_bit(s.inner()));  // " + i1 * p.x0_stride1", or nothing
        const std::string at = start_of(in, kept_bits() | s.bits()) +
                               (along.empty() ? "" : " + " + by + along.substr(3 + digit(s.inner()).size()));
        return in.random ? at : "*(" + at + ')';
    }
    std::string element(const input& in, const std::string& value) {
        return in.random ? b_.generator_name(in.at.node) + '(' + b_.generator_key(in.at.node) + ", " + value + ')'
                         : value;
    }

    void write_space(std::size_t number) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        const std::string suffix = spaces_.size() == 1 ? "" : std::to_string(number);
        const std::string n = b_.count({.axes = s.bits()}, "folded" + suffix);
        for (fold_writer& f : folds_[number]) {
            out.line(f.type(), ' ', f.name(), " = ", f.start(), ";");
            b_.body.name(f.reduction(), f.result());
        }
        const auto outside = b_.body.scope();
        if (s.bucket <= 1) {
            write_short(number, n);
        } else {
            write_strips(number, n);
        }
        b_.body.leave(outside);
    }

    void write_short(std::size_t number, const std::string& n) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        out.open("for (", b_.linear(), " k = ", split_ ? "piece != 0 ? " + n + " : 0" : "0", "; k < ", n, "; ++k)");
        if (s.axes.size() > 1) out.line(b_.linear(), " rest = k;");
        write_digits(s.axes.size() > 1 ? "rest" : "k", s.axes);
        for (const input& in : inputs_of(s)) {
            out.line("const ", in.type, ' ', in.at.name, " = ", further(in, s, "0"), ";");
            b_.body.name(in.at.node, element(in, in.at.name));
        }
        for (fold_writer& f : folds_[number])
            out.line(f.name(), " = ", f.joined(f.name(), f.element(b_.body.value(f.value(), out), "k")), ";");
        out.close();
    }

    void write_strips(std::size_t number, const std::string& n) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        std::vector<fold_writer>& folds = folds_[number];
        const std::string index = b_.linear(), length = std::to_string(strip);
        const std::vector<input> inputs = inputs_of(s);
        out.open();
        for (std::size_t i = 0; i < folds.size(); ++i) {
            out.line("alignas(64) ", folds[i].type(), ' ', numbered("lanes", i), '[', lanes, "];");
            out.line("for (int l = 0; l < ", lanes, "; ++l) ", numbered("lanes", i), "[l] = ", folds[i].start(), ";");
        }
        for (const input& in : inputs) out.line("alignas(64) ", in.type, ' ', in.at.name, "_copy[", length, "] = {};");
        const std::string first_piece = split_ ? "piece * " + std::to_string(piece_elements) : "0";
        const std::string next_piece = split_ ? "pieces * " + std::to_string(piece_elements) : n;
        if (split_) {
            out.open("for (", index, " from = ", first_piece, "; from < ", n, "; from += ", next_piece, ")");
            out.line("const ", index, " to = ", n, " - from < ", piece_elements, " ? ", n, " : from + ", piece_elements,
                     ";");
            out.open("for (", index, " first = from; first < to; first += ", length, ")");
            write_strip(number, inputs, "to");
            out.close();
            out.close();
        } else {
            out.open("for (", index, " first = 0; first < ", n, "; first += ", length, ")");
            write_strip(number, inputs, n);
            out.close();
        }
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string lane = numbered("lanes", i);
            out.line("for (int half = ", lanes / 2, "; half > 0; half /= 2)");
            out.line("    for (int l = 0; l < half; ++l) ", lane,
                     "[l] = ", folds[i].joined(lane + "[l]", lane + "[l + half]"), ";");
            out.line(folds[i].name(), " = ", lane, "[0];");
        }
        out.close();
    }

    void write_strip(std::size_t number, const std::vector<input>& inputs, const std::string& to) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        std::vector<fold_writer>& folds = folds_[number];
        const std::string length = std::to_string(strip);
        out.line("const int m = ", to, " - first < ", length, " ? int(", to, " - first) : ", length, ";");
        if (s.axes.size() == 1) {
            out.line("const ", b_.signed_index(), ' ', digit(s.inner()), " = ", b_.signed_index(), "(first);");
            for (const input& in : inputs) read_strip(in, s);
        } else {
            read_runs(s, inputs);
        }
        const auto outside = b_.body.scope();
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line("alignas(64) ", folds[i].type(), ' ', numbered("value", i), '[', length, "];");
        b_.declare_independent();
        out.open("for (int j = 0; j < ", length, "; ++j)");
        for (const input& in : inputs) b_.body.name(in.at.node, element(in, in.at.name + "_strip[j]"));
        for (std::size_t i = 0; i < folds.size(); ++i)
            out.line(numbered("value", i),
                     "[j] = ", folds[i].element(b_.body.value(folds[i].value(), out), "first + j"), ";");
        out.close();
        b_.body.leave(outside);
        for (std::size_t i = 0; i < folds.size(); ++i) {
            const std::string v = numbered("value", i), lane = numbered("lanes", i) + "[l]";
            out.line("for (int j = m; j < ", length, "; ++j) ", v, "[j] = ", folds[i].start(), ";");
            const std::string near = folds[i].joined(v + "[l]", v + "[l + 64]");
            const std::string far = folds[i].joined(v + "[l + 128]", v + "[l + 192]");
            out.line("for (int l = 0; l < ", lanes, "; ++l) ", lane, " = ",
                     folds[i].joined(lane, folds[i].joined(near, far)), ";");
        }
    }

    /// One axis: a whole strip of a contiguous input is read in place.
    void read_strip(const input& in, const folded_space& s) {
        source_writer& out = b_.code;
        const std::string copy = in.at.name + "_copy";
        bool unit = !in.random;
        for (std::size_t a = 0; a < in.at.at->strides.size(); ++a)
            unit = unit && !(b_.graph.loop_axis[a] == s.inner() && in.at.at->strides[a] == stride_class::strided);
        const std::string loop =
            std::string("for (int j = 0; j < ") + (in.random ? std::to_string(strip) : "m") + "; ++j) ";
        if (unit) {
            out.line("if (m < ", strip, ") ", loop, copy, "[j] = ", further(in, s, "j"), ";");
            out.line("const ", in.type, "* const ", in.at.name, "_strip = m < ", strip, " ? ", copy, " : ",
                     start_of(in, kept_bits() | s.bits()), ";");
        } else {
            out.line(loop, copy, "[j] = ", further(in, s, "j"), ";");
            out.line("const ", in.type, "* const ", in.at.name, "_strip = ", copy, ";");
        }
    }

    /// Several axes: runs along the inner one, copied one after the other until the strip is full.
    void read_runs(const folded_space& s, const std::vector<input>& inputs) {
        source_writer& out = b_.code;
        const std::string inner = b_.count({.axes = axis_bit(s.inner())}, "n" + std::to_string(s.inner()));
        out.line("int filled = 0;");
        out.open("while (filled < m)");
        out.line(b_.linear(), " rest = first + filled;");
        write_digits("rest", s.axes);
        out.line("const int left = m - filled;");
        out.line("const int run = int(", inner, " - ", digit(s.inner()), ") < left ? int(", inner, " - ",
                 digit(s.inner()), ") : left;");
        for (const input& in : inputs)
            out.line("for (int j = 0; j < run; ++j) ", in.at.name, "_copy[filled + j] = ", further(in, s, "j"), ";");
        out.line("filled += run;");
        out.close();
        for (const input& in : inputs)
            out.line("const ", in.type, "* const ", in.at.name, "_strip = ", in.at.name, "_copy;");
    }

    /// Slots as on CUDA: a counter a row, then one for each piece, word and row.
    void write_finish() {
        source_writer& out = b_.code;
        const std::string u8 = b_.needs.type(dtype::u8), rows = b_.count({.axes = kept_bits()}, "rows");
        const std::string scratch = b_.arguments.member({argument_kind::scratch_pointer}, u8 + '*', "scratch");
        const std::string row = b_.rank == 0 ? "0" : b_.rank == 1 ? "row" : "slot";
        b_.needs.add("slots",
                     "/// A slot of the scratch: written by one block, read and cleared by the one that finishes.\n"
                     "template <class type>\nstatic inline void put(uint64* slot, type v) {\n"
                     "    __builtin_memcpy(slot, &v, sizeof v);\n}\n\n"
                     "template <class type>\nstatic inline type take(uint64* slot) {\n"
                     "    type v;\n    __builtin_memcpy(&v, slot, sizeof v);\n    *slot = 0;\n    return v;\n}\n");
        out.line(u8, "* const slots = ", scratch, " + ", rows, " + ", row, ";");
        out.line("const ", u8, " stride = ", u8, '(', rows, ") * ", words_, ";");
        std::uint32_t word = 0;
        for (const std::vector<fold_writer>& folds : folds_)
            for (const fold_writer& f : folds)
                for (std::uint32_t i = 0; i < f.words(); ++i)
                    out.line("put(slots + piece * stride", slot(word++), ", ", f.word(i), ");");
        out.line("if (__atomic_add_fetch(", scratch, " + ", row, ", 1, __ATOMIC_ACQ_REL) != pieces) continue;");
        out.line(scratch, "[", row, "] = 0;");
        word = 0;
        for (std::vector<fold_writer>& folds : folds_)
            for (fold_writer& f : folds) {
                out.line(f.wide_type(), ' ', f.whole(), " = ", f.wide_start(), ";");
                std::string taken;
                for (std::uint32_t i = 0; i < f.words(); ++i)
                    taken +=
                        (i == 0 ? "take<" : ", take<") + f.word_type(i) + ">(slots + s * stride" + slot(word++) + ')';
                if (f.places()) taken = f.type() + '{' + taken + '}';
                out.line("for (", b_.linear(), " s = 0; s < pieces; ++s) ", f.whole(), " = ", f.wide_joiner(),
                         "::join(", f.whole(), ", ", taken, ");");
                out.line(f.name(), " = ", f.wide_type() == f.type() ? f.whole() : f.type() + '(' + f.whole() + ')',
                         ";");
            }
    }
    std::string slot(std::uint32_t i) { return i == 0 ? "" : " + " + std::to_string(i) + " * p.rows"; }

    void write_results() {
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            b_.code.line("*(", b_.pointer(b_.outputs[k]), b_.offset(b_.outputs[k], kept_bits()),
                         ") = ", b_.body.value(b_.graph.roots[k], b_.code), ";");
    }

    kernel_builder b_;
    const std::vector<folded_space>& spaces_;
    std::vector<std::vector<fold_writer>> folds_;  // of each space
    std::uint32_t words_ = 0;                      // of scratch for a row's partial results
    bool split_ = false;
};

}  // namespace

void emit_fold_host(const key& k, const graph& g, const folding& f, plan& p) { host_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
