// The map kernel for CUDA that does several steps of a stencil over one array. A warp has a strip of columns, a few for
// each lane, and rolls down some rows of it. Each step reads a ring of as many rows as its views span, in registers: a
// row that arrives from memory enters the first ring, the row that the first step computes from that ring enters the
// second, and the row of the last step is stored. Columns of neighbours come by shuffles.
//
// A strip's outermost columns lack neighbours: each step leaves fewer correct columns, so strips overlap by the reach
// of all steps together, and so do a warp's rows with those above and below. The elements around the result, which no
// step writes, keep their values through all rings; values computed there, or where rows and columns were not read, are
// dropped. Values of a step are made opaque before the next step takes them, so that they are rounded as if stored: the
// bits are those of one kernel a step.
#include <algorithm>

#include "codegen/cuda/map/stencil_steps.hpp"

#include <ingot/core/error.hpp>

namespace ingot::codegen {

namespace {

using namespace detail;

/// Parameters measured on GPUs.
struct tuning {
    std::uint32_t threads = 128;
    std::uint32_t ahead = 3;            // rows in flight while one is computed
    std::uint32_t unrolled = 3;         // rows in the text of one turn: rings then turn without moves
    std::uint32_t least_rows = 16;      // of a warp
    std::uint32_t most_rows = 128;      // more rows share the overlap, fewer leave more warps
    std::uint32_t resident_warps = 24;  // of a multiprocessor: with more, warps take more rows
    std::uint32_t most_registers = 128;
};
constexpr tuning tuned;

struct stepped_view {
    const array_argument* in;
    int down, along;  // from the computed element
};

std::string plus(int n) { return (n < 0 ? " - " : " + ") + std::to_string(std::abs(n)); }

class stencil_steps {
public:
    explicit stencil_steps(cuda_kernel& b)
        : b_(b), inner_(b.rank - 1), steps_(static_cast<int>(b.key.iteration.steps)) {
        find_views();
        const std::uint32_t words = std::max(1u, bytes_of(first()) / 4), bytes = bytes_of(first());
        const auto rows = static_cast<std::uint32_t>(steps_ * span()) + tuned.ahead;
        std::uint32_t each = std::min(8u, 16 / bytes);
        while (each > 1 && each * rows * words > tuned.most_registers) each /= 2;
        const auto statements = [&](std::uint32_t unrolled) {
            return unrolled * static_cast<std::uint32_t>(steps_) * each * b.cost;
        };
        while (each > 1 && statements(1) > statement_budget) each /= 2;
        unrolled_ = statements(tuned.unrolled) > statement_budget ? 1 : tuned.unrolled;
        each_ = static_cast<int>(each);
        const auto whole_vectors = [&](int columns) { return (columns + each_ - 1) / each_ * each_; };
        before_ = whole_vectors(steps_ * left_), behind_ = whole_vectors(steps_ * right_);
        valid_ = 32 * each_ - before_ - behind_;
    }

    void write(plan& p) {
        b_.name_scalars();
        b_.read_constants(all_axes());
        b_.body.hoist(0, b_.graph.roots, b_.code);
        locate_thread();
        declare_load();
        roll();
        finish(p);
    }

    kernel_shape shape() const {
        kernel_shape s;
        s.name = "stencil";
        s.threads = tuned.threads;
        s.each = static_cast<std::uint32_t>(each_);
        s.read_ahead = tuned.ahead;
        return s;
    }
    std::string_view pattern() const { return "map"; }
    std::string reason() const {
        return std::to_string(steps_) + " steps a kernel: a warp rolls down " + std::to_string(valid_) +
               " columns and has the rows of every step in registers, so that an array is read and written once";
    }

private:
    std::uint64_t all_axes() const { return axis_range(0, b_.rank); }
    std::uint64_t batch_axes() const { return axis_range(0, inner_) & ~axis_bit(down_axis_); }
    const array_argument& first() const { return *views_.front().in; }
    const array_argument& output() const { return b_.outputs[0]; }
    int span() const { return above_ + 1 + below_; }
    int width() const { return left_ + each_ + right_; }
    std::string type() { return b_.needs.type(output().at->head.type); }
    std::string rows_name() const { return first().name + "_rows"; }
    std::string rows_below(const array_argument& at, const std::string& rows) {
        return b_.needs.type(dtype::i8) + '(' + rows + ") * " + b_.stride(at, down_axis_);
    }

