// Columns on CUDA that are read where they lie: a thread folds up to 16 bytes of neighbouring columns, threads beside
// each other read neighbours, and a block has as many rows of threads below them as fit. Few columns get many rows of
// threads, so narrow arrays use whole memory lines as wide ones do; several blocks share long columns.
#include <functional>

#include "codegen/cuda/fold/across/column_fold.hpp"

#include "codegen/cuda/join.hpp"

namespace ingot::codegen {

using namespace detail;

void column_fold::load_vectors(const folded_space& s,
                               const std::function<std::string(const array_argument& in)>& address) {
    for (const array_argument* in : inputs_of(s)) {
        const std::string from = address(*in);
        const std::string_view word = word_of(bytes_of(*in) * each_, in->at->head.type);
        if (each_ == 1)
            b_.code.line(in->name, "[u] = ", scalar_load(*in), from, ");");
        else
            b_.code.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), word), '<', word, ">(", in->name,
                         "[u], ", from, ");");
    }
}

void column_fold::combine_down(fold_writer& f, const std::string& joiner, const std::string& variable,
                               const std::string& across) {
    const std::string name = join_down(f, b_.linear(), b_.needs);
    b_.code.line(name, "<", joiner, ", ", columns_, ">(", columns_ == 1 ? "&" : "", variable, ", room, ", across, ", ",
                 lane(), ", ", lanes(), ");");
}

void column_fold::share_down(fold_writer& f, const std::string& across) {
    b_.code.line(codegen::share_down(b_.linear(), b_.needs), "<", columns_, ">(", columns_ == 1 ? "&" : "", f.name(),
                 ", room, ", across, ", ", lane(), ", ", lanes(), ");");
}

namespace {

class direct_columns final : public column_fold {
public:
    using column_fold::column_fold;

private:
    bool alone() const { return choice_.how == layout::alone; }
    std::string lane() const override { return alone() ? "0" : "down"; }
    std::string lanes() const override { return alone() ? "1" : "height"; }
    std::string owner() override { return alone() ? "if (mine)" : "if (mine && down == 0)"; }

    void locate_thread() override {
        const std::string column = alone()                       ? write_alone()
                                   : choice_.how == layout::wide ? write_wide()
                                                                 : write_narrow();
        write_column_digits(column);
        load_invariants(columns_ == 1 ? kept_bits() : outer_bits());
        if (columns_ > 1) load_own();
        if (alone()) return;
        b_.code.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[", choice_.room_bytes / 8, "];");
    }

    /// The text of this thread's vector of columns, in its row of memory.
    std::string write_alone() {
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        b_.code.line("const ", type, " at = ", block(), " * ", threads_, "u + threadIdx.x;");
        b_.code.line("const bool mine = at < ", all, ";");
        b_.step.grid[0] = ceil_divide(vectors(), threads_);
        return write_vector(all);
    }

    std::string write_wide() {
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        const even_pieces blocks = balanced(vectors(), split_ ? shared_across() : choice_.most_across);
        const std::string across = b_.count(blocks.size, "across"), by_across = b_.divisor(blocks.size, "by_across");
        b_.code.line("const ", type, " down = quotient(threadIdx.x, ", by_across, "), height = quotient(", threads_,
                     "u, ", by_across, ");");
        b_.code.line("const ", type, " at = ", block(), " * ", across, " + threadIdx.x - down * ", across, ";");
        b_.code.line("const bool mine = at < ", all, " && down < height;");
        b_.step.grid[0] = blocks.count;
        return write_vector(all);
    }

    /// The number of threads beside each other where blocks share columns. Fewer columns give a narrower block: the
    /// more blocks share a column, the more parts the last one joins.
    formula shared_across() const { return power_below_root(2 * vectors(), choice_.least_across, choice_.most_across); }

    /// A thread without columns reads the last ones and folds nothing.
    std::string write_vector(const std::string& all) {
        const std::string type = b_.linear();
        b_.code.line("const ", type, " vector = at < ", all, " ? at : ", all, " - 1;");
        if (b_.rank == 1) return "vector";
        b_.code.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
        return "(vector - outer * " + b_.count(row_vectors(), "row_vectors") + ')';
    }

