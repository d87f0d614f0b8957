// Folds across memory of wide columns without gaps, 16 bytes a thread wherever rows begin: a block has a strip of
// neighbouring columns. Where rows begin anywhere, every fourth row (of 4-byte elements) begins at the same place of a
// vector; rows of threads come in fours, so a thread always meets the same columns. A strip's loads include some
// elements of its neighbours, which it does not fold; in the end a thread has one column.
#include "codegen/cuda/fold/across/column_fold.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class column_strips final : public column_writer<column_strips_layout> {
public:
    using column_writer::column_writer;

private:
    /// The vectors of a strip, out of a row's. Rows that begin anywhere have one more vector, of which they use a part.
    formula strip() const {
        return choice_.tiles_ahead ? busiest_width(row_vectors(), choice_.most_across, threads_)
                                   : balanced(row_vectors(), choice_.most_across).size;
    }
    std::uint32_t spare() const { return choice_.aligned ? 0 : 1; }

    std::string lane() const override { return "share"; }
    std::string lanes() const override { return "shares"; }
    std::string owner() override { return "if (mine && share == 0)"; }
    std::string results_of(const fold_writer& f) const override { return own_in_tile(f.held()); }

    void locate_thread() override {
        source_writer& out = b_.code;
        const std::string type = b_.linear(), width = b_.extent(inner_), across = b_.count(strip() + spare(), "across"),
                          by_across = b_.divisor(strip() + spare(), "by_across"), block = this->block();
        std::string number = block;
        const formula strips = ceil_divide(row_vectors(), strip());
        b_.step.grid[0] = points_of(outer_bits()) * strips;
        if (b_.rank > 1) {
            out.line("const ", type, " outer = quotient(", block, ", ", b_.divisor(strips, "by_strips"), ");");
            number = '(' + block + " - outer * " + b_.count(strips, "strips") + ')';
            write_outer_digits();
        }
        out.line("const ", type, " width = ", choice_.aligned ? across : '(' + across + " - 1)", " * ", each_,
                 ", begin = ", number, " * width, there = min(width, ", width, " - begin);");
        out.line("const ", type, " down = quotient(threadIdx.x, ", by_across, "), height = quotient(", threads_, "u, ",
                 by_across, ")", choice_.aligned ? "" : " & ~" + std::to_string(each_ - 1) + 'u', ";");
        out.line("const ", type, " vector = threadIdx.x - down * ", across, ";");
        // After the folds a thread has one column.
        out.line("const ", type, " share = threadIdx.x / uint32(width), shares = ", threads_, "u / uint32(width);");
        b_.needs.type(dtype::u4);
        out.line("const ", type, " column = threadIdx.x - share * width;");
        out.line("const bool mine = column < there && share < shares;");
        write_inner_digit("begin + min(column, there - 1)");
        if (split_)
            out.line("const ", type, " first = ", b_.rank == 1 ? "" : "outer * " + width + " + ", "begin + column;");
        load_invariants(kept_bits());
        declare_room((threads_ + threads_ / 16) * each_);
    }

    std::string address(const array_argument& in, const std::string& at) {
        return in.name + "_from + (" + at + ") * " + b_.extent(inner_);
    }
    void write_loads(const folded_space& s, const std::string& at) override {
        load_vectors(s, [&](const array_argument& in) { return address(in, at); });
    }

    void write_space(std::size_t) override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        std::vector<fold_writer>& folds = folds_[0];
        const std::vector<const array_argument*> inputs = inputs_of(s);
        const std::string type = b_.linear(), each = std::to_string(each_), pitch = b_.extent(inner_),
                          length = b_.count(points_of(s.bits()), "folded");
        const std::uint32_t unroll = choice_.unroll;
        declare_results(folds);
        const auto outside = b_.body.scope();
        out.open();
        const std::string tile = std::to_string(unroll) + " * height";
        std::string first = "down", step = tile;
        if (split_) {  // tiles in turn: the tiles read last lie near the end, where the next block begins
            first = "blockIdx.y * " + tile + " + down", step = "gridDim.y * " + tile;
        }
        for (const array_argument* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_strip = ", b_.pointer(*in),
                     b_.offset(*in, outer_bits()), " + begin;");
        if (!choice_.aligned)
            out.line("const ", type, " shift = ", type, "(reinterpret_cast<", b_.needs.type(dtype::u8), ">(",
                     inputs[0]->name, "_strip + down * ", pitch, ") / ", bytes_of(*inputs[0]), " % ", each, ");");
        const std::string shift = choice_.aligned ? "" : " - shift";
        out.line("const bool active = down < height && vector * ", each, " < there", choice_.aligned ? "" : " + shift",
                 ";");
        for (const array_argument* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_from = ", in->name,
                     "_strip + vector * ", each, shift, ";");
        for (fold_writer& f : folds) declare_in_tile(f.type(), f.held(), f.start());
        declare_parts(folds);
        if (!choice_.aligned) write_cut(tile);
        out.line("const ", type, " n = active ? ", length, choice_.aligned ? "" : " - cut", " : 0;");
        const std::string stride = " * height";
        out.line(type, " k = ", first, ";");
        if (choice_.tiles_ahead) {
            write_tiles_ahead(
                0, unroll, stride, step, "height * " + pitch,
                [&](const std::string& at) { return at + " + " + std::to_string(unroll - 1) + stride + " < n"; },
                [&](const array_argument& in, const std::string& at) { return address(in, at); });
            if (unroll > 1) write_rest(0, unroll, stride, "n");
        } else {
            write_tiles(0, unroll, stride, "n", step);
        }
        if (!choice_.aligned) write_last(first);
        join_parts(folds);
        for (fold_writer& f : folds) write_joined(f, shift);
        b_.body.leave(outside);
        out.close();
    }

    /// The last vector of an array may end behind it.
    void write_cut(const std::string& tile) {
        const std::string length = b_.count(points_of(spaces_[0].bits()), "folded");
        b_.code.line("const ", b_.linear(), " cut = blockIdx.x + 1 == gridDim.x && ",
                     split_ ? '(' + length + " - 1) / (" + tile + ") % gridDim.y == blockIdx.y && " : "",
                     "(vector + 1) * ", each_, " > there + shift;");
    }
    void write_last(const std::string& first) {
        source_writer& out = b_.code;
        const std::string end = b_.count(points_of(spaces_[0].bits()), "folded");
        const auto outside = b_.body.scope();
        const std::string pitch = b_.extent(inner_);
        out.open("if (cut && active && (", end, " - 1 - (", first, ")) % height == 0)");
        open_tile_columns();
        out.line("if (vector * ", each_, " + e >= there + shift) break;");
        for (const array_argument* in : inputs_of(spaces_[0])) {
            const std::string from = in->name + "_from + (" + end + " - 1) * " + pitch + " + e";
            out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", scalar_load(*in), from, ");");
            b_.body.name(in->node, in->name);
        }
        for (fold_writer& f : folds_[0]) join_one(f, f.entry(b_.body.value(f.value(), out), end + " - 1"));
        close_tile_columns();
        out.close();
        b_.body.leave(outside);
    }

    void write_joined(fold_writer& f, const std::string& shift) {
        const std::string index = b_.linear();
        b_.needs.add(
            "join_strip",
            "/// Exchanges partial results through shared memory. Each thread passes n adjacent columns, starting at\n"
            "/// `at`, and returns one column, combined over every `shares`-th thread row.\n"
            "template <class fold, int n, class type>\n"
            "__device__ __forceinline__ type join_strip(const type* v, type start, void* room, bool active, " +
                index + " wide, " + index + " down, " + index + " at,\n" + std::string(44, ' ') + index + " height, " +
                index + " column, " + index + " share, " + index +
                " shares) {\n"
                "    type* const cells = static_cast<type*>(room);\n"
                "    __syncthreads();  // the previous reduction used the same shared memory\n"
                "#pragma unroll\n"
                "    for (int i = 0; i < n; ++i)\n"
                "        if (active) cells[down * wide + at + i] = v[i];\n"
                "    __syncthreads();\n"
                "    type all = start;\n"
                "    for (" +
                index +
                " d = share; d < height; d += shares) all = fold::join(all, cells[d * wide + column]);\n"
                "    return all;\n}\n");
        const std::string more = std::to_string(each_ - 1),
                          wide = choice_.aligned ? "width" : "width + 2 * " + std::to_string(each_);
        b_.code.line(f.name(), " = join_strip<", f.joiner(), ", ", each_, ">(", each_ == 1 ? "&" : "", f.held(), ", ",
                     f.start(), ", room, active, ", wide, ", down, vector * ", each_,
                     choice_.aligned ? "" : " + " + more, shift, ", height, mine ? column",
                     choice_.aligned ? "" : " + " + more, " : 0, share, shares);");
    }

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        combine_down(f, joiner, variable, "width");
    }
    void share(fold_writer& f) override { share_down(f, "width"); }
};

