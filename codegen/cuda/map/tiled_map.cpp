// The map kernel for CUDA where operands lie in memory along different axes, as in x + transpose(y). A block has a
// square of the inner axis and of that along which the transposed operands are contiguous (`side`). It reads those into
// shared memory with threads side by side along `side`; other accesses are side by side along the inner axis. A row of
// a tile is an odd number of words longer than a square's, so its columns lie in different banks.
#include <algorithm>

#include "codegen/cuda/map/choice.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

class tiled_map {
public:
    tiled_map(cuda_kernel& b, const tiled_layout& c) : b_(b), layout_(c), inner_(b.rank - 1), side_(c.side) {}

    void write() {
        b_.name_scalars();
        declare_tiles();
        find_square();
        read_direct();
        for (const array_argument& in : b_.inputs)
            if (is_transposed(in)) stage(in);
        b_.code.line("__syncthreads();");
        write_column_digit();
        compute();
        write_outputs();
    }

private:
    bool is_transposed(const array_argument& in) const { return lies_across(in, side_, inner_); }
    bool moves(const array_argument& at, std::uint64_t axes) const { return b_.moves_along(at, axes); }
    std::uint64_t all_axes() const { return axis_range(0, b_.rank); }
    std::string tile() const { return std::to_string(layout_.tile); }
    static std::string tile_of(const array_argument& in) { return in.name + "_tile"; }

    void declare_tiles() {
        for (const array_argument& in : b_.inputs) {
            if (!is_transposed(in)) continue;
            const std::uint32_t pitch = layout_.tile + std::max(1u, 4 / bytes_of(in));
            b_.code.line("__shared__ ", b_.needs.type(in.at->head.type), ' ', tile_of(in), '[', layout_.tile, "][",
                         pitch, "];");
        }
    }

    /// The first element of the block's square, and the thread's rows and columns in it.
    void find_square() {
        source_writer& out = b_.code;
        const std::string type = b_.linear();
        const formula across = ceil_divide(points_of(axis_bit(inner_)), layout_.tile);
        const formula down = ceil_divide(points_of(axis_bit(side_)), layout_.tile);
        const std::uint64_t others = all_axes() & ~axis_bit(inner_) & ~axis_bit(side_);
        b_.step.grid[0] = across * down * points_of(others);
        out.line("const unsigned int column = threadIdx.x % ", tile(), "u, row = threadIdx.x / ", tile(), "u;");
        out.line("const ", type, " below = quotient(", type, "(blockIdx.x), ", b_.divisor(across, "by_across"), ");");
        out.line("const ", b_.signed_index(), " first", inner_, " = ", b_.signed_index(), '(', type,
                 "(blockIdx.x) - below * ", b_.count(across, "across"), ") * ", tile(), ";");
        if (others == 0) {
            out.line("const ", b_.signed_index(), " first", side_, " = ", b_.signed_index(), "(below) * ", tile(), ";");
            return;
        }
        out.line("const ", type, " other = quotient(below, ", b_.divisor(down, "by_down"), ");");
        out.line("const ", b_.signed_index(), " first", side_, " = ", b_.signed_index(), "(below - other * ",
                 b_.count(down, "down"), ") * ", tile(), ";");
        b_.write_digits("other", axes_in(others));
    }

    /// The thread's place along an axis: that of its column, or of its element e.
    void write_digit(const std::string& within, int axis) {
        b_.code.line("const ", b_.signed_index(), ' ', digit(axis), " = first", axis, " + ", b_.signed_index(), '(',
                     within, ");");
    }
    std::string row_of_element() const { return "row + e * " + std::to_string(map_threads / layout_.tile) + 'u'; }

    /// Opens a loop over the thread's elements inside the array along `axis`; `in_column`: whether its column is
    /// inside.
    void open_elements(int axis, const std::string& in_column) {
        b_.open_unrolled("e", layout_.each());
        write_digit(row_of_element(), axis);
        b_.code.open("if (", in_column, " && ", digit(axis), " < ", b_.signed_extent(axis), ")");
    }
    void close_elements() {
        b_.code.close();
        b_.code.close();
    }

    void stage(const array_argument& in) {
        source_writer& out = b_.code;
        out.open();
        write_digit("column", side_);
        open_elements(inner_, digit(side_) + " < " + b_.signed_extent(side_));
        out.line(tile_of(in), '[', row_of_element(), "][column] = ", b_.element(in, b_.offset(in, all_axes())), ";");
        close_elements();
        out.close();
    }

    void write_column_digit() {
        write_digit("column", inner_);
        b_.code.line("const bool in_column = ", digit(inner_), " < ", b_.signed_extent(inner_), ";");
    }

