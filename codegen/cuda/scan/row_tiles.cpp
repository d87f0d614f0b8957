// See cuda/scan/row_tiles.hpp.
#include "codegen/cuda/scan/row_tiles.hpp"

#include "codegen/text/random.hpp"

namespace ingot::codegen {

namespace {

/// Whether every array that moves along the row is contiguous and aligned.
bool rows_have_vectors(const cuda_kernel& b, const scanning& s) {
    const auto fits = [&](const array_argument& at) {
        if (!at.at->head.vector) return false;
        for (std::size_t a = 0; a < at.at->strides.size(); ++a)
            if (b.graph.loop_axis[a] == s.axis && at.at->strides[a] == stride_class::unit) return true;
        return false;
    };
    return std::ranges::all_of(inputs_along(b, s), [&](const array_argument* in) { return fits(*in); }) &&
           std::ranges::all_of(b.outputs, fits);
}

}  // namespace

std::uint32_t elements_of_row_chunk(const cuda_kernel& b, const scanning& s) {
    std::uint32_t each = rows_have_vectors(b, s) ? 16 / widest_element(b, s) : 1;
    while (each > 1 && each * element_cost(b, s) > statement_budget) each /= 2;
    return each;
}

std::uint32_t chunks_in_registers(const cuda_kernel& b, const scanning& s, std::uint32_t each, std::uint64_t longest) {
    constexpr std::uint32_t most_bytes = 128;  // of one array
    const std::size_t arrays = std::max(s.scans.size(), inputs_along(b, s).size());
    std::uint32_t widest = widest_element(b, s), chunks = 1;
    for (const node_id scan : s.scans) widest = std::max(widest, scan_bytes(b, scan));
    const std::uint32_t cost = element_cost(b, s);
    while (chunks * each < longest && 2 * chunks * each * widest * arrays <= most_bytes &&
           2 * chunks * each * cost <= statement_budget)
        chunks *= 2;
    return chunks;
}

row_tiles::row_tiles(cuda_kernel& b, const scanning& s, const row_tile& c, bool pairs, std::uint32_t shared_chunks,
                     std::uint32_t run)
    : cuda_scan(b, s, c.threads, c.each, run),
      tile_(c),
      pairs_(pairs),
      lanes_(c.lanes),
      register_chunks_(c.register_chunks),
      shared_chunks_(shared_chunks) {}

void row_tiles::write_position(bool staged, const std::string& further) {
    const std::string number = staged ? "(u + " + std::to_string(register_chunks_) + ')' : "u";
    const std::string chunk = pairs_ ? "" : " + " + number + " * " + std::to_string(chunk_stride()) + 'u';
    b_.code.line("const ", b_.linear(), " at = mine", chunk, further, ";");
    b_.write_digits("at", {s_.axis});
    if (!pairs_) return;
    b_.code.line("const ", b_.linear(), " row = first_row + u < ", rows(), " ? first_row + u : first_row;");
    b_.write_digits("row", axes_without(b_.rank, s_.axis));
}

std::string row_tiles::staged_chunk(const array_argument& in) const {
    return in.name + "_staged + (u * " + std::to_string(threads_) + "u + threadIdx.x) * " + std::to_string(each_);
}

std::string row_tiles::active() {
    if (pairs_) return "first_row + u < " + rows() + " && ";
    return tile_.is_block_wide() ? "" : "active && ";
}

void row_tiles::load_tile() {
    source_writer& out = b_.code;
    if (shared_chunks_ > 0) out.line("extern __shared__ uint4 staged[];");
    std::uint32_t offset = 0;
    for (const array_argument* in : inputs_) {
        const std::string type = b_.needs.type(in->at->head.type);
        out.line(each_ > 1 ? "alignas(" + std::to_string(bytes_of(*in) * each_) + ") " : "", type, ' ', in->name, '[',
                 register_chunks_, "][", each_, "];");
        b_.body.name(in->node, in->name + "[u][e]");
        if (shared_chunks_ == 0) continue;
        out.line(type, "* const ", in->name, "_staged = reinterpret_cast<", type, "*>(staged",
                 offset == 0 ? "" : " + " + std::to_string(offset / 16), ");");
        offset += shared_chunks_ * threads_ * bytes_of(*in) * each_;
    }
    if (!inputs_.empty()) {
        if (each_ > 1) {
            out.open("if (whole)");
            load_chunks(false);
            if (shared_chunks_ > 0) load_chunks(true);
            out.otherwise();
        }
        load_elements(false);
        if (shared_chunks_ > 0) load_elements(true);
        if (each_ > 1) out.close();
    }
    for (const node_id g : generators_) draw_random(g);
}

void row_tiles::load_chunks(bool staged) {
    b_.open_unrolled("u", staged ? shared_chunks_ : register_chunks_);
    write_position(staged);
    load_chunk(staged);
    b_.code.close();
}

void row_tiles::load_chunk(bool staged) {
    for (const array_argument* in : inputs_) {
        const std::uint32_t bytes = bytes_of(*in) * each_;
        const std::string from = b_.pointer(*in) + b_.offset(*in, all_bits());
        if (staged)
            b_.code.line(b_.copier(bytes), '(', staged_chunk(*in), ", ", from, ");");
        else
            b_.code.line(b_.loader(b_.reading_of(*in, all_bits()), bytes), '<', word_of(bytes), ">(", in->name, "[u], ",
                         from, ");");
    }
}

/// Loads the chunks that lie wholly in the row; of the others, the elements that exist.
void row_tiles::load_elements(bool staged) {
    if (staged) {  // in a loop: the index u of a staged chunk need not be constant
        b_.code.margin("#pragma unroll 1");
        b_.code.open("for (unsigned int u = 0; u < ", shared_chunks_, "; ++u)");
    } else {
        b_.open_unrolled("u", register_chunks_);
    }
    if (each_ > 1) {
        write_position(staged);
        b_.code.open("if (", is_inside(), ")");
        load_chunk(staged);
        b_.code.otherwise();
        b_.open_unrolled("e", each_);
    }
    write_position(staged, each_ > 1 ? " + e" : "");
    const std::string inside = "at < " + scanned();
    for (const array_argument* in : inputs_)
        b_.code.line(staged ? '(' + staged_chunk(*in) + ')' : in->name + "[u]", each_ > 1 ? "[e]" : "[0]", " = ",
                     inside, " ? ", b_.element(*in, b_.offset(*in, all_bits())), " : ",
                     spell_constant(in->at->head.type, 0, b_.needs), ";");
    for (int blocks = each_ > 1 ? 3 : 1; blocks > 0; --blocks) b_.code.close();
}

void row_tiles::draw_random(node_id g) {
    source_writer& out = b_.code;
    const std::string name = b_.leaf_of(g).name;
    out.line(b_.needs.type(b_.graph.nodes[g].type), ' ', name, '[', register_chunks_, "][", each_, "];");
    b_.open_unrolled("u", register_chunks_);
    draw_random_chunk(g, name + "[u]", false);
    out.close();
    b_.body.name(g, name + "[u][e]");
}

void row_tiles::draw_random_chunk(node_id g, const std::string& to, bool staged) {
    const array_argument leaf = b_.leaf_of(g);
    bool is_unit = false;
    for (std::size_t a = 0; a < leaf.at->strides.size(); ++a)
        is_unit = is_unit || (b_.graph.loop_axis[a] == s_.axis && leaf.at->strides[a] == stride_class::unit);
    const bool in_groups = is_unit && each_ > 1;
    if (in_groups)
        b_.code.open();
    else
        b_.open_unrolled("e", each_);
    write_position(staged, in_groups ? "" : " + e");
    if (in_groups)
        b_.draw_groups(g, to, each_, b_.generator_index(g, all_bits()));
    else
        b_.code.line(to, "[e] = ", random_element(g, all_bits()), ";");
    b_.code.close();
}

void row_tiles::declare_results() {
    for (std::size_t k = 0; k < b_.outputs.size(); ++k)
        b_.code.line("alignas(", bytes_of(b_.outputs[k]) * each_, ") ", b_.needs.type(b_.outputs[k].at->head.type),
                     " r", k, '[', each_, "];");
}

void row_tiles::store_chunk(bool staged) {
    source_writer& out = b_.code;
    const std::string whole = "whole || " + is_inside();
    std::vector<std::string> values;
    write_position(staged);
    out.open("if (", run_ > 0 ? whole : active() + '(' + whole + ')', ")");
    for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
        const std::uint32_t bytes = bytes_of(b_.outputs[k]) * each_;
        out.line(b_.storer(), '<', word_of(bytes), ">(", b_.pointer(b_.outputs[k]),
                 b_.offset(b_.outputs[k], all_bits()), ", r", k, ");");
        values.push_back('r' + std::to_string(k) + "[e]");
    }
    out.otherwise();
    b_.open_unrolled("e", each_);
    store_elements(staged, values);
    out.close();
    out.close();
}

void row_tiles::store_elements(bool staged, const std::vector<std::string>& values) {
    write_position(staged, each_ > 1 ? " + e" : "");
    b_.code.open("if (", active(), "at < ", scanned(), ")");
    for (std::size_t k = 0; k < b_.outputs.size(); ++k)
        b_.store_element(b_.outputs[k], b_.offset(b_.outputs[k], all_bits()), values[k]);
    b_.code.close();
}

}  // namespace ingot::codegen
