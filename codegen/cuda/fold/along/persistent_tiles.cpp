// Few long rows on CUDA: tiles of all rows are dealt to the blocks in the order of memory, so that all blocks read near
// each other (cuda/fold/along/row_fold.hpp). A block publishes its part of a row when its next tile lies in another
// row.
#include "codegen/cuda/fold/along/row_fold.hpp"

namespace ingot::codegen {

using namespace detail;

void row_fold::publish_held() {
    join_parts(folds_[0]);
    for (fold_writer& f : folds_[0]) combine(f, f.joiner(), f.name());
    publish_all("slots + held", "publisher");
}

void row_fold::write_persistent_tiles() {
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
    out.line("const ", type, " edge = ", aligned ? "vectors * " + size + " + " : "threadIdx.x < head ? threadIdx.x : ",
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

}  // namespace ingot::codegen
