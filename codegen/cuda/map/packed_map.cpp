// The map kernel for CUDA whose threads have consecutive elements of the inner axis, and move them by vectors of up to
// 16 bytes; every operand that moves along the inner axis is contiguous and aligned. The last elements of a row, and
// those of a thread that met a rare value, go one by one, in the same kernel.
#include <algorithm>

#include "codegen/cuda/map/map_writer.hpp"
#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// Whether threads have long loops: with a few more elements each there would be too few threads.
bool has_long_loops(const cuda_kernel& b) {
    for (node_id i = 0; i < b.graph.nodes.size(); ++i)
        if (b.graph.nodes[i].kind == node_kind::thread_fold && !b.is_short(i)) return true;
    return false;
}

/// Whether only random numbers are drawn and nothing is read, by whole calls of Philox: at the end of a row they cost
/// no more than elsewhere.
bool draws_alone(const cuda_kernel& b, std::uint32_t each) {
    const int inner = b.rank - 1;
    const auto in_groups = [&](node_id g) {
        const array_argument leaf = b.leaf_of(g);
        return inner_class(leaf, inner) == stride_class::unit && leaf.at->head.vector &&
               each % generator_group(b.graph.nodes[g].type) == 0 &&
               b.graph.nodes[g].code != static_cast<std::uint32_t>(generator_kind::position);
    };
    return b.loops == 0 && !b.generators.empty() && !b.has_quick_bodies() &&
           std::ranges::all_of(b.generators, in_groups) &&
           std::ranges::none_of(b.inputs, [&](const array_argument& in) { return b.moves_along(in, axis_bit(inner)); });
}
/// Whether instructions, not memory, limit the kernel: two vectors of a thread share some instructions.
bool draws_normals(const cuda_kernel& b) {
    return b.rank == 1 && std::ranges::any_of(b.generators, [&](node_id g) {
               const node& n = b.graph.nodes[g];
               return n.code == static_cast<std::uint32_t>(generator_kind::normal) && n.type == dtype::f4;
           });
}

class packed_map final : public map_writer {
public:
    packed_map(cuda_kernel& b, const packed_layout& c) : map_writer(b, c.each * c.vectors), layout_(c) {}

private:
    bool moves_inside(const array_argument& at) const { return b_.moves_along(at, axis_bit(inner_)); }
    /// The distance between a thread's vectors, and that of element e from the first.
    std::uint32_t vector_stride() const { return threads * layout_.each; }
    std::string offset_of_element() const {
        if (layout_.vectors == 1) return "e";
        const std::string each = std::to_string(layout_.each);
        return "(e / " + each + " * " + std::to_string(vector_stride()) + " + e % " + each + ')';
    }

    /// Writes element e of the thread's elements of a random leaf.
    void write_random_element(const array_argument& g, const std::string& to) {
        write_random(g, to, " + e" + b_.times_stride(g, inner_));
    }

    /// All the thread's elements of a random leaf: by whole groups where they begin with one, else one by one.
    void write_random_vector(const array_argument& g) {
        const std::uint32_t group = generator_group(b_.graph.nodes[g.node].type);
        declare_random(g);
        b_.code.margin("#pragma unroll");
        if (inner_class(g, inner_) == stride_class::unit && g.at->head.vector && layout_.each % group == 0) {
            b_.code.line("for (int e = 0; e < ", elements_, "; e += ", group, ")");
            const std::string index = b_.generator_index(g.node, all_axes()), name = b_.generator_name(g.node);
            b_.code.line("    ", name, '(', g.name, " + e, ", b_.generator_key(g.node), ", ", b_.needs.type(dtype::u8),
                         '(', index, " + ", offset_of_element(), ") / ", group, ");");
            return;
        }
        b_.code.open("for (int e = 0; e < ", layout_.each, "; ++e)");
        write_random_element(g, g.name + "[e]");
        b_.code.close();
    }

