// Columns on CUDA that are read where they lie: a thread folds up to 16 bytes of neighbouring columns, threads beside
// each other read neighbours, and a block has as many rows of threads below them as fit. Few columns get many rows of
// threads, so narrow arrays use whole memory lines as wide ones do; several blocks share long columns.
#include <algorithm>

#include "codegen/cuda/fold/across/column_fold.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class direct_columns : public column_writer<direct_columns_layout> {
public:
    using column_writer::column_writer;

protected:
    /// Writes which vector of columns this thread has; returns the text of its number in its row of memory.
    virtual std::string write_place() = 0;

    std::string lane() const override { return "down"; }
    std::string lanes() const override { return "height"; }
    std::string owner() override { return "if (mine && down == 0)"; }
    virtual bool is_alone() const { return false; }

    /// A thread without columns reads the last ones and folds nothing.
    std::string write_vector(const std::string& all) {
        const std::string type = b_.linear();
        b_.code.line("const ", type, " vector = at < ", all, " ? at : ", all, " - 1;");
        if (b_.rank == 1) return "vector";
        b_.code.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
        return "(vector - outer * " + b_.count(row_vectors(), "row_vectors") + ')';
    }

private:
    void locate_thread() override {
        write_column_digits(write_place());
        load_invariants(columns_ == 1 ? kept_bits() : outer_bits());
        if (columns_ > 1) load_own();
        if (!is_alone()) declare_room(threads_ * columns_);
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
        const std::string type = b_.linear(), n = "n" + suffix(number), stride = is_alone() ? "" : " * height";
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

class alone_columns final : public direct_columns {
public:
    using direct_columns::direct_columns;

private:
    bool is_alone() const override { return true; }
    std::string lane() const override { return "0"; }
    std::string lanes() const override { return "1"; }
    std::string owner() override { return "if (mine)"; }

    std::string write_place() override {
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        b_.code.line("const ", type, " at = ", block(), " * ", threads_, "u + threadIdx.x;");
        b_.code.line("const bool mine = at < ", all, ";");
        b_.step.grid[0] = ceil_divide(vectors(), threads_);
        return write_vector(all);
    }
};

class wide_columns final : public direct_columns {
public:
    wide_columns(cuda_kernel& b, const folded_kernel& f, const wide_columns_layout& c)
        : direct_columns(b, f, c), across_(split_ ? shared_across(c) : formula(c.most_across)) {}

private:
    std::string write_place() override {
        const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
        const even_pieces blocks = balanced(vectors(), across_);
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
    formula shared_across(const wide_columns_layout& c) const {
        return power_below_root(2 * vectors(), c.least_across, c.most_across);
    }

    const formula across_;  // threads beside each other, at most
};

/// Threads beside each other over the short innermost kept axis.
class short_rows_of_columns : public direct_columns {
public:
    using direct_columns::direct_columns;

private:
    std::string write_place() final {
        const std::string type = b_.linear(), across = b_.count(row_vectors(), "across"),
                          by_across = b_.divisor(row_vectors(), "by_across");
        b_.code.line("const ", type, " below = quotient(threadIdx.x, ", by_across, ");");
        write_rows(by_across);
        return "(threadIdx.x - below * " + across + ')';
    }

    /// Writes the row of this thread, `down`, of those below each other, and the place of the outer axes.
    virtual void write_rows(const std::string& by_across) = 0;
};

class narrow_columns final : public short_rows_of_columns {
public:
    using short_rows_of_columns::short_rows_of_columns;

private:
    void write_rows(const std::string& by_across) override {
        const std::string type = b_.linear();
        b_.code.line("const ", type, " down = below, height = quotient(", threads_, "u, ", by_across, ");");
        b_.code.line("const bool mine = down < height;");
        b_.code.line("const ", type, " outer = blockIdx.x;");
        b_.step.grid[0] = points_of(outer_bits());
    }
};

class packed_columns final : public short_rows_of_columns {
public:
    packed_columns(cuda_kernel& b, const folded_kernel& f, const packed_columns_layout& c)
        : short_rows_of_columns(b, f, c), height_(c.height) {}

private:
    void write_rows(const std::string& by_across) override {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), outers = b_.count(points_of(outer_bits()), "outers");
        out.line("constexpr ", type, " height = ", height_, ";");
        out.line("const ", type, " group = below / height, groups = quotient(", threads_ / height_, "u, ", by_across,
                 ");");
        // Threads outside any whole group get a row below all others.
        out.line("const ", type, " down = group < groups ? below % height : height;");
        out.line("const ", type, " at = ", block(), " * groups + group;");
        out.line("const bool mine = group < groups && at < ", outers, ";");
        out.line("const ", type, " outer = at < ", outers, " ? at : ", outers, " - 1;");
        b_.step.grid[0] = ceil_divide(points_of(outer_bits()), points_per_room(threads_ / height_, row_vectors()));
    }

    const std::uint32_t height_;
};

/// Whether a thread's columns are whole groups of every random leaf that moves along them.
bool has_random_vectors(const folded_kernel& f, std::uint32_t columns) {
    std::uint64_t folded = 0;
    for (const folded_space& s : f.spaces()) {
        if (!f.generators_of(s).empty() && !f.draws_groups(s, inner_axis(f), columns)) return false;
        folded |= s.bits();
    }
    return std::ranges::none_of(f.kernel().generators, [&](node_id g) {
        const std::uint64_t axes = f.kernel().graph.nodes[g].axes;
        return (axes & axis_bit(inner_axis(f))) != 0 && (axes & folded) == 0;
    });
}

/// Neighbouring columns that a thread folds: more than one where every folded operand that moves along the columns is
/// contiguous and aligned there.
std::uint32_t columns_of_thread(const folded_kernel& f, std::uint32_t threads) {
    constexpr std::uint32_t most_words = 15;  // of registers for results
    const int inner = inner_axis(f);
    std::uint32_t widest = 1, cost = 0;
    bool vectors = true;
    for (const folded_space& s : f.spaces()) {
        for (const array_argument* in : f.inputs_of(s)) {
            const stride_class along = inner_class(*in, inner);
            if (along == stride_class::broadcast) continue;
            vectors = vectors && along == stride_class::unit && in->at->head.vector;
            widest = std::max(widest, bytes_of(*in));
        }
        for (const node_id g : f.generators_of(s)) widest = std::max(widest, bytes_of(f.kernel().leaf_of(g)));
        for (const std::size_t k : s.outputs) widest = std::max(widest, bytes_of(f.kernel().outputs[k]));
        cost += cost_of(f.kernel().graph, s.computed_nodes(f.kernel().graph));
    }
    std::uint32_t n = vectors ? 16 / widest : 1;
    while (n > 1 && (n > 4 || n * cost > statement_budget || n * f.words() > most_words ||
                     n * threads * f.widest_part() > column_block::shared_bytes))
        n /= 2;
    return has_random_vectors(f, n) ? n : 1;
}

/// The number of threads that read a line of memory.
std::uint32_t threads_of_line(const folded_kernel& f, std::uint32_t columns) {
    constexpr std::uint32_t bytes = 128;
    std::uint32_t widest = 1;
    for (const array_argument* in : f.inputs_of(f.longest_space())) widest = std::max(widest, bytes_of(*in));
    return std::min(bytes / (columns * widest), wide_columns_layout::most_across);
}

/// The numbers of any arrangement of so many threads. `bytes_of_one`, `bytes`: what a thread has in flight for one
/// column, and for several.
direct_columns_layout read_in_place(const folded_kernel& f, std::uint32_t threads, std::uint32_t bytes_of_one,
                                    std::uint32_t bytes) {
    direct_columns_layout c;
    c.threads = threads;
    c.columns = c.tile_columns = columns_of_thread(f, threads);
    for (const folded_space& s : f.spaces())
        c.unroll.push_back(
            f.unroll_of(s, f.bytes_at_once(s, c.columns), 1, c.columns, c.columns > 1 ? bytes : bytes_of_one));
    return c;
}

/// Few results get large blocks: the fewer there are, the sooner the last one has joined their parts.
std::uint32_t threads_of_split(const folded_kernel& f) {
    return few_results(f.kernel().key, f.kernel().rank) ? column_block::large : column_block::small;
}

/// Several blocks share a column; `across` threads of a block have columns of their own.
void split_columns(direct_columns_layout& c, const folded_kernel& f, std::uint32_t across) {
    constexpr std::uint32_t least_draws = 16;  // of a thread, where nothing is loaded
    const bool draws = f.draws_alone(f.longest_space());
    const bool registers = c.threads == column_block::small && f.widest_part() > column_block::wide_part_bytes;
    c.slots_at_once = c.columns > 1 && !has_many_words(f) && !draws ? 16 : 8;
    c.resident_blocks = (column_block::resident_threads - (registers ? column_block::small : 0)) / c.threads;
    c.split = block_split{
        .piece = c.threads / wide_columns_layout::most_across * (draws ? least_draws : c.unroll[f.longest()]),
        .results = across * c.columns,
        .waves = f.waves_of_columns()};
}

alone_columns_layout choose_alone(const folded_kernel& f) {
    alone_columns_layout c{read_in_place(f, column_block::least, 32, 64)};
    c.has_rounds = false;
    return c;
}

wide_columns_layout choose_wide(const folded_kernel& f) {
    if (!splits_columns(f)) return {read_in_place(f, column_block::small, 128, 128)};
    wide_columns_layout c{read_in_place(f, threads_of_split(f), 64, 64)};
    c.least_across = threads_of_line(f, c.columns);
    split_columns(c, f, c.most_across);
    return c;
}

narrow_columns_layout choose_narrow(const folded_kernel& f) {
    narrow_columns_layout c{read_in_place(f, threads_of_split(f), 64, 64)};
    split_columns(c, f, c.threads);
    return c;
}

/// A group has so many rows of threads that each thread folds a tile and the widest group has room.
packed_columns_layout choose_packed(const folded_kernel& f) {
    constexpr std::uint32_t short_inner = 32;
    packed_columns_layout c{read_in_place(f, column_block::least, 32, 64)};
    c.height = std::clamp((16u << f.length_class()) / c.unroll[f.longest()], 2u, c.threads * c.columns / short_inner);
    return c;
}

}  // namespace

