// Few long rows on CUDA: tiles of all rows are dealt to the blocks in the order of memory, so that all blocks read near
// each other (cuda/fold/along/row_fold.hpp). A block publishes its part of a row when its next tile lies in another
// row.
#include <algorithm>

#include "codegen/cuda/fold/along/row_fold.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

class persistent_tiles final : public row_fold {
public:
    using row_fold::row_fold;

private:
    void locate_thread() override {}

    void write_space(std::size_t) override {
        source_writer& out = b_.code;
        const folded_space& s = spaces_[0];
        std::vector<fold_writer>& folds = folds_[0];
        const std::vector<const array_argument*> inputs = inputs_of(s);
        const space_choice& c = choice_.spaces[0];
        const std::uint32_t each = c.each, tile = threads_ * c.unroll;
        const std::string n = b_.count(points_of(s.bits()), "folded"), type = b_.linear(),
                          elements = std::to_string(tile * each), size = std::to_string(each);
        const bool aligned = c.aligned;
        b_.step.grid[0] = 1;
        b_.step.scratch_count = points_of(kept_bits()) * ceil_divide(points_of(s.bits()), tile * each);

        declare_sharing();
        declare_results(folds);
        declare_parts(folds);
        out.line("const ", type, " row_tiles = (", n, " + ", tile * each - 1, "u) / ", elements, ";");
        out.line(type, " row = 0, tile = blockIdx.y;");
        const auto write_step = [&](const std::string& row, const std::string& at) {
            out.line("for (; ", at, " >= row_tiles; ", at, " -= row_tiles) ++", row, ";");
        };
        write_step("row", "tile");
        out.line(type, " held = row, publisher = tile;  // the row in progress, and this block's first tile of it");
        out.open("while (true)");
        const auto outside = b_.body.scope();
        b_.write_digits("row", kept_axes_);
        if (!aligned) write_head(0, n);
        // After its last tile a block loads nothing and publishes the part that it still holds.
        out.line("const bool is_row = row < ", rows(), ";");
        out.line("const ", type, " vectors = is_row ? ", aligned ? n : "(" + n + " - head)", " / ", each, " : 0;");
        out.line("const ", type,
                 " edge = ", aligned ? "vectors * " + size + " + " : "threadIdx.x < head ? threadIdx.x : ",
                 aligned ? "threadIdx.x" : "threadIdx.x + vectors * " + size, ";");
        out.line("const bool edges = is_row && tile == 0 && threadIdx.x < ", n, " - vectors * ", each, ";");
        load_edges(s, "edges");
        declare_rows(s, aligned);
        out.line("const ", type, " v = tile * ", tile, "u + threadIdx.x;");
        load_vector_tile(0, "vectors");
        out.line(type, " next = row, next_tile = tile + gridDim.y;");
        write_step("next", "next_tile");
        elect_finisher("is_row && next >= " + rows() + " && ");
        out.open("if (row != held)");
        publish_held();
        out.line("if (!is_row) break;");
        out.line("held = row, publisher = tile;");
        for (fold_writer& f : folds) {
            out.line(f.name(), " = ", f.start(), ";");
            out.line(f.part(), " = ", f.part_start(), ";");
        }
        out.close();
        const auto loaded = b_.body.scope();
        out.open("if ((tile + 1) * ", tile, "u <= vectors)");
        join_vector_tile(0, "");
        b_.body.leave(loaded);
        out.otherwise();
        join_vector_tile(0, "vectors");
        b_.body.leave(loaded);
        out.close();
        for (const array_argument* in : inputs) b_.body.name(in->node, in->name + "_edge");
        out.open("if (edges)");
        for (fold_writer& f : folds) join_one(f, f.entry(b_.body.value(f.value(), out), "edge"));
        out.close();
        b_.body.leave(outside);
        out.line("row = next, tile = next_tile;");
        out.close();
        write_shared_finish("min(row_tiles, " + type + "(gridDim.y))");
    }

    void publish_held() {
        join_parts(folds_[0]);
        for (fold_writer& f : folds_[0]) combine(f, f.joiner(), f.name());
        publish_all("slots + held", "publisher");
    }

    void write_ending() override {}
};

bool can_deal_tiles(const folded_kernel& f, const row_layout& c) {
    const cuda_kernel& b = f.kernel();
    const folded_space& s = f.longest_space();
    const row_layout::space& chosen = c.spaces[f.longest()];
    if (b.rank == 0 || f.length_class() < length_class::very_long || f.spaces().size() != 1 || !s.outputs.empty() ||
        chosen.each == 1 || (is_exponentials(f) && !is_light(f)) || !b.generators.empty() || !b.unravellings.empty() ||
        chosen.unroll == 1)
        return false;
    const std::vector<bool> below = nodes_below(b.graph, s.values);
    return std::ranges::all_of(b.inputs,
                               [&](const array_argument& in) {
                                   return !below[in.node] || f.loops_of(in) == 0 || (f.loops_of(in) & s.bits()) != 0;
                               }) &&
           std::ranges::none_of(chosen.packed, [](const array_argument* in) { return in != nullptr; });
}

}  // namespace

std::optional<persistent_tiles_layout> choose_persistent_tiles(const folded_kernel& f, const row_layout& split_rows) {
    if (!can_deal_tiles(f, split_rows)) return {};
    persistent_tiles_layout c{split_rows};
    row_layout::space& s = c.spaces[0];
    c.split = {.piece = c.threads * s.unroll * s.each, .along = f.kept_bits(), .how = block_split::finish::shared};
    // Rows of the only input may begin anywhere; their alignment in the key is not used.
    if (const std::vector<const array_argument*> inputs = f.inputs_of(f.spaces()[0]); inputs.size() == 1) {
        s.aligned = false;
        s.head_unit = choose_head_unit(*inputs[0], c.lanes);
    }
    return c;
}

kernel_shape persistent_tiles_layout::shape() const { return shape_of("persistent tiles"); }

std::string persistent_tiles_layout::reason() const {
    return lanes_of_row() + ", tiles of all rows dealt to the blocks in turn: the rows are too few to fill the GPU";
}

void persistent_tiles_layout::write(cuda_kernel& b, const folded_kernel& f) const {
    persistent_tiles(b, f, *this).write();
}

}  // namespace ingot::codegen
