// Columns on CUDA that lie in memory without gaps, folded by vectors of the run that they form, 16 bytes a thread
// whatever their number. The number of active threads is a multiple of the number of columns, so that a thread's next
// vector, that many vectors further on, lies in the same columns. In the end a thread has one column.
#include <algorithm>

#include "codegen/cuda/fold/across/column_fold.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

class contiguous_columns final : public column_writer<contiguous_columns_layout> {
public:
    using column_writer::column_writer;

private:
    std::string lane() const override { return "down"; }
    std::string lanes() const override { return "height"; }
    std::string owner() override { return "if (mine && down == 0)"; }
    std::string results_of(const fold_writer& f) const override { return own_in_tile(f.held()); }

    void locate_thread() override {
        column_ = write_run();
        const std::string n = b_.extent(inner_);
        write_outer_digits();
        write_inner_digit(column_);
        if (split_)
            b_.code.line("const ", b_.linear(), " first = ", b_.rank == 1 ? "" : "outer * " + n + " + ", digit(inner_),
                         ";");
        load_invariants(kept_bits());
        declare_room(threads_ * (each_ + 1));
    }

    /// A block has the columns of one place of the outer axes, or of several where these have few vectors. Returns the
    /// text of the column that a thread has in the end.
    std::string write_run() {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), width = b_.count(row_width(), "width"),
                          by_width = b_.divisor(row_width(), "by_width"), all = std::to_string(threads_);
        const formula parts =
            ceil_divide(points_of(spaces_[0].bits() | axis_bit(inner_)), each_ * choice_.least_vectors);
        b_.step.grid[0] = ceil_divide(points_of(outer_bits()), points_per_room(threads_, parts));
        if (b_.rank == 1) {
            const std::string most = "quotient(" + all + "u, " + by_width + ')';
            // Steps of whole sectors, which are two vectors, cost no more than a row of threads of many.
            if (choice_.even_steps)
                out.line("const ", type, " most = ", most, ", height = most > 8 ? most - (most & ", width,
                         " & 1) : most;");
            out.line("const ", type, choice_.even_steps ? "" : " height = " + most + ',', " active = height * ", width,
                     ", lane = threadIdx.x;");
            out.line("const ", type, " down = quotient(lane, ", by_width, ");");
            out.line("const bool mine = down < height;");
        } else {
            const std::string outers = b_.count(points_of(outer_bits()), "outers");
            out.line("const ", type, " groups = (", outers, " + gridDim.x - 1) / gridDim.x;");
            out.line("const ", type, " height = quotient(", all, "u, ", by_width, ") / groups, active = height * ",
                     width, ";");
            out.line("const ", type, " group = threadIdx.x / active, lane = threadIdx.x - group * active;");
            out.line("const ", type, " at = ", block(), " * groups + group;");
            out.line("const bool mine = group < groups && at < ", outers, ";");
            // Threads outside any whole group get a row below all others.
            out.line("const ", type, " down = group < groups ? quotient(lane, ", by_width, ") : height;");
            out.line("const ", type, " outer = at < ", outers, " ? at : ", outers, " - 1;");
        }
        return "(lane - quotient(lane, " + by_width + ") * " + width + ')';
    }

    /// The text of the address of vector `at`.
    std::string address_in_run(const array_argument& in, const std::string& at) const {
        return in.name + "_from + (" + at + ')' + (each_ == 1 ? "" : " * " + std::to_string(each_));
    }

    void write_loads(const folded_space& s, const std::string& at) override {
        load_vectors(s, [&](const array_argument& in) { return address_in_run(in, at); });
    }

    /// A thread each folds the elements before the first whole vector and behind the last, fewer than two vectors.
    void write_space(std::size_t) override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        std::vector<fold_writer>& folds = folds_[0];
        const std::vector<const array_argument*> inputs = inputs_of(s);
        const std::string type = b_.linear(), u8 = b_.needs.type(dtype::u8), u4 = b_.needs.type(dtype::u4);
        const std::uint64_t cells = s.bits() | axis_bit(inner_);
        const std::string n = b_.count(points_of(cells), "cells"), each = std::to_string(each_);
        if (shares_results()) declare_sharing();
        declare_results(folds);
        const auto outside = b_.body.scope();
        out.open();
        for (const array_argument* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_run = ", b_.pointer(*in),
                     b_.offset(*in, outer_bits()), ";");
        out.line("const ", type, " head = min(", n, ", ", type, "(-(reinterpret_cast<", u8, ">(", inputs[0]->name,
                 "_run) / ", bytes_of(*inputs[0]), ") % ", each, "));");
        out.line("const ", type, " vectors = (", n, " - head) / ", each, ", edges = ", n, " - vectors * ", each, ";");
        for (fold_writer& f : folds) out.line(f.type(), ' ', f.edge(), " = ", f.start(), ";");
        out.open("if (", split_ ? "blockIdx.y == 0 && " : "", "mine && lane < edges)");
        out.line("const ", type, " at = lane < head ? lane : lane + vectors * ", each, ";");
        for (const array_argument* in : inputs) {
            out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", in->name, "_run[at];");
            b_.body.name(in->node, in->name);
        }
        for (fold_writer& f : folds) {
            const std::string value = f.entry(b_.body.value(f.value(), out), "at");
            out.line(f.edge(), " = ", f.of_one(value), ";");
        }
        out.close();
        b_.body.leave(outside);
        for (const array_argument* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_from = ", in->name,
                     "_run + head;");
        for (fold_writer& f : folds) declare_in_tile(f.type(), f.held(), f.start());
        declare_parts(folds);
        const std::uint32_t tile = choice_.unroll;
        const std::string tiles = std::to_string(tile) + " * active";
        if (split_) {  // rounds of whole tiles, then even pieces of the rest
            const std::string width = b_.count(row_width(), "width");
            out.line("const ", type, " round = gridDim.y * ", tiles, ", rounds = vectors / round * round;");
            out.line(type, " k = blockIdx.y * ", tiles, " + lane, end = mine ? rounds : 0;");
            if (choice_.tiles_ahead)
                write_tiles_ahead(
                    0, tile, " * active", "round", "active", [](const std::string& at) { return at + " < end"; },
                    [&](const array_argument& in, const std::string& at) { return address_in_run(in, at); });
            out.open("for (bool of_round = true; of_round; k += round)");
            out.open("if (k >= end)");
            if (shares_results()) elect_finisher();
            out.line("const ", type, " pieces = gridDim.y * ", width,
                     ", piece = (vectors - rounds + pieces - 1) / pieces * ", width, ";");
            out.line("of_round = false, k = rounds + blockIdx.y * piece + lane;");
            out.line("end = mine ? min(vectors, rounds + (blockIdx.y + 1) * piece) : 0;");
            out.close();
            out.open("if (k < end)");
            write_tile(0, tile, " * active", "end");
            out.close();
            flush_parts(folds, 1, "!of_round");
            out.close();
            b_.body.leave(outside);
        } else {
            out.line("const ", type, " end = mine ? vectors : 0;");
            out.line(type, " k = lane;");
            write_tiles(0, tile, " * active", "end", tiles);
        }
        if (!split_ || !has_rounds(folds)) join_parts(folds);
        add_run_of_columns();
        out.line("const run_of_columns run{", b_.count(row_width(), "width"), ", ", column_, ", down, ",
                 "height, head, vectors * ", each, ", edges, ",
                 b_.rank == 1 ? std::string("0") : "group < groups ? group * active : 0", ", ",
                 b_.divisor(row_width(), "by_width"), "};");
        for (fold_writer& f : folds)
            out.line(f.name(), " = ", add_join_run(f), '<', f.joiner(), ", ", each_, ", ", threads_, ">(",
                     each_ == 1 ? "&" : "", f.held(), ", ", f.edge(), ", ", f.start(), ", room, run);");
        b_.body.leave(outside);
        out.close();
    }

    void add_run_of_columns() {
        b_.needs.add("run_of_columns",
                     "/// Locates this thread's column among the vectors of its group of threads.\n"
                     "struct run_of_columns {\n    " +
                         b_.linear() +
                         " width, column, down, height, head, tail, edges, first_thread;\n    divisor by_width;\n};\n");
    }

    std::string add_join_run(const fold_writer& f) {
        const std::string index = b_.linear(), name = f.joins_at_once() ? "join_run_at_once" : "join_run";
        const std::string all = f.joins_at_once() ? "fold::join_all(parts)" : b_.join_pairs("fold", each_, "parts");
        b_.needs.add(
            name,
            "/// Regroups the partial results of the threads, n variables and an edge element each, by column. The\n"
            "/// `height` threads of a column return one part of its result each.\n"
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

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        combine_down(f, joiner, variable, "p.width");
    }
    void share(fold_writer& f) override { share_down(f, "p.width"); }

    void write_ending() override {
        if (!shares_results()) return cuda_fold::write_ending();
        combine_all();
        const auto located = b_.body.scope();
        b_.code.open("if (gridDim.y > 1)");
        publish_all("slots + first", "blockIdx.y");
        write_shared_finish("gridDim.y");
        b_.code.line("return;");
        b_.code.close();
        b_.body.leave(located);
        write_results(owner());
    }

    std::string column_;  // the text of the column that this thread has in the end
};

