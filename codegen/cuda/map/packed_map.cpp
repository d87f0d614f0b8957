// The map kernel for CUDA whose threads have consecutive elements of the inner axis, and move them by vectors of up to
// 16 bytes; the last elements of a row, and those of a thread that met a rare value, go one by one.
#include "codegen/cuda/map/map_writer.hpp"
#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

void cuda_map::write_random_element(const array_argument& g, const std::string& to) {
    const std::string whole = b_.offset(g, axis_bit(inner_));  // " + i1 * p.g0_stride1"
    write_random(g, to, " + e" + whole.substr(3 + digit(inner_).size()));
}

std::string cuda_map::offset_of_element() const {
    if (choice_.chunks == 1) return "e";
    const std::string each = std::to_string(each_);
    return "(e / " + each + " * " + std::to_string(vector_stride()) + " + e % " + each + ')';
}

void cuda_map::write_random_vector(const array_argument& g) {
    const std::uint32_t group = generator_group(b_.graph.nodes[g.node].type);
    declare_random(g);
    b_.code.margin("#pragma unroll");
    if (inner_class(g, inner_) == stride_class::unit && g.at->head.vector && each_ % group == 0) {
        b_.code.line("for (int e = 0; e < ", all_elements(), "; e += ", group, ")");
        const std::string index = b_.generator_index(g.node, all_axes()), name = b_.generator_name(g.node);
        b_.code.line("    ", name, '(', g.name, " + e, ", b_.generator_key(g.node), ", ", b_.needs.type(dtype::u8), '(',
                     index, " + ", offset_of_element(), ") / ", group, ");");
        return;
    }
    b_.code.open("for (int e = 0; e < ", each_, "; ++e)");
    write_random_element(g, g.name + "[e]");
    b_.code.close();
}

void cuda_map::write_packed() {
    source_writer& out = b_.code;
    const std::string n = b_.count(points_of(axis_bit(inner_)), "n" + std::to_string(inner_));
    const std::string i = b_.rank == 1 && b_.generators.empty() ? digit(0) : "i";
    find_vector(n, i);
    std::vector<const array_argument*> vectors;
    for (const array_argument& in : b_.inputs) {
        if (!moves(in)) continue;
        const std::string type = b_.needs.type(in.at->head.type);
        const std::string offset = b_.offset(in, all_axes());
        if (moves_inside(in)) {
            vectors.push_back(&in);
            out.line("const ", type, "* const ", in.name, "_at = ", b_.pointer(in), offset, ";");
        } else {
            out.line("const ", type, ' ', in.name, " = ", b_.element(in, offset), ";");
            b_.body.name(in.node, in.name);
        }
    }
    std::vector<array_argument> generators;
    for (const node_id id : b_.generators) {
        const array_argument g = argument_of(id);
        if (moves_inside(g)) {
            generators.push_back(g);
        } else {
            write_random(g, "const " + b_.needs.type(b_.graph.nodes[id].type) + ' ' + g.name, "");
            b_.body.name(id, g.name);
        }
    }
    for (const array_argument& z : b_.outputs)
        out.line(b_.needs.type(z.at->head.type), "* const ", z.name, "_at = ", b_.pointer(z), b_.offset(z, all_axes()),
                 ";");
    const std::string left = n + " - " + i, each = b_.linear() + '(' + std::to_string(each_) + ')';
    if (choice_.drawn) return write_drawn(generators, left);
    const body_writer::names shared = b_.body.scope();
    out.open("if (", left, " >= ", each_, ")");
    write_vector(vectors, generators);
    out.close();
    b_.body.leave(shared);
    out.margin("#pragma unroll 1");
    open_elements("min(" + each + ", " + left + ')');
    write_one_by_one(vectors, generators);
    out.close();
}

void cuda_map::write_vector(const std::vector<const array_argument*>& vectors,
                            const std::vector<array_argument>& generators) {
    source_writer& out = b_.code;
    for (const array_argument* in : vectors) {
        const std::uint32_t bytes = bytes_of(*in) * each_;
        out.line("alignas(", bytes, ") ", b_.needs.type(in->at->head.type), ' ', in->name, '[', each_, "];");
        out.line(b_.loader(b_.reading_of(*in, all_axes()), bytes), '<', word_of(bytes), ">(", in->name, ", ", in->name,
                 "_at);");
        b_.body.name(in->node, in->name + "[e]");
    }
    for (const array_argument& g : generators) write_random_vector(g);
    const bool folds_jointly = b_.looping.along >= 0;
    number_elements();
    if (folds_jointly) b_.body.write_folds(b_.graph.roots, out);
    for (const array_argument& z : b_.outputs) declare_vector(z);
    // Approximate arithmetic is quicker still, and has no rare values.
    const bool quick = b_.has_quick_bodies();
    if (quick) out.line("bool rare = false;");
    b_.needs.use_quick(quick);
    folds_jointly ? b_.body.open_elements(out) : open_unrolled_elements();
    for (std::size_t k = 0; k < b_.outputs.size(); ++k)
        out.line(b_.outputs[k].name, "[e] = ", b_.body.value(b_.graph.roots[k], out), ";");
    folds_jointly ? b_.body.close_elements(out) : out.close();
    b_.element_axis = -1;
    b_.needs.use_quick(false);
    if (quick) out.open("if (!rare)");
    for (const array_argument& z : b_.outputs) store_vector(z);
    out.line("return;");
    if (quick) out.close();
}

