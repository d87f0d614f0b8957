// Folds across memory of wide columns without gaps, 16 bytes a thread wherever their rows begin: a block has a strip of
// neighbouring columns. Of rows that begin anywhere every fourth (of 4-byte elements) begins at the same place of a
// vector; rows of threads come in fours, so each thread meets the same columns again and again. Some elements of a
// strip's neighbours are loaded with it and folded by nobody; in the end a thread has a column.
#include <algorithm>

#include "codegen/cuda_join.hpp"
#include "codegen/fold_cuda.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint8_t split_bucket = 6;  // of columns that several blocks share

class column_strips final : public cuda_fold {
public:
    column_strips(const key& k, const graph& g, const folding& f) : cuda_fold(k, g, f, 256), inner_(b_.rank - 1) {
        if (!fits()) return;
        const std::vector<const place*> inputs = inputs_of(spaces_[0]);
        split_ = bucket_ >= split_bucket;
        ahead_ = split_ && gains_from_tiles_ahead();
        least_blocks_ = blocks_ = ahead_ ? blocks_ahead : split_ ? 2 : 3;
        if (ahead_) b_.step.blocks_in_waves = blocks_ahead_in_waves;
        each_ = ahead_ ? 1 : 16 / bytes_of(*inputs[0]);
        aligned_ = each_ == 1 || is_aligned();
        columns_ = each_;
        unroll_ = unroll_of(spaces_[0], bytes_at_once(spaces_[0]), 1, each_, ahead_ ? bytes_ahead : 128);
        columns_ = 1;
    }

    bool fits() const {
        constexpr std::uint32_t most_words = 20;
        constexpr std::uint8_t least_bucket = 3;  // shorter columns a thread each
        if (b_.rank == 0 || spaces_.size() != 1) return false;
        const folded_space& s = spaces_[0];
        if (!is_wide() || s.axes.size() != 1 || !s.outputs.empty() || bucket_ < least_bucket ||
            !b_.generators.empty() || !b_.unravellings.empty())
            return false;
        const std::vector<const place*> inputs = inputs_of(s);
        if (inputs.empty() || (bytes_of(*inputs[0]) != 4 && bytes_of(*inputs[0]) != 8)) return false;
        const std::uint32_t each = 16 / bytes_of(*inputs[0]);
        // Parts of many words have long columns of floats, and begin anywhere, or the joins cost more than is gained.
        if (words_ > 2 && (each != 4 || bucket_ < split_bucket || is_aligned())) return false;
        const std::vector<bool> below = nodes_below(b_.graph, s.values);
        return each * words_ <= most_words && each * 2 * cost_of(b_.graph, s.values) <= statement_budget &&
               std::ranges::all_of(inputs,
                                   [&](const place* in) {
                                       return loops_of(*in) == (kept_bits() | s.bits()) &&
                                              bytes_of(*in) == bytes_of(*inputs[0]);
                                   }) &&
               std::ranges::none_of(b_.inputs,
                                    [&](const place& in) {
                                        return below[in.node] && (loops_of(in) & s.bits()) == 0 &&
                                               (loops_of(in) & axis_bit(inner_)) != 0;
                                    }) &&
               std::ranges::none_of(folds_[0], [](const fold_writer& f) { return f.places(); });
    }

private:
    /// Of fewer columns a block would have a row or two, and many threads none.
    bool is_wide() const {
        const std::uint8_t inner_bucket = b_.key.axes[static_cast<std::size_t>(inner_)].bucket;
        return (inner_bucket & bucket::wide_gapless_columns) != 0 ||
               ((inner_bucket & bucket::middling_gapless_columns) != 0 && bucket_ >= split_bucket &&
                gains_from_tiles_ahead());
    }
    bool is_aligned() const {
        return std::ranges::all_of(inputs_of(spaces_[0]), [](const place* in) { return in->at->head.vector; });
    }
    /// Vectors of a strip, and how many strips there are; rows that begin anywhere have a part of one more.
    formula strip(bool strips) const {
        const std::uint32_t most_across = ahead_ ? 64 : 32;  // so that most threads have a vector of some row
        const std::uint32_t spare = aligned_ ? 0 : 1;
        return {.inner = axis_bit(inner_),
                .inner_divide = each_,
                .threads = ahead_ ? threads_ : 0,
                .strip = most_across - spare,
                .spare = spare,
                .strips = strips};
    }