    void write_elements() override {
        source_writer& out = b_.code;
        const std::string n = b_.extent(inner_);
        // In a loop an operand may move backwards along the axis, by a digit with a sign.
        const std::string i = b_.rank == 1 && b_.generators.empty() && b_.loops == 0 ? digit(0) : "i";
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
            const array_argument g = b_.leaf_of(id);
            if (moves_inside(g)) {
                generators.push_back(g);
            } else {
                write_random(g, "const " + b_.needs.type(b_.graph.nodes[id].type) + ' ' + g.name, "");
                b_.body.name(id, g.name);
            }
        }
        for (const array_argument& z : b_.outputs)
            out.line(b_.needs.type(z.at->head.type), "* const ", z.name, "_at = ", b_.pointer(z),
                     b_.offset(z, all_axes()), ";");
        const std::string left = n + " - " + i, each = b_.linear() + '(' + std::to_string(layout_.each) + ')';
        if (layout_.drawn) return write_drawn(generators, left);
        const body_writer::names shared = b_.body.scope();
        out.open("if (", left, " >= ", layout_.each, ")");
        write_vector(vectors, generators);
        out.close();
        b_.body.leave(shared);
        out.margin("#pragma unroll 1");
        open_elements("min(" + each + ", " + left + ')');
        write_one_by_one(vectors, generators);
        out.close();
    }

    /// Reads, computes and stores by vectors, and returns unless a value was rare.
    void write_vector(const std::vector<const array_argument*>& vectors,
                      const std::vector<array_argument>& generators) {
        source_writer& out = b_.code;
        for (const array_argument* in : vectors) {
            const std::uint32_t bytes = bytes_of(*in) * layout_.each;
            out.line("alignas(", bytes, ") ", b_.needs.type(in->at->head.type), ' ', in->name, '[', layout_.each, "];");
            out.line(b_.loader(b_.reading_of(*in, all_axes()), bytes), '<', word_of(bytes), ">(", in->name, ", ",
                     in->name, "_at);");
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
        open_first_lane();
        for (const array_argument& z : b_.outputs) store_vector(z);
        close_first_lane();
        out.line("return;");
        if (quick) out.close();
    }

    /// Draws and computes whole vectors, and stores their elements inside the row.
    void write_drawn(const std::vector<array_argument>& generators, const std::string& left) {
        source_writer& out = b_.code;
        for (const array_argument& g : generators) write_random_vector(g);
        for (const array_argument& z : b_.outputs) declare_vector(z);
        open_unrolled_elements();
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            out.line(b_.outputs[k].name, "[e] = ", b_.body.value(b_.graph.roots[k], out), ";");
        out.close();
        out.open("if (", left, " >= ", (layout_.vectors - 1) * vector_stride() + layout_.each, ")");
        for (const array_argument& z : b_.outputs) store_vector(z);
        out.line("return;");
        out.close();
        open_unrolled_elements();
        out.line("if (", offset_of_element(), " >= ", left, ") break;");
        for (const array_argument& z : b_.outputs)
            out.line(z.name, "_at[", offset_of_element(), "] = ", z.name, "[e];");
        out.close();
    }

    void declare_vector(const array_argument& z) {
        b_.code.line("alignas(", bytes_of(z) * layout_.each, ") ", b_.needs.type(z.at->head.type), ' ', z.name, '[',
                     elements_, "];");
    }

    void store_vector(const array_argument& z) {
        b_.code.line(storer(), "<", word_of(bytes_of(z) * layout_.each), ">(", z.name, "_at, ", z.name, ");");
    }

    std::string storer() {
        if (layout_.vectors == 1) return b_.storer();
        b_.needs.add("store_strided",
                     b_.function("Stores vectors at a stride of one block; the caches evict them first.",
                                 "template <class word, class type, int n>\n") +
                         "void store_strided(type* to, const type (&from)[n]) {\n#pragma unroll\n"
                         "    for (unsigned int k = 0; k < n * sizeof(type) / sizeof(word); ++k)\n"
                         "        __stcs(reinterpret_cast<word*>(to) + " +
                         std::to_string(threads) + " * k, reinterpret_cast<const word*>(from)[k]);\n}\n");
        return "store_strided";
    }

    void write_one_by_one(const std::vector<const array_argument*>& vectors,
                          const std::vector<array_argument>& generators) {
        source_writer& out = b_.code;
        b_.looping = {};  // a few elements: loops as they come
        b_.looping.lanes = layout_.loops.lanes;
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
        open_first_lane();
        for (const array_argument& z : b_.outputs) out.line(z.name, "_at[e] = ", z.name, ";");
        close_first_lane();
    }

    /// Lanes that share loops have the same results; one of them stores these.
    void open_first_lane() {
        if (layout_.loops.lanes > 1) b_.code.open("if (", b_.lane(), " == 0)");
    }
    void close_first_lane() {
        if (layout_.loops.lanes > 1) b_.code.close();
    }
    /// The number of the thread, or of the lanes that share their results.
    std::string number_of_thread(std::uint32_t places) {
        const std::string thread = b_.thread_index(places);
        return layout_.loops.lanes > 1 ? '(' + thread + ") / " + std::to_string(layout_.loops.lanes) : thread;
    }

    /// Loops of the thread's own read operands at its element e.
    void number_elements() {
        if (b_.loops == 0) return;
        b_.element_axis = inner_;
        b_.element_number = b_.wide() ? "e" : "int(e)";
    }

    /// Finds the elements of this thread: those from `i` on, on the inner axis of extent `n`.
    void find_vector(const std::string& n, const std::string& i) {
        source_writer& out = b_.code;
        if (b_.rank == 1) {
            out.line("const ", b_.linear(), ' ', i, " = (", number_of_thread(threads * layout_.vectors), ") * ",
                     layout_.each, ";");
            out.line("if (", i, " >= ", n, ") return;");
            if (i != digit(0)) b_.write_digits(i, {0});
            b_.step.grid[0] = ceil_divide(points_of(axis_bit(0)), threads / layout_.loops.lanes * elements_);
            return;
        }
        const formula row_vectors = ceil_divide(points_of(axis_bit(inner_)), layout_.each);
        const formula all = points_of(axis_range(0, inner_)) * row_vectors;
        out.line("const ", b_.linear(), " q = ", number_of_thread(threads), ";");
        out.line("if (q >= ", b_.count(all, "vectors"), ") return;");
        out.line("const ", b_.linear(), " row = quotient(q, ", b_.divisor(row_vectors, "by_row"), ");");
        out.line("const ", b_.linear(), ' ', i, " = (q - row * ", b_.count(row_vectors, "row_vectors"), ") * ",
                 layout_.each, ";");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), '(', i, ");");
        b_.write_digits("row", axes_in(axis_range(0, inner_)));
        b_.step.grid[0] = ceil_divide(all, threads / layout_.loops.lanes);
    }

    const packed_layout& layout_;
};

}  // namespace

