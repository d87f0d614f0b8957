// Folds across memory: a thread folds up to 16 bytes of neighbouring columns, `across` threads lie beside each other
// and read neighbours, and below them as many rows of threads as the block has room for. Few columns have many rows of
// threads, so narrow arrays are read as whole as wide ones; long columns are shared by several blocks.
//
// Narrow columns without gaps between them are read as the run of memory that they are, 16 bytes a thread whatever
// their number: as many threads as columns read so many vectors that each thread's next one, so many further on, lies
// in the same columns again.
#include <algorithm>

#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

/// Columns longer than 2^(bucket + 4) elements for this bucket are shared by several blocks. Where the results are few,
/// these are large ones: the fewer there are, the sooner the last has joined what they found.
constexpr std::uint8_t split_bucket = 6;
constexpr std::uint32_t least_block = 128, small_block = 256, medium_block = 512, large_block = 1024;
constexpr std::uint32_t resident_threads =
    1024;  // of a multiprocessor: with what each loads, enough to keep memory busy
constexpr std::uint32_t most_across = 64;
constexpr std::uint32_t shared_bytes = 48 * 1024;
constexpr std::uint32_t wide_part_bytes = 16;

class column_fold final : public cuda_fold {
public:
    column_fold(const key& k, const graph& g, const folding& f) : cuda_fold(k, g, f, small_block), inner_(b_.rank - 1) {
        split_ = bucket_ >= split_bucket;
        if (is_gapless()) {
            choose_gapless();
            return;
        }
        const bool few = few_results(k, b_.rank);
        const bool narrow = b_.rank > 1 && (inner_bucket() & bucket::short_inner) != 0;
        layout_ = bucket_ == 1 ? layout::alone : !narrow ? layout::wide : split_ ? layout::narrow : layout::packed;
        if (split_ && few) threads_ = large_block;
        if (alone() || layout_ == layout::packed) threads_ = least_block;
        columns_ = vector_columns();
        if (threads_ == small_block && widest_part() > wide_part_bytes) resident_ -= small_block;  // for registers
        blocks_ = resident_ / threads_;
        if (split_) least_blocks_ = blocks_;
    }

private:
    /// How a block's threads lie over the columns and down along them.
    enum class layout {
        alone,    // all beside each other, over all kept axes taken together: no two share a column
        wide,     // up to 64 beside each other, over all kept axes taken together
        narrow,   // beside each other over the innermost kept axis, which is short: memory goes on below
        packed,   // the same for columns so short that several such groups are a block
        gapless,  // by vectors of the run of memory that the columns are; in the end a thread has one column
    };

    std::uint8_t inner_bucket() const { return b_.key.axes[static_cast<std::size_t>(inner_)].bucket; }

    /// The class promises that what is folded has no gaps. Nothing else may be wanted along the columns, nor where in
    /// its column an element is.
    bool is_gapless() const {
        constexpr std::uint8_t least_bucket = 4;  // some vectors for each thread
        if ((inner_bucket() & bucket::gapless_columns) == 0 || spaces_.size() != 1 || !spaces_[0].outputs.empty() ||
            spaces_[0].axes.size() != 1 || bucket_ < least_bucket || !b_.generators.empty() || !b_.unravellings.empty())
            return false;
        const folded_space& s = spaces_[0];
        const std::vector<bool> below = nodes_below(b_.graph, s.values);
        const std::vector<const place*> inputs = inputs_of(s);
        if (b_.rank > 1 && !split_ && std::ranges::all_of(inputs, [](const place* in) { return in->at->head.vector; }))
            return false;  // groups of threads read them as well where they lie
        for (const place& in : b_.inputs)
            if (below[in.node] && (loops_of(in) & axis_bit(inner_)) != 0 &&
                ((loops_of(in) & s.bits()) == 0 || bytes_of(in) != bytes_of(*inputs[0])))
                return false;
        for (const place* in : inputs)
            if (loops_of(*in) != (kept_bits() | s.bits())) return false;
        return !inputs.empty() &&
               std::none_of(folds_[0].begin(), folds_[0].end(), [](const fold_writer& f) { return f.places(); });
    }