    // The stepped array.

    /// Steps beyond the iteration's base on every axis; empty for another array.
    std::vector<std::int8_t> steps_beyond(const array_argument& in) const {
        const std::uint16_t base = b_.key.iteration.base, view = in.at->head.same_as;
        if (view == base) return std::vector<std::int8_t>(static_cast<std::size_t>(b_.rank));
        for (const view_relation& r : b_.key.relations)
            if (r.operand == view && r.base == base) return r.steps;
        return {};
    }
    bool is_stepped(const array_argument& in) const {
        return std::ranges::any_of(views_, [&](const stepped_view& v) { return v.in->node == in.node; });
    }

    void find_views() {
        const std::vector<std::int8_t>& beyond = b_.key.iteration.beyond;
        const auto from_result = [&](const array_argument& in, int axis) {
            const auto a = static_cast<std::size_t>(axis);
            return steps_beyond(in)[a] - beyond[a];
        };
        down_axis_ = inner_ - 1;
        for (const array_argument& in : b_.inputs)
            for (int a = 0; a < inner_; ++a)
                if (!steps_beyond(in).empty() && from_result(in, a) != 0) down_axis_ = a;
        for (const array_argument& in : b_.inputs) {
            if (steps_beyond(in).empty()) continue;
            const stepped_view v{&in, from_result(in, down_axis_), from_result(in, inner_)};
            above_ = std::max(above_, -v.down), below_ = std::max(below_, v.down);
            left_ = std::max(left_, -v.along), right_ = std::max(right_, v.along);
            views_.push_back(v);
        }
        if (views_.empty()) throw error("[iterate] a step that reads nothing of what it steps is no stencil");
    }

    // The place of a lane.

