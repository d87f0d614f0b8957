// Few long rows on CUDA: tiles of all rows, dealt to the blocks in the order of memory, so that all of them read near
// each other (row_fold_cuda.hpp). A block tells what it has of a row when its next tile lies in another one.
#include <algorithm>

#include "codegen/row_fold_cuda.hpp"

namespace ingot::codegen {

using namespace detail;

bool row_fold::can_deal_tiles() const {
    const folded_space& s = spaces_[longest_];
    const std::uint32_t each = vector_elements(s);
    if (!split_ || b_.rank == 0 || bucket_ < bucket::very_long || spaces_.size() != 1 || !s.outputs.empty() ||
        each == 1 || (is_exponentials() && !is_light()) || !b_.generators.empty() || !b_.unravellings.empty() ||
        unroll_of(s, each) == 1)
        return false;
    const std::vector<bool> below = nodes_below(b_.graph, s.values);
    return std::ranges::all_of(b_.inputs,
                               [&](const place& in) {
                                   return !below[in.node] || loops_of(in) == 0 || (loops_of(in) & s.bits()) != 0;
                               }) &&
           std::ranges::none_of(folds_[0], [&](const fold_writer& f) { return packed_by(f, s, each) != nullptr; });
}

void row_fold::tell_held() {
    join_parts(folds_[0]);
    for (fold_writer& f : folds_[0]) combine(f, f.joiner(), f.name());
    tell_all("slots + held", "teller");
}

void row_fold::write_dealt_tiles() {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[0];
    std::vector<fold_writer>& folds = folds_[0];
    const std::vector<const place*> inputs = inputs_of(s);
    const std::uint32_t each = vector_elements(s), unroll = unroll_of(s, each), tile = threads_ * unroll;
    const std::string n = b_.count({.axes = s.bits()}, "folded"), type = b_.linear(),
                      elements = std::to_string(tile * each), size = std::to_string(each);
    const bool aligned = is_aligned(s) && inputs.size() > 1;
    b_.step.grid[0] = {};
    split(kept_bits(), tile * each, resident_blocks(), 0, 1);
    b_.step.scratch_count = {.axes = kept_bits(), .inner = s.bits(), .inner_divide = tile * each};

    declare_sharing();
    declare_results(folds);
    declare_parts(folds);
    out.line("const ", type, " row_tiles = (", n, " + ", tile * each - 1, "u) / ", elements, ";");
    out.line(type, " row = 0, tile = blockIdx.y;");
    const auto write_step = [&](const std::string& row, const std::string& at) {
        out.line("for (; ", at, " >= row_tiles; ", at, " -= row_tiles) ++", row, ";");
    };
    write_step("row", "tile");
    out.line(type,
             " held = row, teller = tile;  // the row that this block has something of, and its first tile there");
    out.open("while (true)");
    const auto outside = b_.body.scope();
    b_.write_digits("row", kept_);
    if (!aligned) write_head(*inputs[0], n);
    out.line("const ", type, " vectors = ", aligned ? n : "(" + n + " - head)", " / ", each, ";");
    out.line("const ", type, " edge = ", aligned ? "vectors * " + size + " + " : "threadIdx.x < head ? threadIdx.x : ",
             aligned ? "threadIdx.x" : "threadIdx.x + vectors * " + size, ";");
    out.line("const bool edges = tile == 0 && threadIdx.x < ", n, " - vectors * ", each, ";");
    load_edges(s, "edges");
    declare_rows(s, aligned);
    out.line("const ", type, " v = tile * ", tile, "u + threadIdx.x;");
    load_vector_tile(0, each, unroll, "vectors");
    out.line(type, " next = row, next_tile = tile + gridDim.y;");
    write_step("next", "next_tile");
    ask_rule("next >= " + rows() + " && ");
    out.open("if (row != held)");
    tell_held();
    out.line("held = row, teller = tile;");
    for (fold_writer& f : folds) {
        out.line(f.name(), " = ", f.start(), ";");
        out.line(f.part(), " = ", f.part_start(), ";");
    }
    out.close();
    const auto loaded = b_.body.scope();
    out.open("if ((tile + 1) * ", tile, "u <= vectors)");
    join_vector_tile(0, each, unroll, aligned, "");
    b_.body.leave(loaded);
    out.otherwise();
    join_vector_tile(0, each, unroll, aligned, "vectors");
    b_.body.leave(loaded);
    out.close();
    for (const place* in : inputs) b_.body.name(in->node, in->name + "_edge");
    out.open("if (edges)");
    for (fold_writer& f : folds) join_one(f, f.entry(b_.body.value(f.value(), out), "edge"));
    out.close();
    b_.body.leave(outside);
    out.line("if (next >= ", rows(), ") break;");
    out.line("row = next, tile = next_tile;");
    out.close();
    tell_held();
    write_shared_finish("min(row_tiles, " + type + "(gridDim.y))");
}

}  // namespace ingot::codegen