/// Whether the columns are one run of memory, as the class promises, with several vectors for each thread.
bool are_contiguous(const folded_kernel& f) {
    constexpr std::uint8_t least_class = 4;
    if (!inner_is(f, axis_flags::contiguous_columns) || !folds_one_axis_of_arrays(f) ||
        f.length_class() < least_class || !folds_vectors_of_columns(f))
        return false;
    // Groups of threads read aligned columns as fast where they lie.
    const bool split = splits_columns(f);
    return f.kernel().rank == 1 || split || !are_aligned(f.inputs_of(f.longest_space()));
}

struct block_size {
    std::uint32_t threads, resident;  // of a block, and of a multiprocessor
};

/// As many blocks as are resident at once, unless the outer axes have fewer places. Without outer axes blocks are
/// large: the fewer there are, the less is published.
block_size choose_contiguous_block(const folded_kernel& f, bool light, std::uint32_t& each) {
    // The longer columns are, the fewer of them there are; the limit is lower for parts of many words.
    constexpr std::uint8_t joined_class = 9, long_class = 11, longest_class = 13;
    const bool one = f.kernel().rank == 1, many_words = has_many_words(f);
    const bool few_columns = inner_is(f, axis_flags::short_inner);
    const std::vector<fold_traits>& folds = f.longest_folds();
    // A small block holds few whole rows of many columns, and the last block has to join the parts of many blocks.
    const bool several = !one && !few_columns;
    // A sum of exponentials alone computes long enough to hide the latency of the next loads.
    if (f.words() == 2 && folds.size() == 1 && folds[0].counts_entries()) {
        const bool doubles = bytes_of(*f.inputs_of(f.longest_space())[0]) == 8;
        const std::uint32_t resident = doubles || (several && f.length_class() >= joined_class)
                                           ? column_block::resident_threads / 2
                                           : column_block::resident_threads;
        return {one ? resident : few_columns ? column_block::small : column_block::medium, resident};
    }
    // Parts of several words need registers.
    std::uint32_t bytes = 0;
    for (const fold_traits& fold : folds) bytes += fold.bytes();
    const bool wide_parts = bytes > column_block::wide_part_bytes, small = many_words || light;
    block_size s{
        one ? (small ? column_block::medium : column_block::large)
            : (small ? column_block::small : column_block::medium),
        many_words && (one || wide_parts) ? column_block::resident_threads / 2 : column_block::resident_threads};
    // While a small block of moments joins its threads' parts, other blocks read.
    if (many_words && few_columns && !one) s.threads = wide_parts ? column_block::least / 2 : column_block::least;
    if (several && f.length_class() >= (many_words ? joined_class : long_class)) {
        s.threads = column_block::medium;
        if (many_words || f.length_class() >= longest_class) s.resident = column_block::medium;
        if (many_words && f.length_class() >= long_class) each = std::min(each, 2u);
    }
    return s;
}

}  // namespace

