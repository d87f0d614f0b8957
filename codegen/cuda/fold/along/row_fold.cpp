// See row_fold.hpp: the text of rows, whose lanes and blocks are chosen in cuda/fold/along/choice.cpp.
#include "codegen/cuda/fold/along/row_fold.hpp"

namespace ingot::codegen {

using namespace detail;

void row_fold::locate_thread() {
    source_writer& out = b_.code;
    if (!choice_.is_block_wide()) out.line("const ", b_.needs.type(dtype::u4), " lane = threadIdx.x % ", lanes_, "u;");
    if (b_.rank > 0 && choice_.is_block_wide()) {
        out.line("const ", b_.linear(), " row = blockIdx.x;");
    } else if (b_.rank > 0) {
        // Lanes without a row fold the last row too and store nothing.
        out.line("const ", b_.linear(), " mine = ", b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x", " * ",
                 threads_ / lanes_, "u + threadIdx.x / ", lanes_, "u;");
        out.line("const ", b_.linear(), " row = mine < ", rows(), " ? mine : ", rows(), " - 1;");
    }
    b_.write_digits("row", kept_axes_);
    load_invariants(kept_bits());
    b_.step.grid[0] = ceil_divide(points_of(kept_bits()), threads_ / lanes_);
}

void row_fold::write_space(std::size_t number) {
    const folded_space& s = spaces_[number];
    const std::string n = b_.count(points_of(s.bits()), "folded" + suffix(number));
    declare_results(folds_[number]);
    const auto outside = b_.body.scope();
    b_.code.open();
    declare_parts(folds_[number]);
    const space_choice& c = choice_.spaces[number];
    c.each == 1 ? write_elements(number, n) : c.drawn ? write_draws(number, n) : write_vectors(number, n);
    b_.body.leave(outside);
    join_parts(folds_[number]);
    b_.code.close();
}

void row_fold::write_vectors(std::size_t number, const std::string& n) {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    const space_choice& c = choice_.spaces[number];
    std::vector<fold_writer>& folds = folds_[number];
    const std::vector<const array_argument*> inputs = inputs_of(s);
    const std::string type = b_.linear(), size = std::to_string(c.each);
    const bool shared = split_, aligned = c.aligned;  // shorter spaces too: their parts are joined as well
    if (!aligned) write_head(number, n);
    out.line("const ", type, " vectors = ", aligned ? n : "(" + n + " - head)", " / ", c.each, ";");
    // Elements outside whole vectors are loaded first, so that no lane waits for them.
    const std::string edges = n + " - vectors * " + size, first = shared ? "blockIdx.y == 0 && " : "";
    const std::string k = aligned ? "vectors * " + size + " + " : "";
    if (c.edges_at_once) {
        out.line("const ", type, " edge = ",
                 aligned ? k + lane() : lane() + " < head ? " + lane() + " : " + lane() + " + vectors * " + size, ";");
        load_edges(s, first + lane() + " < " + edges);
    }
    declare_rows(s, aligned);
    const auto outside = b_.body.scope();
    for (std::size_t i = 0; i < folds.size(); ++i)
        if (const array_argument* in = c.packed[i]; in != nullptr) {
            const std::string packed = add_packed(folds[i], *in);
            out.line("unsigned int packed", i, "[2] = {", packed, "::start, ", packed, "::start};");
        }
    if (shared) {
        write_rounds(number);
    } else {
        out.margin("#pragma unroll 1");  // few rows need a second tile, and every tile needs registers
        out.open("for (", type, " v = ", lane(), "; v < vectors; v += ", lanes_ * c.unroll, "u)");
        write_vector_tile(number, "vectors");
        out.close();
    }
    b_.body.leave(outside);
    for (std::size_t i = 0; i < folds.size(); ++i)
        if (const array_argument* in = c.packed[i]; in != nullptr) {
            const std::string whole = add_packed(folds[i], *in) + "::whole(packed" + std::to_string(i) + ')';
            out.line(own(folds[i].part()), " = ", folds[i].joined(own(folds[i].part()), whole), ";");
        }

    if (c.edges_at_once) {
        for (const array_argument* in : inputs) b_.body.name(in->node, in->name + "_edge");
        out.open("if (", first, lane(), " < ", edges, ")");
        const std::vector<node_id> generators = generators_of(s);
        if (!s.outputs.empty() || !generators.empty()) b_.write_digits("edge", s.axes);
        for (const node_id g : generators) {
            const std::string name = b_.leaf_of(g).name;
            out.line("const ", b_.needs.type(b_.graph.nodes[g].type), ' ', name, " = ",
                     random_element(g, kept_bits() | s.bits()), ";");
            b_.body.name(g, name);
        }
        for (fold_writer& f : folds) join_one(f, f.entry(b_.body.value(f.value(), out), "edge"));
        store_element_outputs(s);
    } else {
        out.open("for (", type, " r = ", lane(), "; ", first, "r < ", edges, "; r += ", lanes(), ")");
        out.line("const ", type, " edge = ", aligned ? k + "r" : "r < head ? r : r + vectors * " + size, ";");
        b_.write_digits("edge", s.axes);
        write_element(number, "edge");
    }
    out.close();
}

void row_fold::write_draws(std::size_t number, const std::string& n) {
    source_writer& out = b_.code;
    const std::uint32_t each = choice_.spaces[number].each;
    const folded_space& s = spaces_[number];
    std::vector<fold_writer>& folds = folds_[number];
    const auto outside = b_.body.scope();
    const std::string type = b_.linear(), own = std::to_string(lanes_) + 'u';
    out.open("for (", type, " k = (", split_ ? "blockIdx.y * " + own + " + " : "", lane(), ") * ", each, "; k < ", n,
             "; k += ", split_ ? "gridDim.y * " : "", lanes_ * each, "u)");
    for (const node_id g : generators_of(s)) {
        const array_argument leaf = b_.leaf_of(g);
        out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', leaf.name, '[', each, "];");
        b_.draw_groups(g, leaf.name, each, b_.generator_index(g, kept_bits()) + " + k");
        b_.body.name(g, leaf.name + "[e]");
    }
    for (std::size_t i = 0; i < folds.size(); ++i) out.line(folds[i].entry_type(), " value", i, '[', each, "];");
    b_.open_unrolled("e", each);
    for (std::size_t i = 0; i < folds.size(); ++i)
        out.line("value", i, "[e] = k + e < ", n, " ? ", folds[i].entry(b_.body.value(folds[i].value(), out), "k + e"),
                 " : ", folds[i].entry_start(), ";");
    out.close();
    for (std::size_t i = 0; i < folds.size(); ++i)
        join_entries(folds[i], "value" + std::to_string(i), each,
                     folds[i].counts_entries() ? "min(" + type + '(' + std::to_string(each) + "), " + n + " - k)" : "");
    flush_parts(folds);
    out.close();
    b_.body.leave(outside);
}

void row_fold::write_rounds(std::size_t number) {
    source_writer& out = b_.code;
    const std::string type = b_.linear(), tile = std::to_string(lanes_ * choice_.spaces[number].unroll) + 'u';
    const bool dealt = choice_.split->counts_pieces;
    const auto outside = b_.body.scope();
    out.line("const ", type, " round = gridDim.y * ", tile, ';');
    std::string shared_evenly = "vectors";
    if (dealt) {
        // From six rounds on, two of them and a sixteenth of the vectors are dealt to blocks as they finish, because
        // differences between blocks add up.
        shared_evenly = "even";
        out.line("const bool deals = gridDim.y > 1 && vectors >= 6 * round;");
        out.line("const ", type, " even = deals ? vectors - vectors / 16 - 2 * round : vectors;");
    }
    // The loop divides by no run-time value: the first loads would wait for the quotient.
    out.line(type, " rounds = 0;");
    out.open("for (; rounds + round <= ", shared_evenly, "; rounds += round)");
    out.line("const ", type, " v = rounds + blockIdx.y * ", tile, " + ", lane(), ';');
    write_vector_tile(number, "");
    out.close();
    b_.body.leave(outside);
    const std::string even = "((vectors - rounds + gridDim.y - 1) / gridDim.y + 7) / 8 * 8;";  // whole cache lines
    out.line("const ", type, " piece = ", dealt ? "deals ? " + tile + " : " : "", even);
    if (dealt) return write_dealt_rounds(number);
    out.line("const ", type, " v = rounds + blockIdx.y * piece + ", lane(),
             ", end = min(vectors, rounds + (blockIdx.y + 1) * piece);");
    out.open("if (v < end)");
    write_vector_tile(number, "end");
    out.close();
}

void row_fold::write_dealt_rounds(std::size_t number) {
    source_writer& out = b_.code;
    const std::string type = b_.linear();
    out.line("__shared__ ", type, " dealt_piece[2];");
    out.open("for (", type, " at = blockIdx.y, turn = 0; at * piece < vectors - rounds; turn ^= 1)");
    out.line("const ", type, " v = rounds + at * piece + ", lane(), ", end = min(vectors, rounds + (at + 1) * piece);");
    out.line(type, " number = at;");
    // The next piece is requested in advance, so that no thread waits for the answer. It is no atomicAdd, for the
    // compiler would aggregate that over the warp and shuffle the answer.
    out.line("if (deals && threadIdx.x == 0) number = atomicInc(", counters(""), " + 1, 0x7fffffffu);");
    out.open("if (v < end)");  // the first thread's v always is
    load_vector_tile(number, "end");
    out.line("if (threadIdx.x == 0) dealt_piece[turn] = gridDim.y + number;");
    join_vector_tile(number, "end");
    out.close();
    out.line("__syncthreads();");
    out.line("at = dealt_piece[turn];");
    out.close();
}

void row_fold::load_edges(const folded_space& s, const std::string& present) {
    for (const array_argument* in : inputs_of(s))
        b_.code.line(b_.needs.type(in->at->head.type), ' ', in->name, "_edge;");
    b_.code.open("if (", present, ")");
    b_.write_digits("edge", s.axes);
    for (const array_argument* in : inputs_of(s))
        b_.code.line(in->name, "_edge = ", b_.element(*in, b_.offset(*in, kept_bits() | s.bits())), ";");
    b_.code.close();
}

void row_fold::declare_rows(const folded_space& s, bool aligned) {
    for (const array_argument* in : inputs_of(s))
        b_.code.line("const ", b_.needs.type(in->at->head.type), "* const ", in->name, "_row = ", b_.pointer(*in),
                     b_.offset(*in, kept_bits()), aligned ? ";" : " + head;");
}

void row_fold::write_vector_tile(std::size_t number, const std::string& end) {
    load_vector_tile(number, end);
    join_vector_tile(number, end);
}

void row_fold::load_vector_tile(std::size_t number, const std::string& end) {
    source_writer& out = b_.code;
    const std::uint32_t each = choice_.spaces[number].each, unroll = choice_.spaces[number].unroll;
    const folded_space& s = spaces_[number];
    const std::vector<const array_argument*> inputs = inputs_of(s);
    for (const array_argument* in : inputs) {
        out.line("alignas(", bytes_of(*in) * each, ") ", b_.needs.type(in->at->head.type), ' ', in->name, '[', unroll,
                 "][", each, "];");
        b_.body.name(in->node, in->name + "[u][e]");
    }
    for (const node_id g : generators_of(s)) {
        const std::string name = b_.leaf_of(g).name;
        out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', name, '[', unroll, "][", each, "];");
        b_.body.name(g, name + "[u][e]");
    }
    const std::string vector = vector_of(unroll);
    b_.open_unrolled("u", unroll);
    if (unroll > 1 && !end.empty()) out.line("if (", vector, " >= ", end, ") continue;");
    for (const array_argument* in : inputs) {  // the same base address for all of them, at constant distances
        const std::string_view word = word_of(bytes_of(*in) * each, in->at->head.type);
        out.line(b_.loader(b_.reading_of(*in, kept_bits() | s.bits()), word), '<', word, ">(", in->name, "[u], ",
                 in->name, "_row + v * ", each, unroll == 1 ? "" : " + u * " + std::to_string(lanes_ * each) + 'u',
                 ");");
    }
    for (const node_id g : generators_of(s))
        b_.draw_groups(g, b_.leaf_of(g).name + "[u]", each,
                       b_.generator_index(g, kept_bits()) + " + (" + vector + ") * " + std::to_string(each));
    out.close();
}

void row_fold::join_vector_tile(std::size_t number, const std::string& end) {
    source_writer& out = b_.code;
    const folded_space& s = spaces_[number];
    const space_choice& c = choice_.spaces[number];
    const std::uint32_t each = c.each, unroll = c.unroll;
    std::vector<fold_writer>& folds = folds_[number];
    const std::string vector = vector_of(unroll);
    if (end.empty() && c.joins_whole_tiles) return join_whole_tile(number);
    declare_outputs(s, unroll, each);
    b_.open_unrolled("u", unroll);
    if (unroll > 1 && !end.empty()) out.line("if (", vector, " >= ", end, ") break;");
    std::vector<std::size_t> plain;
    for (std::size_t i = 0; i < folds.size(); ++i) {
        if (const array_argument* in = c.packed[i]; in != nullptr)
            out.line(add_packed(folds[i], *in), "::take(packed", i, ", ", in->name, "[u]);");
        else
            plain.push_back(i);
    }
    if (!plain.empty() || !s.outputs.empty()) {
        const std::string first =
            std::string(c.aligned ? "" : "head + ") + '(' + vector + ") * " + std::to_string(each);
        for (const std::size_t i : plain) out.line(folds[i].entry_type(), " value", i, '[', each, "];");
        b_.open_unrolled("e", each);
        for (const std::size_t i : plain)
            out.line("value", i, "[e] = ", folds[i].entry(b_.body.value(folds[i].value(), out), first + " + e"), ";");
        put_outputs(s, "[u][e]");
        out.close();
        if (!s.outputs.empty())
            store_outputs(s, each, s.inner(), [&](bool element) {
                out.line("const ", b_.signed_index(), ' ', digit(s.inner()), " = ", b_.signed_index(), '(', first,
                         element ? " + e" : "", ");");
            });
        for (const std::size_t i : plain) join_entries(folds[i], "value" + std::to_string(i), each);
    }
    out.close();
    flush_parts(folds, unroll);
}

void row_fold::join_whole_tile(std::size_t number) {
    const std::uint32_t each = choice_.spaces[number].each, unroll = choice_.spaces[number].unroll;
    fold_writer& f = folds_[number][0];
    b_.code.line(f.entry_type(), " value0[", unroll * each, "];");
    b_.open_unrolled("u", unroll);
    b_.open_unrolled("e", each);
    b_.code.line("value0[u * ", each, " + e] = ", f.entry(b_.body.value(f.value(), b_.code), ""), ";");
    b_.code.close();
    b_.code.close();
    join_entries(f, "value0", unroll * each);
    flush_parts(folds_[number], unroll);
}

void row_fold::write_head(std::size_t number, const std::string& n) {
    const array_argument& in = *inputs_of(spaces_[number])[0];
    const std::string start = b_.pointer(in) + b_.offset(in, kept_bits()), u8 = b_.needs.type(dtype::u8);
    b_.code.line("const ", b_.linear(), " head = min(", n, ", ", b_.linear(), "(-(reinterpret_cast<", u8, ">(", start,
                 ") / ", bytes_of(in), ") % ", choice_.spaces[number].head_unit, "));");
}

void row_fold::write_elements(std::size_t number, const std::string& n) {
    const std::uint32_t unroll = choice_.spaces[number].unroll, tile = lanes_ * unroll;
    const bool shared = split_;  // shorter spaces too: their parts are joined as well
    b_.code.line(b_.linear(), " k = ", shared ? "blockIdx.y * " + std::to_string(tile) + "u + " : "", lane(), ";");
    write_tiles(number, unroll, " * " + lanes(), n, (shared ? "gridDim.y * " : "") + std::to_string(tile) + 'u');
}

void row_fold::combine(fold_writer& f, const std::string& joiner, const std::string& variable) {
    choice_.is_block_wide() ? combine_block(f, joiner, variable) : combine_lanes(f, joiner, variable, lanes_);
}

std::string row_fold::owner() {
    if (choice_.is_block_wide() || b_.rank == 0) return "if (threadIdx.x == 0)";
    return "if (lane == 0 && mine < " + rows() + ")";
}

kernel_shape whole_rows_layout::shape() const { return shape_of("rows"); }

std::string whole_rows_layout::reason() const { return lanes_of_row() + ": each has several vectors of it under way"; }

void whole_rows_layout::write(cuda_kernel& b, const folded_kernel& f) const { row_fold(b, f, *this).write(); }

kernel_shape split_rows_layout::shape() const {
    return shape_of(deals_rounds() ? "split rows, last rounds dealt" : "split rows");
}

std::string split_rows_layout::reason() const {
    return lanes_of_row() + ", several blocks a row" +
           (deals_rounds() ? ", the last of it dealt to those that come for it: rows are too few to fill the GPU, and "
                             "no block waits for a slow one"
                           : ": rows are too few to fill the GPU");
}

void split_rows_layout::write(cuda_kernel& b, const folded_kernel& f) const { row_fold(b, f, *this).write(); }

}  // namespace ingot::codegen