    /// As many blocks as are resident at once, where there are not more places of the outer axes. Without such axes,
    /// one block for each multiprocessor: the fewer there are, the sooner the last has joined what they found.
    void choose_gapless() {
        constexpr std::uint32_t most_words = 20, most_room = 44 * 1024;
        const bool one = b_.rank == 1;
        layout_ = layout::gapless;
        each_ = std::min(4u, 16 / bytes_of(*inputs_of(spaces_[0])[0]));
        light_ = !one && words_ == 1 && inputs_of(spaces_[0]).size() == 1;
        while (each_ > 1 &&
               (each_ * cost_of(b_.graph, spaces_[0].values) > statement_budget || each_ * words_ > most_words))
            each_ /= 2;
        threads_ = one ? (words_ > 2 ? medium_block : large_block) : words_ > 2 || light_ ? small_block : medium_block;
        while (threads_ * (each_ + 1) * widest_part() > most_room) threads_ /= 2;
        // Parts of several words want registers.
        std::uint32_t bytes = 0;
        for (const fold_writer& f : folds_[0]) bytes += f.bytes();
        const bool wide_parts = bytes > wide_part_bytes;
        resident_ = words_ > 2 && (one || wide_parts) ? resident_threads / 2 : resident_threads;
        if (is_exponentials()) {  // of doubles a thread has two tiles, one of them on its way
            resident_ = doubles() ? resident_threads / 2 : resident_threads;
            const bool few_columns = (inner_bucket() & bucket::short_inner) != 0;
            threads_ = one ? resident_ : few_columns ? small_block : medium_block;
        }
        least_blocks_ = blocks_ = resident_ / threads_;
    }

    /// Nothing but a sum of exponentials, which keeps a multiprocessor busy while what it reads next is on its way.
    bool is_exponentials() const { return words_ == 2 && folds_[0].size() == 1 && folds_[0][0].counts_entries(); }
    bool doubles() const { return bytes_of(*inputs_of(spaces_[0])[0]) == 8; }
    std::uint64_t outer_bits() const { return kept_bits() & ~axis_bit(inner_); }
    bool alone() const { return layout_ == layout::alone; }
    bool gapless() const { return layout_ == layout::gapless; }
    std::string lane() const override { return alone() ? "0" : "down"; }
    std::string lanes() const override { return alone() ? "1" : "height"; }
    std::string first_result() const override { return "first"; }
    std::string mine() const override { return "mine && "; }
    /// Of wide columns' moments the last block would have much to load.
    std::string blocks_that_meet() override {
        constexpr std::uint32_t group = 12, narrow = 20;
        if (!gapless() || b_.rank > 1 || words_ <= 2) return "";
        return b_.count({.axes = axis_bit(inner_)}, "width") + " < " + std::to_string(narrow) +
               " ? gridDim.y : " + std::to_string(group);
    }
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
        constexpr std::uint32_t most_words = 15;  // of registers for results
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
    std::uint32_t unroll(const folded_space& s) const {
        constexpr std::uint32_t bytes = 64, narrow_bytes = 32, least_bytes = 16;  // one by one is more work
        const bool heavy = alone() && words_ > 2;
        if (layout_ == layout::wide && !split_) return unroll_of(s, bytes_at_once(s), 1, columns_, 2 * bytes);
        return unroll_of(s, bytes_at_once(s), 1, columns_,
                         columns_ > 1 || split_ ? bytes
                         : heavy                ? least_bytes
                                                : narrow_bytes);
    }
    /// Rows of threads of a packed group: so many that each folds a tile, and that the widest group has room.
    std::uint32_t packed_height() const {
        constexpr std::uint32_t short_inner = 32;
        const std::uint32_t rows = (16u << bucket_) / unroll(spaces_[longest_]);
        return std::clamp(rows, 2u, threads_ * columns_ / short_inner);
    }