    std::string write_narrow() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), across = b_.count(row_vectors(), "across"),
                          by_across = b_.divisor(row_vectors(), "by_across");
        out.line("const ", type, " below = quotient(threadIdx.x, ", by_across, ");");
        b_.step.grid[0] = points_of(outer_bits());
        if (choice_.how == layout::narrow) {
            out.line("const ", type, " down = below, height = quotient(", threads_, "u, ", by_across, ");");
            out.line("const bool mine = down < height;");
            out.line("const ", type, " outer = blockIdx.x;");
        } else {
            const std::uint32_t height = choice_.height;
            const std::string outers = b_.count(points_of(outer_bits()), "outers");
            out.line("constexpr ", type, " height = ", height, ";");
            out.line("const ", type, " group = below / height, groups = quotient(", threads_ / height, "u, ", by_across,
                     ");");
            // Threads outside any whole group get a row below all others.
            out.line("const ", type, " down = group < groups ? below % height : height;");
            out.line("const ", type, " at = ", block(), " * groups + group;");
            out.line("const bool mine = group < groups && at < ", outers, ";");
            out.line("const ", type, " outer = at < ", outers, " ? at : ", outers, " - 1;");
            b_.step.grid[0] = ceil_divide(points_of(outer_bits()), points_per_room(threads_ / height, row_vectors()));
        }
        return "(threadIdx.x - below * " + across + ')';
    }

    void write_column_digits(const std::string& position) {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), width = b_.extent(inner_);
        write_outer_digits();
        if (columns_ > 1) {
            out.line("const ", type, " column = ", position, " * ", columns_, ";");
            out.line("const ", type, " columns = mine ? min(", type, '(', columns_, "), ", width, " - column) : 0;");
        }
        write_inner_digit(columns_ > 1 ? "column" : position);
        if (split_)
            out.line("const ", type, " first = ", b_.rank == 1 ? "" : "outer * " + width + " + ",
                     columns_ == 1 ? digit(inner_) : "column", ";");
    }

    /// Loads the operands that move along the columns and are not folded, for the thread's own columns.
    void load_own() {
        std::vector<const array_argument*> own;
        for (const array_argument& in : b_.inputs)
            if ((loops_of(in) & ~kept_bits()) == 0 && !b_.body.has_name(in.node)) own.push_back(&in);
        if (own.empty()) return;
        for (const array_argument* in : own)
            b_.code.line(b_.needs.type(in->at->head.type), ' ', in->name, '[', columns_, "];");
        open_columns("columns");
        write_column();
        for (const array_argument* in : own) {
            b_.code.line(in->name, "[e] = ", b_.element(*in, b_.offset(*in, kept_bits())), ";");
            b_.body.name(in->node, in->name + "[e]");
        }
        close_columns();
    }

    void write_space(std::size_t number) override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        const std::uint32_t tile = choice_.unroll[number];
        const bool shared = split_;  // shorter spaces too: their parts are joined as well
        const std::string type = b_.linear(), n = "n" + suffix(number), stride = alone() ? "" : " * height";
        const std::string first =
            (shared ? "blockIdx.y * " + std::to_string(tile) + "u" + stride + " + " : "") + lane();
        declare_results(folds_[number]);
        const auto outside = b_.body.scope();
        out.open();
        declare_parts(folds_[number], false);
        out.line("const ", type, ' ', n, " = mine ? ", b_.count(points_of(s.bits()), "folded" + suffix(number)),
                 " : 0, step = ", shared ? "gridDim.y * " : "", tile, stride, ";");
        // A vector in which the array ends is loaded by elements; random numbers exist for all of it.
        const bool loads_vectors = columns_ > 1 && (!s.outputs.empty() || !inputs_of(s).empty());
        out.line(type, " k = ", first, ";");
        open_rounds(folds_[number]);
        if (loads_vectors) out.open("if (columns == ", columns_, ")");
        write_tiles(number, tile, stride, n, "step", true);
        if (loads_vectors) {
            out.otherwise();
            write_elements(number, stride, n);
            out.close();
            b_.body.leave(outside);
        }
        close_rounds(folds_[number], n);
        out.close();
    }

    void write_elements(std::size_t number, const std::string& stride, const std::string& n) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        const std::string type = b_.linear();
        out.open("for (; k < ", n, "; k += step)");
        out.margin("#pragma unroll 1");
        out.open("for (", type, " u = 0; u < ", choice_.unroll[number], " && k + u", stride, " < ", n, "; ++u)");
        out.line("const ", type, " at = k + u", stride, ";");
        b_.write_digits("at", s.axes);
        for (const node_id g : generators_of(s)) {
            const array_argument leaf = b_.leaf_of(g);
            if (columns_of(leaf) == 1) continue;
            out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', leaf.name, '[', columns_, "];");
            b_.draw_groups(g, leaf.name, columns_, b_.generator_index(g, kept_bits() | s.bits()));
        }
        open_columns("columns");
        write_column();
        write_element(number, "at", true);
        close_columns();
        out.close();
        out.close();
    }

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        combine_down(f, joiner, variable, "p.across");
    }
    void share(fold_writer& f) override { share_down(f, "p.across"); }
};

}  // namespace

void emit_columns_cuda(cuda_kernel& b, const folded_kernel& f, const column_fold_choice& c, plan& p) {
    direct_columns(b, f, c).write(p);
}

}  // namespace ingot::codegen