std::optional<packed_layout> choose_packed(const cuda_kernel& b) {
    if (!can_pack(b)) return {};
    const int inner = b.rank - 1;
    const std::uint32_t vector =
        elements_of_vector(b, true, [&](const array_argument& at) { return b.moves_along(at, axis_bit(inner)); });
    const std::uint32_t lanes = lanes_of_vectors(b);
    packed_layout c{.each = elements_within(b, has_long_loops(b) && lanes == 1 ? 1 : vector)};
    if (c.each == 1) return {};
    c.loops = choose_loops(b, inner, c.each);
    c.loops.lanes = lanes;
    c.drawn = draws_alone(b, c.each);
    if (c.drawn && draws_normals(b) && elements_within(b, 2 * c.each) == 2 * c.each) c.vectors = 2;
    return c;
}

kernel_shape packed_layout::shape() const {
    return {.name = "packed",
            .threads = map_threads,
            .lanes = loops.lanes,
            .each = each,
            .chunks = vectors,
            .exchange = loops.lanes > 1 ? thread_exchange::lanes : thread_exchange::none};
}

std::string packed_layout::reason() const {
    return std::to_string(each) + " consecutive elements a thread in accesses of up to 16 bytes" +
           (vectors > 1 ? ", and as many a block further on" : "") + ": the fewest instructions" +
           (loops.lanes > 1 ? "; lanes share the turns of long loops, and read once what the elements share" : "") +
           loops.reason();
}

void packed_layout::write(cuda_kernel& b) const {
    b.looping = loops;
    packed_map(b, *this).write();
}

}  // namespace ingot::codegen