    void locate_thread() {
        source_writer& out = b_.code;
        const std::string linear = b_.linear(), number = b_.signed_index();
        const formula columns = points_of(axis_bit(inner_)), lines = points_of(axis_bit(down_axis_));
        const formula across = ceil_divide(columns + static_cast<std::uint64_t>(each_ - 1), valid_u());
        const formula batch = points_of(batch_axes());
        const formula even = ceil_divide(lines * across * batch, processors() * tuned.resident_warps);
        const formula rows = max(tuned.least_rows, min(tuned.most_rows, even));
        const formula strips = ceil_divide(lines, rows);
        const formula all = across * strips * batch;
        b_.step.grid[0] = ceil_divide(all, tuned.threads / 32);
        out.line("const ", linear, " strip = (", b_.thread_index(tuned.threads), ") / 32;");
        out.line("if (strip >= ", b_.count(all, "all_strips"), ") return;");
        out.line("const int lane = int(threadIdx.x % 32);");
        out.line("const ", linear, " line = quotient(strip, ", b_.divisor(across, "by_across"), ");");
        std::string down = "line";
        if (batch_axes() != 0) {
            out.line("const ", linear, " other = quotient(line, ", b_.divisor(strips, "by_strips"), ");");
            b_.write_digits("other", axes_in(batch_axes()));
            down = "(line - other * " + b_.count(strips, "strips") + ')';
        }
        out.line("const ", number, " row = ", number, '(', down, ") * ", number, '(', b_.count(rows, "rows_each"),
                 ");");
        out.line("const int rows = int(min(", number, '(', b_.count(rows, "rows_each"), "), ",
                 b_.signed_extent(down_axis_), " - row));");
        // The element of the stepped array at the result's first element.
        const std::vector<std::int8_t> own = steps_beyond(first());
        const auto to_result = [&](int axis) {
            const auto a = static_cast<std::size_t>(axis);
            return b_.key.iteration.beyond[a] - own[a];
        };
        out.line("const ", type(), "* const ", first().name, "_at = ", b_.pointer(first()),
                 b_.offset(first(), batch_axes()), " + ",
                 rows_below(first(), "row" + (to_result(down_axis_) != 0 ? plus(to_result(down_axis_)) : "")),
                 to_result(inner_) != 0 ? plus(to_result(inner_)) : "", ";");
        out.line(type(), "* const ", output().name, "_at = ", b_.pointer(output()), b_.offset(output(), batch_axes()),
                 " + ", rows_below(output(), "row"), ";");
        out.line("// Vectors of columns start at aligned addresses; the first vector may start before the row.");
        const std::string first_column = number + "(strip - line * " + b_.count(across, "across") + ") * " +
                                         std::to_string(valid_) + " + (lane * " + std::to_string(each_) + " - " +
                                         std::to_string(before_) + ')';
        const std::string element = std::to_string(bytes_of(first())), each = std::to_string(each_);
        const std::string address = "reinterpret_cast<" + b_.needs.type(dtype::u8) + ">(";
        out.line(
            "const ", number, " column = ", first_column,
            each_ == 1 ? "" : " - " + number + '(' + address + first().name + "_at) / " + element + " % " + each + ')',
            ";");
        out.line("// Tests whether all columns of a lane exist and its rows are aligned.");
        out.line("const bool reads_whole = column >= ", -left_, " && column", plus(each_ - right_),
                 " <= ", b_.signed_extent(inner_), " && ", b_.stride(first(), down_axis_), " % ", each_, " == 0 && ",
                 address, first().name, "_at + column) % ", bytes_of(first()) * static_cast<std::uint32_t>(each_),
                 " == 0;");
        out.line("const bool writes = lane >= ", before_ / each_, " && lane < ", 32 - behind_ / each_, ";");
        out.line("const bool writes_whole = column >= 0 && column + ", each_, " <= ", b_.signed_extent(inner_), " && ",
                 b_.stride(output(), down_axis_), " % ", each_, " == 0 && ", address, output().name, "_at + column) % ",
                 bytes_of(output()) * static_cast<std::uint32_t>(each_), " == 0;");
        out.line("bool in_column[", each_, "];");
        out.margin("#pragma unroll");
        out.line("for (int e = 0; e < ", each_, "; ++e) in_column[e] = column + e >= 0 && column + e < ",
                 b_.signed_extent(inner_), ";");
    }
    std::uint64_t valid_u() const { return static_cast<std::uint64_t>(valid_); }

    // Rows.

    /// Loads a row that many rows below the warp's first, where some view reads it.
    void declare_load() {
        source_writer& out = b_.code;
        const array_argument& in = first();
        const std::uint32_t bytes = bytes_of(in) * static_cast<std::uint32_t>(each_);
        const std::string number = b_.signed_index();
        out.line("const auto load = [&](", type(), " (&to)[", each_, "], int r) {");
        out.line("    if (r >= rows + ", steps_ * below_, " || row + r < ", -above_,
                 " || row + r >= ", b_.signed_extent(down_axis_), " + ", below_, ") return;");
        out.line("    const ", type(), "* const from = ", in.name, "_at + column + ", rows_below(in, "r"), ";");
        out.line("    if (reads_whole) return ", b_.loader(reading::again, word_of(bytes, in.at->head.type)), '<',
                 word_of(bytes, in.at->head.type), ">(to, from);");
        out.margin("#pragma unroll");
        out.line("    for (int e = 0; e < ", each_, "; ++e)");
        out.line("        if (column + e >= ", -left_, " && column + e < ", b_.signed_extent(inner_), " + ", right_,
                 ") to[e] = ", has_intrinsics(output().at->head.type) ? "__ldg(from + e)" : "from[e]", ";");
        out.line("};");
    }