    void write_place() override {
        alone() ? write_alone() : layout_ == layout::wide ? write_wide() : gapless() ? write_run() : write_narrow();
        write_column_digits();
        load_kept(columns_ == 1 ? kept_bits() : outer_bits());
        if (columns_ > 1) load_own();
        if (alone()) return;
        b_.code.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[",
                     threads_ * (gapless() ? each_ + 1 : columns_) * widest_part() / 8, "];");
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

    /// A block has the columns of one place of the outer axes, or of several where these are few vectors.
    void write_run() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), width = b_.count({.axes = axis_bit(inner_)}, "width"),
                          by_width = b_.divisor({.axes = axis_bit(inner_)}, "by_width"), all = std::to_string(threads_);
        constexpr std::uint32_t vectors_a_thread = 8;
        b_.step.grid[0] = {.axes = outer_bits(),
                           .inner = spaces_[0].bits() | axis_bit(inner_),
                           .inner_divide = each_ * vectors_a_thread,
                           .room = threads_};
        if (b_.rank == 1) {
            out.line("const ", type, " height = quotient(", all, "u, ", by_width, "), active = height * ", width,
                     ", lane = threadIdx.x;");
            out.line("const ", type, " down = quotient(lane, ", by_width, ");");
            out.line("const bool mine = down < height;");
        } else {
            const std::string outers = b_.count({.axes = outer_bits()}, "outers");
            out.line("const ", type, " groups = (", outers, " + gridDim.x - 1) / gridDim.x;");
            out.line("const ", type, " height = quotient(", all, "u, ", by_width, ") / groups, active = height * ",
                     width, ";");
            out.line("const ", type, " group = threadIdx.x / active, lane = threadIdx.x - group * active;");
            out.line("const ", type, " at = ", block(), " * groups + group;");
            out.line("const bool mine = group < groups && at < ", outers, ";");
            // Threads for which there is no whole group stand below all others.
            out.line("const ", type, " down = group < groups ? quotient(lane, ", by_width, ") : height;");
            out.line("const ", type, " outer = at < ", outers, " ? at : ", outers, " - 1;");
        }
        column_ = "(lane - quotient(lane, " + by_width + ") * " + width + ')';
    }
    std::uint32_t run_unroll() const {
        const std::uint32_t wanted = (light_ ? 128 : 64) * 1024 / resident_;  // bytes of a thread, in flight
        const folded_space& s = spaces_[0];
        return unroll_of(s, static_cast<std::uint32_t>(inputs_of(s).size()) * bytes_of(*inputs_of(s)[0]) * each_, each_,
                         each_, wanted);
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

    /// As many as there are, about, where registers hold them.
    std::uint32_t slots_at_once() const override {
        if (gapless()) return b_.rank > 1 ? 4 : words_ > 2 ? 24 : 10;
        return columns_ > 1 && words_ <= 2 ? 16 : 8;
    }
    bool has_rounds(const std::vector<fold_writer>& folds) const override {
        // A thread has few tiles, and no registers to spare.
        return rounds(folds) && !(gapless() && b_.rank > 1) && !(alone() && bucket_ == 1);
    }
    std::string results_of(const fold_writer& f) const override { return own(gapless() ? f.held() : f.name()); }

    /// The loads of a tile of vectors.
    void write_loads(const folded_space& s, const std::string& at) override {
        gapless() ? load_run(s, at, "") : cuda_fold::write_loads(s, at);
    }
    void load_run(const folded_space& s, const std::string& at, const std::string& suffix) {
        for (const place* in : inputs_of(s)) {
            const std::uint32_t bytes = bytes_of(*in) * each_;
            const std::string from =
                in->name + "_from + (" + at + ')' + (each_ == 1 ? "" : " * " + std::to_string(each_));
            if (each_ == 1)
                b_.code.line(in->name, suffix, "[u] = ", in->at->head.aliased ? "*(" : "__ldg(", from, ");");
            else
                b_.code.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), word_of(bytes, in->at->head.type)),
                             '<', word_of(bytes, in->at->head.type), ">(", in->name, suffix, "[u], ", from, ");");
        }
    }

    /// The elements before the first whole vector and behind the last are fewer than two vectors: a thread each.
    void write_gapless() {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        std::vector<fold_writer>& folds = folds_[0];
        const std::vector<const place*> inputs = inputs_of(s);
        const std::string type = b_.linear(), u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4);
        const std::uint64_t cells = s.bits() | axis_bit(inner_);
        const std::string n = b_.count({.axes = cells}, "cells"), each = std::to_string(each_);
        if (split_) {
            constexpr std::uint32_t piece_bytes = 32 * 1024;
            split(axis_bit(inner_), piece_bytes / bytes_of(*inputs[0]), blocks_, b_.rank == 1 ? 0 : 1, threads_);
        }
        declare_results(folds);
        const auto outside = b_.body.scope();
        out.open();
        columns_ = each_;
        for (const place* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_run = ", b_.pointer(*in),
                     b_.offset(*in, outer_bits()), ";");
        out.line("const ", type, " head = min(", n, ", ", type, "(-(reinterpret_cast<", u8, ">(", inputs[0]->name,
                 "_run) / ", bytes_of(*inputs[0]), ") % ", each, "));");
        out.line("const ", type, " vectors = (", n, " - head) / ", each, ", edges = ", n, " - vectors * ", each, ";");
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.edge(), " = ", f.start(), ";");
        out.open("if (", split_ ? "blockIdx.y == 0 && " : "", "mine && lane < edges)");
        out.line("const ", type, " at = lane < head ? lane : lane + vectors * ", each, ";");
        for (const place* in : inputs) {
            out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", in->name, "_run[at];");
            b_.body.name(in->node, in->name);
        }
        for (fold_writer& f : folds) {
            const std::string value = f.entry(b_.body.value(f.value(), out), "at");
            out.line(f.edge(), " = ", f.has_parts() ? f.of_part(f.with_one(f.part_start(), value)) : f.of_one(value),
                     ";");
        }
        out.close();
        b_.body.leave(outside);
        for (const place* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_from = ", in->name,
                     "_run + head;");
        for (fold_writer& f : folds) declare(f.type(), f.held(), f.start());
        declare_parts(folds);
        const std::uint32_t tile = run_unroll();
        const std::string tiles = std::to_string(tile) + " * active";
        if (split_) {  // rounds of whole tiles, then even pieces of what is left
            const std::string width = b_.count({.axes = axis_bit(inner_)}, "width");
            out.line("const ", type, " round = gridDim.y * ", tiles, ", rounds = vectors / round * round;");
            is_exponentials() && doubles() ? write_rounds_ahead(tile) : write_rounds(tile);
            b_.body.leave(outside);
            out.line("const ", type, " pieces = gridDim.y * ", width,
                     ", piece = (vectors - rounds + pieces - 1) / pieces * ", width, ";");
            out.line("const ", type, " k = rounds + blockIdx.y * piece + lane;");
            out.line("const ", type, " end = mine ? min(vectors, rounds + (blockIdx.y + 1) * piece) : 0;");
            out.open("if (k < end)");
            write_tile(0, tile, " * active", "end");
            out.close();
            b_.body.leave(outside);
        } else {
            out.line("const ", type, " end = mine ? vectors : 0;");
            write_tiles(0, tile, "lane", " * active", "end", tiles);
        }
        join_parts(folds);
        columns_ = 1;
        add_run_of_columns();
        out.line("const run_of_columns run{", b_.count({.axes = axis_bit(inner_)}, "width"), ", ", column_, ", down, ",
                 "height, head, vectors * ", each, ", edges, ",
                 b_.rank == 1 ? std::string("0") : "group < groups ? group * active : 0", ", ",
                 b_.divisor({.axes = axis_bit(inner_)}, "by_width"), "};");
        for (fold_writer& f : folds)
            out.line(f.name(), " = ", add_join_run(f), '<', f.joiner(), ", ", each_, ", ", threads_, ">(",
                     each_ == 1 ? "&" : "", f.held(), ", ", f.edge(), ", ", f.start(), ", room, run);");
        b_.body.leave(outside);
        out.close();
    }

    void write_rounds(std::uint32_t tile) {
        b_.code.open("for (", b_.linear(), " k = blockIdx.y * ", tile,
                     " * active + lane; mine && k < rounds; k += round)");
        write_tile(0, tile, " * active", "");
        b_.code.close();
    }

    /// The same, a tile being on its way while the one before it is joined.
    void write_rounds_ahead(std::uint32_t tile) {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        const auto load = [&](const std::string& at, const std::string& suffix) {
            out.open("if (mine && ", at, " < rounds)");
            open_unrolled("u", tile);
            load_run(s, at + " + u * active", suffix);
            out.close();
            out.close();
        };
        out.open();
        out.line(b_.linear(), " k = blockIdx.y * ", tile, " * active + lane;");
        declare_tile(0, tile);
        load("k", "");
        out.open("for (; mine && k < rounds; k += round)");
        declare_tile(0, tile, "_next");
        load("k + round", "_next");
        write_tile(0, tile, " * active", "", true);
        open_unrolled("u", tile);
        open_columns();
        for (const place* in : inputs_of(s)) {
            const std::string element = columns_ == 1 ? "[u]" : "[u][e]";
            out.line(in->name, element, " = ", in->name, "_next", element, ";");
        }
        close_columns();
        out.close();
        out.close();
        out.close();
    }

    void add_run_of_columns() {
        b_.needs.add("run_of_columns",
                     "/// Where this thread's column is found among the vectors of its group of threads.\n"
                     "struct run_of_columns {\n    " +
                         b_.linear() +
                         " width, column, down, height, head, tail, edges, first_thread;\n    divisor by_width;\n};\n");
    }

    std::string add_join_run(const fold_writer& f) {
        const std::string index = b_.linear(), name = f.joins_at_once() ? "join_run_at_once" : "join_run";
        const std::string all = f.joins_at_once() ? "fold::join_all(parts)" : b_.join_pairs("fold", each_, "parts");
        b_.needs.add(
            name,
            "/// What the threads have of a column, each n variables and perhaps an edge. Every thread gets a part:\n"
            "/// those with the same column, `height` of them, have all of it together.\n"
            "template <class fold, int n, int threads, class type>\n"
            "__device__ __forceinline__ type " +
                name +
                "(const type* v, type edge, type start, void* room, run_of_columns run) {\n"
                "    type* const cells = static_cast<type*>(room);\n"
                "    type* const edges = cells + n * threads;\n"
                "    __syncthreads();\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < n; ++i) cells[threadIdx.x * n + i] = v[i];\n"
                "    edges[threadIdx.x] = edge;\n"
                "    __syncthreads();\n"
                "    if (run.down >= run.height) return start;\n"
                "    const " +
                index +
                " shift = run.head - quotient(run.head, run.by_width) * run.width;\n"
                "    const " +
                index +
                " first = run.column < shift ? run.column + run.width - shift : run.column - shift;\n"
                "    const type* const own = cells + run.first_thread * n + first;\n"
                "    type parts[n];\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < n; ++i) parts[i] = own[(run.down + i * run.height) * run.width];\n"
                "    type all = " +
                all + ";\n    for (" + index +
                " i = 0; run.down == 0 && i < run.edges; ++i) {\n"
                "        const " +
                index +
                " at = i < run.head ? i : i + run.tail;\n"
                "        if (at - quotient(at, run.by_width) * run.width == run.column)\n"
                "            all = fold::join(all, edges[run.first_thread + i]);\n"
                "    }\n"
                "    return all;\n}\n");
        return name;
    }

    void write_space(std::size_t number) override {
        if (gapless()) return write_gapless();
        source_writer& out = b_.code;
        const folded_space& s = spaces_[number];
        const std::uint32_t tile = unroll(s);
        const bool shared = split_;  // shorter spaces too: what each block has is joined
        if (split_ && number == longest_) {
            const std::uint32_t most = layout_ == layout::wide ? most_across : threads_;
            split(0, threads_ / most_across * tile, blocks_, 0, most * columns_);
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

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        const std::string index = b_.linear(), name = f.joins_at_once() ? "join_down_at_once" : "join_down";
        const std::string part =
            f.joins_at_once()
                ? "            for (int i = 0; i < n; ++i) {\n"
                  "                type four[4] = {v[i]};\n"
                  "#pragma unroll\n"
                  "                for (int k = 1; k < 4; ++k)\n"
                  "                    if (down + k * part < height) four[k] = own[k * part * across * n + i];\n"
                  "                own[i] = v[i] = fold::join_all(four);\n"
                  "            }\n"
                : "            for (int i = 0; i < n; ++i) own[i] = v[i];\n";
        const std::string others =
            f.joins_at_once() ? ""
                              : "            for (" + index +
                                    " other = down + part; other < height; other += part) {\n"
                                    "#pragma unroll\n"
                                    "                for (int i = 0; i < n; ++i) v[i] = fold::join(v[i], own[(other - "
                                    "down) * across * n + i]);\n"
                                    "            }\n";
        b_.needs.add(
            name,
            "/// Joins over the rows of threads, each of n variables; those of the first row have the results.\n"
            "template <class fold, int n, class type>\n"
            "__device__ __forceinline__ void " +
                name + "(type* v, void* room, " + index + " across, " + index + " down, " + index +
                " height) {\n"
                "    type* const own = static_cast<type*>(room) + threadIdx.x * n;\n"
                "    __syncthreads();  // the last fold was in the same place\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < n; ++i) own[i] = v[i];\n"
                "    while (height > 1) {\n"
                "        const " +
                index +
                " part = (height + 3) / 4;\n"
                "        __syncthreads();\n"
                "        if (down < part) {\n" +
                others + "#pragma unroll\n" + part +
                "        }\n"
                "        height = part;\n"
                "    }\n}\n");
        b_.code.line(name, "<", joiner, ", ", columns_, ">(", columns_ == 1 ? "&" : "", variable, ", room, ",
                     gapless() ? "p.width" : "p.across", ", down, height);");
    }

    void describe(launch& step) const override {
        step.pattern = split_ ? "split column reduction" : "column reduction";
        const std::string each = columns_ == 1 ? "a column" : std::to_string(columns_) + " columns";
        step.reason = each + " a thread, neighbours read neighbours" +
                      (alone()                     ? ""
                       : gapless()                 ? ", " + std::to_string(each_) + " at once of their run of memory"
                       : layout_ == layout::wide   ? ", up to 64 threads beside each other, the others below"
                       : layout_ == layout::narrow ? ", a short row of columns side by side, the others below"
                                                   : ", several groups a block: both axes are short") +
                      (split_ ? ", several blocks a column" : "");
    }

    int inner_;
    layout layout_ = layout::wide;
    bool light_ = false;                         // one array and one word, on a middle axis
    std::uint32_t each_ = 1;                     // elements that a thread of a gapless layout loads at once
    std::uint32_t resident_ = resident_threads;  // threads of a multiprocessor
    std::uint32_t blocks_ = 1;                   // of a multiprocessor, where several share columns
    std::string column_;                         // the text of this thread's vector of columns
};

}  // namespace

void emit_column_fold_cuda(const key& k, const graph& g, const folding& f, plan& p) { column_fold(k, g, f).write(p); }

}  // namespace ingot::codegen