    std::string lane() const override { return "share"; }
    std::string lanes() const override { return "shares"; }
    std::string first_result() const override { return "first"; }
    std::string mine() const override { return "mine && "; }
    std::string owner() override { return "if (mine && share == 0)"; }
    std::string results_of(const fold_writer& f) const override { return own(f.held()); }
    std::uint32_t slots_at_once() const override { return words_ > 2 ? 8 : 6; }
    /// Of shorter columns a thread has few tiles.
    bool has_rounds(const std::vector<fold_writer>& folds) const override { return split_ && rounds(folds); }
    bool rest_in_halves(const std::vector<fold_writer>&, std::uint32_t) const override { return true; }

    void write_place() override {
        source_writer& out = b_.code;
        const std::string type = b_.linear(),
                          width = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_)),
                          across = b_.count(strip(false), "across"), by_across = b_.divisor(strip(false), "by_across"),
                          block = b_.wide() ? type + "(blockIdx.x)" : "blockIdx.x";
        std::string number = block;
        b_.step.grid[0] = strip(true);
        b_.step.grid[0].axes = outer_bits();
        if (b_.rank > 1) {
            out.line("const ", type, " outer = quotient(", block, ", ", b_.divisor(strip(true), "by_strips"), ");");
            number = '(' + block + " - outer * " + b_.count(strip(true), "strips") + ')';
            b_.write_digits("outer", std::vector<int>(kept_.begin(), kept_.end() - 1));
        }
        out.line("const ", type, " width = ", aligned_ ? across : '(' + across + " - 1)", " * ", each_,
                 ", begin = ", number, " * width, there = min(width, ", width, " - begin);");
        out.line("const ", type, " down = quotient(threadIdx.x, ", by_across, "), height = quotient(", threads_, "u, ",
                 by_across, ")", aligned_ ? "" : " & ~" + std::to_string(each_ - 1) + 'u', ";");
        out.line("const ", type, " vector = threadIdx.x - down * ", across, ";");
        // In the end.
        out.line("const ", type, " share = threadIdx.x / uint32(width), shares = ", threads_, "u / uint32(width);");
        b_.needs.type(dtype::u4);
        out.line("const ", type, " column = threadIdx.x - share * width;");
        out.line("const bool mine = column < there && share < shares;");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(),
                 "(begin + min(column, there - 1));");
        if (split_)
            out.line("const ", type, " first = ", b_.rank == 1 ? "" : "outer * " + width + " + ", "begin + column;");
        load_kept(kept_bits());
        out.line("alignas(16) __shared__ ", b_.needs.type(dtype::u8), " room[",
                 (threads_ + threads_ / 16) * each_ * widest_part() / 8, "];");
    }

    std::string address(const place& in, const std::string& at) {
        return in.name + "_from + (" + at + ") * " + b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
    }
    void write_loads(const folded_space& s, const std::string& at) override {
        for (const place* in : inputs_of(s)) {
            if (each_ == 1) {
                b_.code.line(in->name, "[u] = ", scalar_load(*in), address(*in, at), ");");
                continue;
            }
            const std::string_view word = word_of(16, in->at->head.type);
            b_.code.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), word), '<', word, ">(", in->name,
                         "[u], ", address(*in, at), ");");
        }
    }
    static std::string scalar_load(const place& in) { return in.at->head.aliased ? "*(" : "__ldg("; }

    void write_space(std::size_t) override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        std::vector<fold_writer>& folds = folds_[0];
        const std::vector<const place*> inputs = inputs_of(s);
        const std::string type = b_.linear(), each = std::to_string(each_),
                          pitch = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_)),
                          length = b_.count({.axes = s.bits()}, "folded");
        declare_results(folds);
        const auto outside = b_.body.scope();
        out.open();
        const std::string tile = std::to_string(unroll_) + " * height";
        std::string first = "down", step = tile;
        if (split_) {
            constexpr std::uint32_t least_rows = 128;
            split(0, least_rows, blocks_, 0, threads_, ahead_ ? waves_of_columns() : 1);
        }
        if (split_)  // tiles in turn: what was read last lies near the end, where who comes next begins
            first = "blockIdx.y * " + tile + " + down", step = "gridDim.y * " + tile;
        for (const place* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_strip = ", b_.pointer(*in),
                     b_.offset(*in, outer_bits()), " + begin;");
        if (!aligned_)
            out.line("const ", type, " shift = ", type, "(reinterpret_cast<", b_.needs.type(dtype::u8), ">(",
                     inputs[0]->name, "_strip + down * ", pitch, ") / ", bytes_of(*inputs[0]), " % ", each, ");");
        const std::string shift = aligned_ ? "" : " - shift";
        out.line("const bool active = down < height && vector * ", each, " < there", aligned_ ? "" : " + shift", ";");
        for (const place* in : inputs)
            out.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_from = ", in->name,
                     "_strip + vector * ", each, shift, ";");
        columns_ = each_;
        for (fold_writer& f : folds) declare(f.type(), f.held(), f.start());
        declare_parts(folds);
        if (!aligned_) write_cut(tile);
        out.line("const ", type, " n = active ? ", length, aligned_ ? "" : " - cut", " : 0;");
        const std::string apart = " * height";
        if (ahead_) {
            out.line(type, " k = ", first, ";");
            write_tiles_ahead(
                0, unroll_, apart, step, "height * " + pitch,
                [&](const std::string& at) { return at + " + " + std::to_string(unroll_ - 1) + apart + " < n"; },
                [&](const place& in, const std::string& at) { return address(in, at); });
            if (unroll_ > 1) write_rest(0, unroll_, apart, "n");
        } else {
            write_tiles(0, unroll_, first, apart, "n", step);
        }
        if (!aligned_) write_last(first);
        join_parts(folds);
        columns_ = 1;
        for (fold_writer& f : folds) write_joined(f, shift);
        b_.body.leave(outside);
        out.close();
    }

    /// The last vector of an array may end behind it.
    void write_cut(const std::string& tile) {
        const std::string length = b_.count({.axes = spaces_[0].bits()}, "folded");
        b_.code.line("const ", b_.linear(), " cut = blockIdx.x + 1 == gridDim.x && ",
                     split_ ? '(' + length + " - 1) / (" + tile + ") % gridDim.y == blockIdx.y && " : "",
                     "(vector + 1) * ", each_, " > there + shift;");
    }
    void write_last(const std::string& first) {
        source_writer& out = b_.code;
        const std::string end = b_.count({.axes = spaces_[0].bits()}, "folded");
        const auto outside = b_.body.scope();
        const std::string pitch = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
        out.open("if (cut && active && (", end, " - 1 - (", first, ")) % height == 0)");
        open_columns();
        out.line("if (vector * ", each_, " + e >= there + shift) break;");
        for (const place* in : inputs_of(spaces_[0])) {
            const std::string from = in->name + "_from + (" + end + " - 1) * " + pitch + " + e";
            out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", scalar_load(*in), from, ");");
            b_.body.name(in->node, in->name);
        }
        for (fold_writer& f : folds_[0]) join_one(f, f.entry(b_.body.value(f.value(), out), end + " - 1"));
        close_columns();
        out.close();
        b_.body.leave(outside);
    }

    void write_joined(fold_writer& f, const std::string& shift) {
        const std::string index = b_.linear();
        b_.needs.add(
            "join_strip",
            "/// What rows of threads have of a strip, each n neighbouring columns from `at` on, becomes what\n"
            "/// threads have of a column each: every `shares`-th row of it.\n"
            "template <class fold, int n, class type>\n"
            "__device__ __forceinline__ type join_strip(const type* v, type start, void* room, bool active, " +
                index + " wide, " + index + " down, " + index + " at,\n" + std::string(44, ' ') + index + " height, " +
                index + " column, " + index + " share, " + index +
                " shares) {\n"
                "    type* const cells = static_cast<type*>(room);\n"
                "    __syncthreads();  // the last fold was in the same place\n"
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
                          wide = aligned_ ? "width" : "width + 2 * " + std::to_string(each_);
        b_.code.line(f.name(), " = join_strip<", f.joiner(), ", ", each_, ">(", each_ == 1 ? "&" : "", f.held(), ", ",
                     f.start(), ", room, active, ", wide, ", down, vector * ", each_, aligned_ ? "" : " + " + more,
                     shift, ", height, mine ? column", aligned_ ? "" : " + " + more, " : 0, share, shares);");
    }

    void combine(fold_writer& f, const std::string& joiner, const std::string& variable) override {
        b_.code.line(join_down(f, b_.linear(), b_.needs), "<", joiner, ", 1>(&", variable,
                     ", room, width, share, shares);");
    }

    void describe(launch& step) const override {
        step.pattern = split_ ? "split column reduction" : "column reduction";
        step.reason = "strips of neighbouring columns, " + std::to_string(each_) + " a thread at once" +
                      (aligned_ ? "" : ", rows that begin alike by the same threads") +
                      (ahead_ ? ", a tile on its way while one is joined" : "") +
                      (split_ ? ", several blocks a column for there are too few to fill the GPU" : "") +
                      ": whole lines of memory at a time";
    }

    int inner_;
    std::uint32_t each_ = 1, unroll_ = 1, blocks_ = 1;
    bool aligned_ = false, ahead_ = false;
};

}  // namespace

bool emit_column_strips_cuda(const key& k, const graph& g, const folding& f, plan& p) {
    if (k.axes.empty() || k.axes[0].owner != 0) return false;
    column_strips columns(k, g, f);
    if (!columns.fits()) return false;
    columns.write(p);
    return true;
}

}  // namespace ingot::codegen