    void roll() {
        source_writer& out = b_.code;
        const int first_row = -steps_ * above_, ahead = static_cast<int>(tuned.ahead);
        out.line("// The rows that each step reads: the lane's own columns and the adjacent ones.");
        out.line(type(), ' ', rows_name(), '[', steps_, "][", span(), "][", width(), "] = {};");
        out.line("alignas(", bytes_of(first()) * static_cast<std::uint32_t>(each_), ") ", type(), " next[", each_,
                 "], arriving[", ahead, "][", each_, "] = {};");
        out.margin("#pragma unroll");
        out.line("for (int a = 0; a < ", ahead, "; ++a) load(arriving[a], a", plus(first_row), ");");
        out.margin("#pragma unroll 1");
        out.open("for (int begin = ", first_row, "; begin < rows + ", steps_ * below_, "; begin += ", unrolled_, ")");
        b_.open_unrolled("turn", unrolled_);
        out.line("const int j = begin + int(turn);");
        take_row(ahead);
        b_.open_unrolled("s", static_cast<std::uint32_t>(steps_));
        move_up();
        step();
        out.close();
        store();
        out.close();
        out.close();
    }

    void take_row(int ahead) {
        source_writer& out = b_.code;
        out.margin("#pragma unroll");
        out.line("for (int e = 0; e < ", each_, "; ++e) next[e] = arriving[0][e];");
        out.margin("#pragma unroll");
        out.line("for (int a = 0; a < ", ahead - 1, "; ++a)");
        out.margin("#pragma unroll");
        out.line("    for (int e = 0; e < ", each_, "; ++e) arriving[a][e] = arriving[a + 1][e];");
        out.line("load(arriving[", ahead - 1, "], j + ", ahead, ");");
    }

    /// Moves a row into the ring of step s, with the columns beside it.
    void move_up() {
        source_writer& out = b_.code;
        const std::string ring = rows_name() + "[s]", last = ring + '[' + std::to_string(span() - 1) + ']';
        if (span() > 1) {
            out.margin("#pragma unroll");
            out.line("for (int r = 0; r < ", span() - 1, "; ++r)");
            out.margin("#pragma unroll");
            out.line("    for (int k = 0; k < ", width(), "; ++k) ", ring, "[r][k] = ", ring, "[r + 1][k];");
        }
        for (int k = 0; k < width(); ++k) {
            const int column = k - left_, lanes = column >= 0 ? column / each_ : -((each_ - 1 - column) / each_);
            const std::string own = "next[" + std::to_string(column - lanes * each_) + ']';
            out.line(last, '[', k, "] = ", lanes == 0 ? own : from_lane() + '(' + own + ", lane" + plus(lanes) + ')',
                     ";");
        }
    }
    std::string from_lane() {
        b_.needs.add("of_lane",
                     b_.function("Returns the value of another lane; the result is arbitrary if there is no such lane.",
                                 "template <class type>\n") +
                         "type of_lane(type v, int lane) {\n"
                         "    if constexpr (sizeof(type) < 4) return type(__shfl_sync(~0u, unsigned(v), "
                         "lane & 31));\n"
                         "    else return __shfl_sync(~0u, v, lane & 31);\n}\n");
        return "of_lane";
    }

    // Elements.

    /// Writes into `next` the row that step s computes from its ring.
    void step() {
        source_writer& out = b_.code;
        const std::string number = b_.signed_index();
        out.line("const ", number, " r = row + (j - (int(s) + 1) * ", below_, ");");
        out.line("const bool in_row = r >= 0 && r < ", b_.signed_extent(down_axis_), ";");
        for (const stepped_view& v : views_)
            b_.body.name(v.in->node, rows_name() + "[s][" + std::to_string(above_ + v.down) + "][e" +
                                         (left_ + v.along != 0 ? plus(left_ + v.along) : "") + ']');
        read_others();
        out.line(type(), " made[", each_, "];");
        b_.compute(b_.has_quick_bodies(), [&] {
            b_.open_unrolled("e", static_cast<std::uint32_t>(each_));
            out.line("made[e] = ", b_.body.value(b_.graph.roots[0], out), ";");
            out.close();
        });
        b_.open_unrolled("e", static_cast<std::uint32_t>(each_));
        out.line("const ", type(), " value = ", as_stored("made[e]"), ";");
        out.line("next[e] = in_row && in_column[e] ? value : ", rows_name(), "[s][", above_, "][e",
                 left_ != 0 ? plus(left_) : "", "];");
        out.close();
    }