column_fold_choice choose_direct_columns(const folded_kernel& f) {
    const bool narrow = f.kernel().rank > 1 && inner_is(f, axis_flags::short_inner);
    // Joins over threads cost more than they gain where columns are short, most of all for moments.
    const std::uint8_t longest_alone = narrow ? 1 : has_many_words(f) ? 3 : 2;
    if (f.length_class() <= longest_alone) return choose_alone(f);
    if (!narrow) return choose_wide(f);
    if (splits_columns(f)) return choose_narrow(f);
    return choose_packed(f);
}

std::uint32_t direct_columns_layout::chunks() const { return *std::ranges::max_element(unroll); }

kernel_shape alone_columns_layout::shape() const { return shape_of("columns", chunks(), thread_exchange::none); }
kernel_shape wide_columns_layout::shape() const { return shape_of("wide columns", chunks(), thread_exchange::block); }
kernel_shape narrow_columns_layout::shape() const {
    return shape_of("narrow columns", chunks(), thread_exchange::block);
}
kernel_shape packed_columns_layout::shape() const {
    kernel_shape s = shape_of("packed columns", chunks(), thread_exchange::block);
    s.lanes = height;
    return s;
}

std::string alone_columns_layout::reason() const { return where_they_lie(""); }
std::string wide_columns_layout::reason() const {
    return where_they_lie(", some threads beside each other, the others below");
}
std::string narrow_columns_layout::reason() const {
    return where_they_lie(", a short row of columns side by side, the others below");
}
std::string packed_columns_layout::reason() const {
    return where_they_lie(", several groups a block: both axes are short");
}

void alone_columns_layout::write(cuda_kernel& b, const folded_kernel& f) const { alone_columns(b, f, *this).write(); }
void wide_columns_layout::write(cuda_kernel& b, const folded_kernel& f) const { wide_columns(b, f, *this).write(); }
void narrow_columns_layout::write(cuda_kernel& b, const folded_kernel& f) const { narrow_columns(b, f, *this).write(); }
void packed_columns_layout::write(cuda_kernel& b, const folded_kernel& f) const { packed_columns(b, f, *this).write(); }

}  // namespace ingot::codegen
