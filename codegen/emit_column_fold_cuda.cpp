// Columns on CUDA: how threads lie over them, and folds of those that lie apart in memory (column_fold_cuda.hpp).
#include "codegen/column_fold_cuda.hpp"

#include <algorithm>

#include "codegen/cuda_join.hpp"

namespace ingot::codegen {

using namespace detail;

column_fold::column_fold(const key& k, const graph& g, const folding& f)
    : cuda_fold(k, g, f, small_block), inner_(b_.rank - 1) {
    split_ = bucket_ >= split_bucket;
    if (is_gapless()) {
        choose_gapless();
        return;
    }
    const bool few = few_results(k, b_.rank);
    const bool narrow = b_.rank > 1 && (inner_bucket() & bucket::short_inner) != 0;
    // Joins over threads cost more than they gain where columns are short, most of all those of moments.
    const std::uint8_t longest_alone = narrow ? 1 : words_ > 2 ? 3 : 2;
    layout_ = bucket_ <= longest_alone ? layout::alone
              : !narrow                ? layout::wide
              : split_                 ? layout::narrow
                                       : layout::packed;
    if (split_ && few) threads_ = large_block;
    if (alone() || layout_ == layout::packed) threads_ = least_block;
    columns_ = vector_columns();
    if (threads_ == small_block && widest_part() > wide_part_bytes) resident_ -= small_block;  // for registers
    blocks_ = resident_ / threads_;
    if (split_) least_blocks_ = blocks_;
}

void column_fold::write_ending() {
    if (!shares_results()) return cuda_fold::write_ending();
    combine_all();
    const auto placed = b_.body.scope();
    b_.code.open("if (gridDim.y > 1)");
    tell_all("slots + first", "blockIdx.y");
    write_shared_finish("gridDim.y");
    b_.code.line("return;");
    b_.code.close();
    b_.body.leave(placed);
    write_results(owner());
}

std::uint32_t column_fold::vector_columns() const {
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
    constexpr std::uint32_t most_words = 15;  // of registers for results
    while (n > 1 && (n > 4 || n * cost > statement_budget || n * words_ > most_words ||
                     n * threads_ * widest_part() > shared_bytes))
        n /= 2;
    return n;
}

std::uint32_t column_fold::unroll(const folded_space& s) const {
    constexpr std::uint32_t bytes = 64, narrow_bytes = 32;
    if (layout_ == layout::wide && !split_) return unroll_of(s, bytes_at_once(s), 1, columns_, 2 * bytes);
    return unroll_of(s, bytes_at_once(s), 1, columns_, columns_ > 1 || split_ ? bytes : narrow_bytes);
}

std::uint32_t column_fold::packed_height() const {
    constexpr std::uint32_t short_inner = 32;
    const std::uint32_t rows = (16u << bucket_) / unroll(spaces_[longest_]);
    return std::clamp(rows, 2u, threads_ * columns_ / short_inner);
}

void column_fold::write_place() {
    alone() ? write_alone() : layout_ == layout::wide ? write_wide() : gapless() ? write_run() : write_narrow();
    write_column_digits();
    load_kept(columns_ == 1 ? kept_bits() : outer_bits());
    if (columns_ > 1) load_own();
    if (alone()) return;
    b_.code.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[",
                 threads_ * (gapless() ? each_ + 1 : columns_) * widest_part() / 8, "];");
}

void column_fold::write_alone() {
    const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
    b_.code.line("const ", type, " at = ", block(), " * ", threads_, "u + threadIdx.x;");
    b_.code.line("const bool mine = at < ", all, ";");
    b_.step.grid[0] = vectors();
    b_.step.grid[0].divide_by = threads_;
    write_vector(all);
}

void column_fold::write_wide() {
    const std::string type = b_.linear(), all = b_.count(vectors(), "vectors");
    formula piece = vectors();
    piece.evenly = most_across;
    if (split_) piece.fewest = fewest_across();
    const std::string across = b_.count(piece, "across"), by_across = b_.divisor(piece, "by_across");
    b_.code.line("const ", type, " down = quotient(threadIdx.x, ", by_across, "), height = quotient(", threads_, "u, ",
                 by_across, ");");
    b_.code.line("const ", type, " at = ", block(), " * ", across, " + threadIdx.x - down * ", across, ";");
    b_.code.line("const bool mine = at < ", all, " && down < height;");
    b_.step.grid[0] = piece;
    b_.step.grid[0].strips = true;
    write_vector(all);
}

std::uint32_t column_fold::fewest_across() const {
    constexpr std::uint32_t bytes = 128;
    std::uint32_t widest = 1;
    for (const place* in : inputs_of(spaces_[longest_])) widest = std::max(widest, bytes_of(*in));
    return std::min(bytes / (columns_ * widest), most_across);
}

void column_fold::write_vector(const std::string& all) {
    const std::string type = b_.linear();
    b_.code.line("const ", type, " vector = at < ", all, " ? at : ", all, " - 1;");
    if (b_.rank == 1) {
        column_ = "vector";
        return;
    }
    b_.code.line("const ", type, " outer = quotient(vector, ", b_.divisor(row_vectors(), "by_row"), ");");
    column_ = "(vector - outer * " + b_.count(row_vectors(), "row_vectors") + ')';
}

void column_fold::write_narrow() {
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

void column_fold::write_column_digits() {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), width = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
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

void column_fold::load_own() {
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

std::uint32_t column_fold::slots_at_once() const {
    const bool many_words = words_ > 2;
    if (gapless() && b_.rank == 1) return many_words ? 24 : 10;
    if (is_of_large_blocks()) return many_words ? 12 : 8;
    if (gapless()) return 4;
    return columns_ > 1 && words_ <= 2 ? 16 : 8;
}

bool column_fold::has_rounds(const std::vector<fold_writer>& folds) const {
    // A thread has few tiles, and no registers to spare.
    return rounds(folds) && !(gapless() && b_.rank > 1) && !alone();
}

void column_fold::write_loads(const folded_space& s, const std::string& at) {
    gapless() ? load_run(s, at) : cuda_fold::write_loads(s, at);
}

void column_fold::write_space(std::size_t number) {
    if (gapless()) return write_gapless();
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    const std::uint32_t tile = unroll(s);
    const bool shared = split_;  // shorter spaces too: what each block has is joined
    if (split_ && number == longest_) {
        const std::uint32_t most = layout_ == layout::wide ? most_across : threads_;
        split(0, threads_ / most_across * tile, blocks_, 0, most * columns_, waves_of_columns());
    }
    const std::string type = b_.linear(), n = "n" + suffix(number), apart = alone() ? "" : " * height";
    const std::string first = (shared ? "blockIdx.y * " + std::to_string(tile) + "u" + apart + " + " : "") + lane();
    declare_results(folds_[number]);
    const auto outside = b_.body.scope();
    out.open();
    declare_parts(folds_[number]);
    out.line("const ", type, ' ', n, " = mine ? ", b_.count({.axes = s.bits()}, "folded" + suffix(number)),
             " : 0, step = ", shared ? "gridDim.y * " : "", tile, apart, ";");
    if (columns_ > 1) out.open("if (columns == ", columns_, ")");
    write_tiles(number, tile, first, apart, n, "step");
    if (columns_ > 1) {
        out.otherwise();  // the array ends within a vector
        out.open("for (", type, " k = ", first, "; k < ", n, "; k += step)");
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

void column_fold::combine(fold_writer& f, const std::string& joiner, const std::string& variable) {
    const std::string name = join_down(f, b_.linear(), b_.needs);
    b_.code.line(name, "<", joiner, ", ", columns_, ">(", columns_ == 1 ? "&" : "", variable, ", room, ",
                 gapless() ? "p.width" : "p.across", ", down, height);");
}

void column_fold::describe(launch& step) const {
    step.pattern = split_ ? "split column reduction" : "column reduction";
    const std::string each = columns_ == 1 ? "a column" : std::to_string(columns_) + " columns";
    step.reason = each + " a thread, neighbours read neighbours" +
                  (alone()                     ? ""
                   : gapless()                 ? ", " + std::to_string(each_) + " at once of their run of memory"
                   : layout_ == layout::wide   ? ", some threads beside each other, the others below"
                   : layout_ == layout::narrow ? ", a short row of columns side by side, the others below"
                                               : ", several groups a block: both axes are short") +
                  (ahead_ ? ", a tile on its way while one is joined" : "") +
                  (split_ ? ", several blocks a column for there are too few to fill the GPU" : "") +
                  ": memory runs across what is folded";
}

void emit_column_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) { column_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