std::optional<contiguous_columns_layout> choose_contiguous_columns(const folded_kernel& f) {
    constexpr std::uint32_t most_words = 20,
                            bytes_to_finish = 4 * 1024;  // of shared memory, where blocks share results
    if (!are_contiguous(f)) return {};
    const folded_space& s = f.longest_space();
    const std::vector<const array_argument*> inputs = f.inputs_of(s);
    const std::uint32_t bytes = bytes_of(*inputs[0]);
    const bool one = f.kernel().rank == 1, split = splits_columns(f);
    const bool light = f.words() == 1 && inputs.size() == 1;  // then registers hold twice as many loads
    contiguous_columns_layout c;
    c.tiles_ahead = split && f.gains_from_tiles_ahead();
    std::uint32_t each = std::min(4u, 16 / bytes);
    while (each > 1 && (each * cost_of(f.kernel().graph, s.values) > statement_budget || each * f.words() > most_words))
        each /= 2;
    block_size size{column_block::small, folded_kernel::blocks_ahead * column_block::small};
    if (c.tiles_ahead)
        each = 1;
    else
        size = choose_contiguous_block(f, light, each);
    // Where all blocks fold all columns, one last block would have to load too many parts.
    const bool shares_results = split && one;
    while (size.threads * (each + 1) * f.widest_part() >
           column_block::shared_bytes - (shares_results ? bytes_to_finish : 0))
        size.threads /= 2;
    c.threads = size.threads;
    c.tile_columns = each;
    c.resident_blocks = size.resident / size.threads;
    c.even_steps = one && light;
    c.has_rounds = one;  // otherwise a thread has few tiles, and no registers to spare
    c.unroll = f.unroll_of(s, static_cast<std::uint32_t>(inputs.size()) * bytes * each, each, each,
                           c.tiles_ahead ? folded_kernel::bytes_ahead : (light ? 128 : 64) * 1024 / size.resident);
    // One block a multiprocessor has registers for more slots at once; more waves leave fewer idle at the end.
    const bool large_blocks = !one && c.resident_blocks == 1, many_words = has_many_words(f);
    c.slots_at_once = one ? (many_words ? 24 : 10) : large_blocks ? (many_words ? 12 : 8) : 4;
    if (split) {
        constexpr std::uint32_t piece_bytes = 32 * 1024, least_threads = 256;  // of a multiprocessor
        constexpr std::uint32_t waves_of_large_blocks = 6;
        c.split = block_split{.piece = piece_bytes / bytes,
                              .along = axis_bit(inner_axis(f)),
                              .blocks_of_one = one ? 0 : std::max(1u, least_threads / c.threads),
                              .results = c.threads,
                              .waves = large_blocks ? waves_of_large_blocks : f.waves_of_columns(),
                              .blocks_in_waves = c.tiles_ahead ? folded_kernel::blocks_ahead_in_waves : 0,
                              .how = one ? block_split::finish::shared : block_split::finish::last_ticket};
    }
    return c;
}

kernel_shape contiguous_columns_layout::shape() const {
    kernel_shape s = shape_of("runs of columns", unroll, thread_exchange::block);
    s.source = element_source::run;
    s.read_ahead = tiles_ahead ? 1 : 0;
    return s;
}

std::string contiguous_columns_layout::reason() const {
    return where_they_lie(", " + std::to_string(tile_columns) + " at once of their run of memory", tiles_ahead);
}

void contiguous_columns_layout::write(cuda_kernel& b, const folded_kernel& f) const {
    contiguous_columns(b, f, *this).write();
}

}  // namespace ingot::codegen
