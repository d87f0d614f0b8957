// Folds across memory: a thread folds up to 16 bytes of neighbouring columns, `across` threads lie beside each other
// and read neighbours, and below them as many rows of threads as the block has room for. Few columns have many rows of
// threads, so narrow arrays are read as whole as wide ones; long columns are shared by several blocks.
#include <algorithm>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

/// Columns longer than 2^(bucket + 4) elements for this bucket are shared by several blocks. Where the results are few,
/// these are large ones: the fewer there are, the sooner the last has joined what they found.
constexpr std::uint8_t split_bucket = 6;
constexpr std::uint32_t small_block = 256, large_block = 1024;
constexpr std::uint32_t resident_threads =
    1024;  // of a multiprocessor: with what each loads, enough to keep memory busy
constexpr std::uint32_t most_across = 64;
constexpr std::uint32_t shared_bytes = 48 * 1024;

class column_fold final : public cuda_fold {
public:
    column_fold(const key& k, const graph& g, const folding& f) : cuda_fold(k, g, f, small_block), inner_(b_.rank - 1) {
        const bool few = few_results(k, b_.rank);
        split_ = bucket_ >= split_bucket;
        if (split_ && few) threads_ = large_block;
        resident_blocks_ = resident_threads / threads_;
        columns_ = vector_columns();
        const bool narrow = b_.rank > 1 && (k.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner) != 0;
        layout_ = bucket_ == 1 ? layout::alone : !narrow ? layout::wide : split_ ? layout::narrow : layout::packed;
    }

private:
    /// How a block's threads lie over the columns and down along them.
    enum class layout {
        alone,   // all beside each other, over all kept axes taken together: no two share a column
        wide,    // up to 64 beside each other, over all kept axes taken together
        narrow,  // beside each other over the innermost kept axis, which is short: memory goes on below
        packed,  // the same for columns so short that several such groups are a block
    };

    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(inner_); }
    bool alone() const { return layout_ == layout::alone; }
    std::string lane() const override { return alone() ? "0" : "down"; }
    std::string lanes() const override { return alone() ? "1" : "height"; }
    std::string first_result() const override { return "first"; }
    std::string mine() const override { return "mine && "; }
    std::string owner() override { return alone() ? "if (mine)" : "if (mine && down == 0)"; }

    /// Neighbouring columns that a thread folds: more than one where all that moves along them and is folded does so by
    /// one element and is aligned.
    std::uint32_t vector_columns() const {
        std::uint32_t widest = 1, cost = 0;
        bool vectors = b_.generators.empty();
        for (const folded_space& s : spaces_) {
            for (const place* in : inputs_of(s)) {
                const stride_class along = inner_class(*in, inner_);
                if (along == stride_class::broadcast) continue;
                vectors = vectors && along == stride_class::unit && in->at->head.vector;
                widest = std::max(widest, bytes_of(*in));
            }
            for (const std::size_t k : s.outputs) widest = std::max(widest, bytes_of(b_.outputs[k]));
            cost += cost_of(b_.graph, s.wanted(b_.graph));
        }
        std::uint32_t n = vectors ? 16 / widest : 1;
        constexpr std::uint32_t most_words = 16;  // of registers for results
        while (n > 1 && (n > 4 || n * cost > statement_budget || n * words_ > most_words ||
                         n * threads_ * widest_part() > shared_bytes))
            n /= 2;
        return n;
    }

    /// Vectors of columns, all kept axes taken together.
    formula vectors() const { return {.axes = outer_bits(), .inner = axis_bit(inner_), .inner_divide = columns_}; }

    std::uint32_t widest_part() const {
        std::uint32_t widest = 1;
        for (const std::vector<fold_writer>& folds : folds_)
            for (const fold_writer& f : folds) widest = std::max(widest, f.bytes());
        return widest;
    }
    std::uint32_t unroll(const folded_space& s) const { return unroll_of(s, bytes_at_once(s), 1, columns_); }
    /// Rows of threads of a packed group: so many that each folds a tile, and that the widest group has room.
    std::uint32_t packed_height() const {
        constexpr std::uint32_t short_inner = 32;
        const std::uint32_t rows = (16u << bucket_) / unroll(spaces_[longest_]);
        return std::clamp(rows, 2u, threads_ * columns_ / short_inner);
    }

    void write_place() override {
        alone() ? write_alone() : layout_ == layout::wide ? write_wide() : write_narrow();
        write_column_digits();
        load_kept(columns_ == 1 ? kept_bits() : outer_bits());
        if (columns_ > 1) load_own();
        if (alone()) return;
        b_.code.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[",
                     threads_ * columns_ * widest_part() / 8, "];");
    }

    std::string block() { return b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x"; }

    void write_alone() {
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        b_.code.line("const ", type, " at = ", block(), " * ", threads_, "u + threadIdx.x;");
        b_.code.line("const bool mine = at < ", all, ";");
        b_.step.grid[0] = vectors();
        b_.step.grid[0].divide_by = threads_;
        write_vector(all);
    }

    void write_wide() {
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        formula piece = vectors();
        piece.evenly = most_across;
        const std::string across = b_.count(piece, "across"), by_across = b_.divisor(piece, "by_across");
        b_.code.line("const ", type, " down = quotient(threadIdx.x, ", by_across, "), height = quotient(", threads_,
                     "u, ", by_across, ");");
        b_.code.line("const ", type, " at = ", block(), " * ", across, " + threadIdx.x - down * ", across, ";");
        b_.code.line("const bool mine = at < ", all, " && down < height;");
        b_.step.grid[0] = vectors();
        b_.step.grid[0].divide_by = most_across;
        write_vector(all);
    }

    /// A thread without columns takes the last ones and folds nothing of them.
    void write_vector(const std::string& all) {
        const std::string type = b_.linear();
        b_.code.line("const ", type, " vector = at < ", all, " ? at : ", all, " - 1;");
        if (b_.rank == 1) {
            column_ = "vector";
            return;
        }
        b_.code.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
        column_ = "(vector - outer * " + b_.count(row_vectors(), "row_vectors") + ')';
    }
    formula row_vectors() const { return {.axes = 0, .inner = axis_bit(inner_), .inner_divide = columns_}; }

    void write_narrow() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), across = b_.count(row_vectors(), "across"),
                          by_across = b_.divisor(row_vectors(), "by_across");
        out.line("const ", type, " below = quotient(threadIdx.x, ", by_across, ");");
        b_.step.grid[0] = {.axes = outer_bits()};
        if (layout_ == layout::narrow) {
            out.line("const ", type, " down = below, height = quotient(", threads_, "u, ", by_across, ");");
            out.line("const bool mine = down < height;");
            out.line("const ", type, " outer = blockIdx.x;");
        } else {
            const std::uint32_t height = packed_height();
            const std::string outers = b_.count({.axes = outer_bits()}, "outers");
            out.line("constexpr ", type, " height = ", height, ";");
            out.line("const ", type, " group = below / height, groups = quotient(", threads_ / height, "u, ", by_across,
                     ");");
            // Threads for which there is no whole group stand below all others.
            out.line("const ", type, " down = group < groups ? below % height : height;");
            out.line("const ", type, " at = ", block(), " * groups + group;");
            out.line("const bool mine = group < groups && at < ", outers, ";");
            out.line("const ", type, " outer = at < ", outers, " ? at : ", outers, " - 1;");
            b_.step.grid[0] = {
                .axes = outer_bits(), .inner = axis_bit(inner_), .inner_divide = columns_, .room = threads_ / height};
        }
        column_ = "(threadIdx.x - below * " + across + ')';
    }

    void write_column_digits() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(),
                          width = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
        if (b_.rank > 1) b_.write_digits("outer", std::vector<int>(kept_.begin(), kept_.end() - 1));
        if (columns_ > 1) {
            out.line("const ", type, " column = ", column_, " * ", columns_, ";");
            out.line("const ", type, " columns = mine ? min(", type, '(', columns_, "), ", width, " - column) : 0;");
        }
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), '(',
                 columns_ > 1 ? "column" : column_, ");");
        if (split_)
            out.line("const ", type, " first = ", b_.rank == 1 ? "" : "outer * " + width + " + ",
                     columns_ == 1 ? digit(inner_) : "column", ";");
    }

    /// Operands that move along the columns and are not folded: those of the thread's own.
    void load_own() {
        std::vector<const place*> own;
        for (const place& in : b_.inputs)
            if ((loops_of(in) & ~kept_bits()) == 0 && !b_.body.has_name(in.node)) own.push_back(&in);
        if (own.empty()) return;
        for (const place* in : own) b_.code.line(b_.needs.type(in->at->head.type), ' ', in->name, '[', columns_, "];");
        open_columns("columns");
        write_column();
        for (const place* in : own) {
            b_.code.line(in->name, "[e] = ", b_.element(*in, b_.offset(*in, kept_bits())), ";");
            b_.body.name(in->node, in->name + "[e]");
        }
        close_columns();
    }

    void write_space(std::size_t number) override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        const std::uint32_t tile = unroll(s);
        const bool shared = split_;  // shorter spaces too: what each block has is joined
        if (split_ && number == longest_) split(threads_ / most_across * tile, resident_blocks_);
        const std::string type = b_.linear(), n = "n" + suffix(number), apart = alone() ? "" : " * height";
        const std::string first = shared ? "blockIdx.y * " + std::to_string(tile) + "u" + apart + " + " : "";
        declare_results(folds_[number]);
        const auto outside = b_.body.scope();
        out.open();
        declare_parts(folds_[number]);
        out.line("const ", type, ' ', n, " = mine ? ", b_.count({.axes = s.bits()}, "folded" + suffix(number)),
                 " : 0, step = ", shared ? "gridDim.y * " : "", tile, apart, ";");
        const std::string loop = "for (" + type + " k = " + first + lane() + "; k < " + n + "; k += step)";
        if (columns_ > 1) out.open("if (columns == ", columns_, ")");
        out.open(loop);
        write_tile(number, tile, apart, n);
        out.close();
        b_.body.leave(outside);
        if (columns_ > 1) {
            out.otherwise();  // the array ends within a vector
            out.open(loop);
            out.open("for (", type, " u = 0; u < ", tile, " && k + u", apart, " < ", n, "; ++u)");
            out.line("const ", type, " at = k + u", apart, ";");
            b_.write_digits("at", s.axes);
            open_columns("columns");
            write_column();
            write_element(number, "at");
            close_columns();
            out.close();
            out.close();
            out.close();
            b_.body.leave(outside);
        }
        join_parts(folds_[number]);
        out.close();
    }

    void combine(fold_writer&, const std::string& joiner, const std::string& variable) override {
        const std::string index = b_.linear();
        b_.needs.add(
            "join_down",
            "/// Joins over the rows of threads, each of n variables; those of the first row have the results.\n"
            "template <class fold, int n, class type>\n"
            "__device__ __forceinline__ void join_down(type* v, void* room, " +
                index + " across, " + index + " down, " + index +
                " height) {\n"
                "    type* const own = static_cast<type*>(room) + threadIdx.x * n;\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < n; ++i) own[i] = v[i];\n"
                "    while (height > 1) {\n"
                "        const " +
                index +
                " half = (height + 1) / 2;\n"
                "        __syncthreads();\n"
                "        if (down + half < height) {\n"
                "#pragma unroll\n"
                "            for (int i = 0; i < n; ++i) own[i] = v[i] = fold::join(v[i], own[half * across * n + "
                "i]);\n"
                "        }\n"
                "        height = half;\n"
                "    }\n"
                "    __syncthreads();  // the next fold writes the same place\n}\n");
        b_.code.line("join_down<", joiner, ", ", columns_, ">(", columns_ == 1 ? "&" : "", variable, ", room, ",
                     "p.across, down, height);");
    }

    void describe(launch& step) const override {
        step.pattern = split_ ? "split column reduction" : "column reduction";
        const std::string each = columns_ == 1 ? "a column" : std::to_string(columns_) + " columns";
        step.reason = each + " a thread, neighbours read neighbours" +
                      (alone()                     ? ""
                       : layout_ == layout::wide   ? ", up to 64 threads beside each other, the others below"
                       : layout_ == layout::narrow ? ", a short row of columns side by side, the others below"
                                                   : ", several groups a block: both axes are short") +
                      (split_ ? ", several blocks a column" : "");
    }

    int inner_;
    layout layout_ = layout::wide;
    std::uint32_t resident_blocks_ = 1;
    std::string column_;  // the text of this thread's vector of columns
};

}  // namespace

void emit_column_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) { column_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