void cuda_map::write_drawn(const std::vector<array_argument>& generators, const std::string& left) {
    source_writer& out = b_.code;
    for (const array_argument& g : generators) write_random_vector(g);
    for (const array_argument& z : b_.outputs) declare_vector(z);
    open_unrolled_elements();
    for (std::size_t k = 0; k < b_.outputs.size(); ++k)
        out.line(b_.outputs[k].name, "[e] = ", b_.body.value(b_.graph.roots[k], out), ";");
    out.close();
    out.open("if (", left, " >= ", (choice_.chunks - 1) * vector_stride() + each_, ")");
    for (const array_argument& z : b_.outputs) store_vector(z);
    out.line("return;");
    out.close();
    open_unrolled_elements();
    out.line("if (", offset_of_element(), " >= ", left, ") break;");
    for (const array_argument& z : b_.outputs) out.line(z.name, "_at[", offset_of_element(), "] = ", z.name, "[e];");
    out.close();
}

void cuda_map::declare_vector(const array_argument& z) {
    b_.code.line("alignas(", bytes_of(z) * each_, ") ", b_.needs.type(z.at->head.type), ' ', z.name, '[',
                 all_elements(), "];");
}

void cuda_map::store_vector(const array_argument& z) {
    b_.code.line(storer(), "<", word_of(bytes_of(z) * each_), ">(", z.name, "_at, ", z.name, ");");
}

std::string cuda_map::storer() {
    if (choice_.chunks == 1) return b_.storer();
    b_.needs.add("store_strided", b_.function("Stores vectors at a stride of one block; the caches evict them first.",
                                              "template <class word, class type, int n>\n") +
                                      "void store_strided(type* to, const type (&from)[n]) {\n#pragma unroll\n"
                                      "    for (unsigned int k = 0; k < n * sizeof(type) / sizeof(word); ++k)\n"
                                      "        __stcs(reinterpret_cast<word*>(to) + " +
                                      std::to_string(threads) + " * k, reinterpret_cast<const word*>(from)[k]);\n}\n");
    return "store_strided";
}

void cuda_map::write_one_by_one(const std::vector<const array_argument*>& vectors,
                                const std::vector<array_argument>& generators) {
    source_writer& out = b_.code;
    b_.looping = {};  // a few elements: loops as they come
    for (const array_argument* in : vectors) {
        out.line("const ", b_.needs.type(in->at->head.type), ' ', in->name, " = ", in->name, "_at[e];");
        b_.body.name(in->node, in->name);
    }
    for (const array_argument& g : generators) {
        write_random_element(g, "const " + b_.needs.type(b_.graph.nodes[g.node].type) + ' ' + g.name);
        b_.body.name(g.node, g.name);
    }
    number_elements();
    // All values are computed before the first store: an output may be an operand.
    for (std::size_t k = 0; k < b_.outputs.size(); ++k)
        out.line("const ", b_.needs.type(b_.outputs[k].at->head.type), ' ', b_.outputs[k].name, " = ",
                 b_.body.value(b_.graph.roots[k], out), ";");
    b_.element_axis = -1;
    for (const array_argument& z : b_.outputs) out.line(z.name, "_at[e] = ", z.name, ";");
}

void cuda_map::number_elements() {
    if (b_.loops == 0) return;
    b_.element_axis = inner_;
    b_.element_number = b_.wide() ? "e" : "int(e)";
}

void cuda_map::find_vector(const std::string& n, const std::string& i) {
    source_writer& out = b_.code;
    if (b_.rank == 1) {
        out.line("const ", b_.linear(), ' ', i, " = (", b_.thread_index(threads * choice_.chunks), ") * ", each_, ";");
        out.line("if (", i, " >= ", n, ") return;");
        if (i != digit(0)) b_.write_digits(i, {0});
        b_.step.grid[0] = ceil_divide(points_of(axis_bit(0)), threads * all_elements());
        return;
    }
    const formula row_vectors = ceil_divide(points_of(axis_bit(inner_)), each_);
    const formula all = points_of(axis_range(0, inner_)) * row_vectors;
    out.line("const ", b_.linear(), " q = ", b_.thread_index(threads), ";");
    out.line("if (q >= ", b_.count(all, "vectors"), ") return;");
    out.line("const ", b_.linear(), " row = quotient(q, ", b_.divisor(row_vectors, "by_row"), ");");
    out.line("const ", b_.linear(), ' ', i, " = (q - row * ", b_.count(row_vectors, "row_vectors"), ") * ", each_, ";");
    out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), '(', i, ");");
    b_.write_digits("row", outer_axes(inner_));
    b_.step.grid[0] = ceil_divide(all, threads);
}

}  // namespace ingot::codegen