    /// A value opaque to the compiler: else a product might be contracted with the next step's addition.
    std::string as_stored(const std::string& value) {
        const dtype t = output().at->head.type;
        if (b_.key.header.math == math_mode::strict || (t != dtype::f4 && t != dtype::f8)) return value;
        b_.needs.add(
            "as_stored",
            b_.function("Hides a value from the compiler, so that no product is contracted with the next step's "
                        "addition.") +
                type() + " as_stored(" + type() + " v) {\n    asm(\"\" : \"+" + (t == dtype::f4 ? 'f' : 'd') +
                "\"(v));\n    return v;\n}\n");
        return "as_stored(" + value + ')';
    }

    /// Elements of the other arrays at the result's places; outside, those of the nearest row and column.
    void read_others() {
        source_writer& out = b_.code;
        const std::string number = b_.signed_index();
        const auto nearest = [&](const std::string& at, int axis) {
            out.line("const ", number, ' ', digit(axis), " = max(min(", at, ", ", b_.signed_extent(axis), " - 1), ",
                     number, "(0));");
        };
        bool located = false;
        for (const array_argument& in : b_.inputs) {
            if (is_stepped(in) || !b_.moves_along(in, all_axes())) continue;
            if (!std::exchange(located, true)) nearest("r", down_axis_);
            const std::string element = b_.element(in, b_.offset(in, all_axes())), of = b_.needs.type(in.at->head.type);
            if (!b_.moves_along(in, axis_bit(inner_))) {
                out.line("const ", of, ' ', in.name, " = ", element, ";");
                b_.body.name(in.node, in.name);
                continue;
            }
            out.line(of, ' ', in.name, '[', each_, "];");
            b_.open_unrolled("e", static_cast<std::uint32_t>(each_));
            nearest("column + " + number + "(e)", inner_);
            out.line(in.name, "[e] = ", element, ";");
            out.close();
            b_.body.name(in.node, in.name + "[e]");
        }
    }

    void store() {
        source_writer& out = b_.code;
        const array_argument& z = output();
        const std::uint32_t bytes = bytes_of(z) * static_cast<std::uint32_t>(each_);
        const std::string done = "j" + (below_ != 0 ? plus(-steps_ * below_) : "");
        out.open("if (writes && ", done, " >= 0 && ", done, " < rows)");
        out.line(type(), "* const to = ", z.name, "_at + column + ", rows_below(z, done), ";");
        out.line("if (writes_whole) ", b_.storer(), '<', word_of(bytes, z.at->head.type), ">(to, next);");
        out.open("else");
        b_.open_unrolled("e", static_cast<std::uint32_t>(each_));
        out.line("if (in_column[e]) to[e] = next[e];");
        out.close();
        out.close();
        out.close();
    }

    void finish(plan& p) {
        b_.step.describe(*this);
        b_.step.work.push_back({all_axes(), static_cast<std::uint64_t>(steps_) * cost_of(b_.graph, b_.graph.roots)});
        b_.finish(p, "map", tuned.threads, 0, p.expression + ", " + std::to_string(steps_) + " times");
    }

    cuda_kernel& b_;
    const int inner_, steps_;
    int down_axis_ = 0;
    std::vector<stepped_view> views_;
    int above_ = 0, below_ = 0, left_ = 0, right_ = 0;  // the reach of a step
    int each_ = 1;                                      // columns of a lane
    int before_ = 0, behind_ = 0, valid_ = 0;  // columns of a strip that are computed for others, and for itself
    std::uint32_t unrolled_ = 1;
};

}  // namespace

void emit_stencil_steps_cuda(cuda_kernel& b, plan& p) { stencil_steps(b).write(p); }

}  // namespace ingot::codegen