    /// Operands along the rows are loaded before the block waits for its tiles. Operands that do not move along `side`
    /// are read once for all of a thread's elements.
    void read_direct() {
        source_writer& out = b_.code;
        const auto has_elements = [&](const array_argument& in) {
            return !is_transposed(in) && moves(in, axis_bit(side_));
        };
        const auto set = [&](const array_argument& in, const std::string& to) {
            out.line(to, " = ", b_.element(in, b_.offset(in, all_axes())), ";");
        };
        for (const array_argument& in : b_.inputs) {
            const bool elements = has_elements(in);
            const std::string e = "[" + std::to_string(layout_.each()) + "]";
            b_.body.name(in.node, is_transposed(in) ? tile_of(in) + "[column][" + row_of_element() + ']'
                                                    : in.name + (elements ? "[e]" : ""));
            if (!is_transposed(in))
                out.line(b_.needs.type(in.at->head.type), ' ', in.name, elements ? e : "", " = {};");
        }
        const auto has_draws = [&](node_id g) { return (b_.graph.nodes[g].axes & axis_bit(side_)) != 0; };
        const auto draw = [&](node_id g, const std::string& to) {
            out.line(to, " = ", b_.generator_call(g, b_.generator_index(g, all_axes())), ";");
        };
        for (const node_id g : b_.generators) {
            const array_argument leaf = b_.leaf_of(g);
            const std::string e = "[" + std::to_string(layout_.each()) + "]";
            b_.body.name(g, leaf.name + (has_draws(g) ? "[e]" : ""));
            out.line(b_.needs.type(leaf.at->head.type), ' ', leaf.name, has_draws(g) ? e : "", " = {};");
        }
        if (std::ranges::all_of(b_.inputs, [&](const array_argument& in) { return is_transposed(in); }) &&
            b_.generators.empty())
            return;
        out.open();
        write_column_digit();
        for (const array_argument& in : b_.inputs)
            if (!is_transposed(in) && !has_elements(in))
                set(in, (moves(in, axis_bit(inner_)) ? "if (in_column) " : "") + in.name);
        for (const node_id g : b_.generators)
            if (!has_draws(g)) draw(g, b_.leaf_of(g).name);
        if (std::ranges::any_of(b_.inputs, has_elements) || std::ranges::any_of(b_.generators, has_draws)) {
            open_elements(side_, "in_column");
            for (const array_argument& in : b_.inputs)
                if (has_elements(in)) set(in, in.name + "[e]");
            for (const node_id g : b_.generators)
                if (has_draws(g)) draw(g, b_.leaf_of(g).name + "[e]");
            close_elements();
        }
        out.close();
    }

    void compute() {
        source_writer& out = b_.code;
        if (!b_.has_user_text()) b_.body.hoist(all_axes() & ~axis_bit(side_), b_.graph.roots, out);
        for (const array_argument& z : b_.outputs)
            out.line(b_.needs.type(z.at->head.type), ' ', z.name, '[', layout_.each(), "];");
        b_.compute(b_.has_quick_bodies(), [&] {
            b_.open_unrolled("e", layout_.each());
            if (b_.has_user_text())
                out.line("if (!in_column || first", side_, " + ", b_.signed_index(), '(', row_of_element(),
                         ") >= ", b_.signed_extent(side_), ") continue;");
            for (const array_argument& z : b_.outputs)
                out.line(z.name, "[e] = ", b_.body.value(b_.graph.roots[z.index], out), ";");
            out.close();
        });
    }

    void write_outputs() {
        open_elements(side_, "in_column");
        for (const array_argument& z : b_.outputs) b_.store_element(z, b_.offset(z, all_axes()), z.name + "[e]");
        close_elements();
    }

    cuda_kernel& b_;
    const tiled_layout& layout_;
    const int inner_, side_;
};

}  // namespace

/// There must be transposed operands, and a thread's registers must hold its elements.
std::optional<tiled_layout> choose_tiled(const cuda_kernel& b) {
    // The shared memory of a block's tiles: so little that six blocks share a multiprocessor.
    constexpr std::uint32_t most_bytes = 32 * 1024, wide_tile = 64, narrow_tile = 32;
    const transposed_operands across = find_transposed(b);
    if (across.side < 0) return {};
    for (const std::uint32_t tile : {wide_tile, narrow_tile}) {
        const tiled_layout c{across.side, tile};
        if ((tile == narrow_tile || across.widest <= 2) && elements_within(b, c.each()) == c.each() &&
            across.bytes * tile * (tile + 4) <= most_bytes)
            return c;
    }
    return {};
}

kernel_shape tiled_layout::shape() const {
    return {.name = "tiled",
            .threads = map_threads,
            .chunks = each(),
            .source = element_source::staged,
            .tile = tile * tile};
}

std::string tiled_layout::reason() const {
    return "squares of " + std::to_string(tile) +
           ", transposed operands by way of shared memory: coalesced along both axes";
}

void tiled_layout::write(cuda_kernel& b) const { tiled_map(b, *this).write(); }

}  // namespace ingot::codegen