/// With fewer columns a block would have a row or two, and many threads no columns.
bool are_wide(const folded_kernel& f) {
    return inner_is(f, axis_flags::wide_contiguous_columns) ||
           (inner_is(f, axis_flags::middling_contiguous_columns) && splits_columns(f) && f.gains_from_tiles_ahead());
}

}  // namespace

std::optional<column_strips_layout> choose_column_strips(const folded_kernel& f) {
    constexpr std::uint32_t most_words = 20;
    constexpr std::uint8_t least_class = 3;  // shorter columns get a thread each
    if (!folds_one_axis_of_arrays(f) || !are_wide(f) || f.length_class() < least_class || !folds_vectors_of_columns(f))
        return {};
    const folded_space& s = f.longest_space();
    const std::vector<const array_argument*> inputs = f.inputs_of(s);
    const std::uint32_t bytes = bytes_of(*inputs[0]), vector = 16 / bytes;
    const bool split = splits_columns(f);
    // Parts of many words: only long columns of floats whose rows begin anywhere, else the joins cost too much.
    if ((bytes != 4 && bytes != 8) || vector * f.words() > most_words ||
        vector * 2 * cost_of(f.kernel().graph, s.values) > statement_budget ||
        (has_many_words(f) && (bytes != 4 || !split || are_aligned(inputs))))
        return {};
    column_strips_layout c;
    c.threads = column_block::small;
    c.tiles_ahead = split && f.gains_from_tiles_ahead();
    c.resident_blocks = c.tiles_ahead ? folded_kernel::blocks_ahead : split ? 2 : 3;
    const std::uint32_t each = c.tiles_ahead ? 1 : vector;
    c.tile_columns = each;
    c.aligned = each == 1 || are_aligned(inputs);
    // Most threads then have a vector of some row; rows that begin anywhere have a part of one vector more.
    c.most_across = (c.tiles_ahead ? 64 : 32) - (c.aligned ? 0 : 1);
    c.unroll = f.unroll_of(s, f.bytes_at_once(s, each), 1, each, c.tiles_ahead ? folded_kernel::bytes_ahead : 128);
    c.slots_at_once = has_many_words(f) ? 8 : 6;
    c.has_rounds = split;  // a thread has few tiles of shorter columns
    if (split) {
        constexpr std::uint32_t least_rows = 128;
        c.split = block_split{.piece = least_rows,
                              .results = c.threads,
                              .waves = c.tiles_ahead ? f.waves_of_columns() : 1,
                              .blocks_in_waves = c.tiles_ahead ? folded_kernel::blocks_ahead_in_waves : 0};
    }
    return c;
}

kernel_shape column_strips_layout::shape() const {
    kernel_shape s = shape_of("strips of columns", unroll, thread_exchange::block);
    s.read_ahead = tiles_ahead ? 1 : 0;
    return s;
}

std::string column_strips_layout::reason() const {
    return "strips of neighbouring columns, " + std::to_string(tile_columns) + " a thread at once" +
           (aligned ? "" : ", rows that begin alike by the same threads") + ahead_and_shared(tiles_ahead) +
           ": whole lines of memory at a time";
}

void column_strips_layout::write(cuda_kernel& b, const folded_kernel& f) const { column_strips(b, f, *this).write(); }

}  // namespace ingot::codegen
