// The map kernel for CUDA, one thread for several elements, in one of two shapes:
//   packed  a thread owns consecutive elements of the inner axis and moves them in one access of up to 16 bytes; every
//           operand that moves along the inner axis does so by one element and is aligned. The last vector of a row is
//           read and written by element, in the same kernel.
//   spread  a thread's elements are a block apart, so that every access of a warp is coalesced whatever the alignment
//           and the strides; its loads are in flight together.
// Over more than one axis the linear number of a thread is decoded by multiply-high divisions.
#include <algorithm>

#include "codegen/kernel.hpp"
#include "codegen/random.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::uint32_t threads = 256;
/// Operations that one thread's statements may hold: what the compiler digests in some 200 ms.
constexpr std::uint32_t statement_budget = 800;

std::uint32_t bytes_of(const place& at) { return static_cast<std::uint32_t>(size_of(at.at->head.type)); }

std::string_view word_of(std::uint32_t bytes) {
    switch (bytes) {
        case 16: return "uint4";
        case 8: return "uint2";
        case 4: return "unsigned int";
        case 2: return "unsigned short";
        default: return "unsigned char";
    }
}

/// How an input is read: once by one thread, more than once (so cached), or from memory that the kernel also writes.
enum class reading { once, again, in_place };

class cuda_map {
public:
    cuda_map(const key& k, const graph& g) : b_(k, g), inner_(b_.rank - 1) {}

    void write(plan& p) {
        packed_ = can_pack();
        each_ = elements_per_thread();
        b_.name_scalars();
        read_constants();
        b_.body.hoist(0, b_.graph.roots, b_.code);
        if (packed_) {
            write_packed();
        } else {
            write_spread();
        }
        b_.step.kernel = "map";
        b_.step.threads = threads;
        b_.step.pattern = "map";
        b_.step.work = {{axis_range(0, b_.rank), b_.cost}};
        b_.step.reason = reason();
        p.source = b_.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(threads) +
                                                 ")\nmap(const __grid_constant__ arguments p)");
        p.steps.push_back(std::move(b_.step));
    }

private:
    bool moves_inside(const place& at) const { return inner_class(at, inner_) != stride_class::broadcast; }
    bool moves(const place& at) const {
        return std::any_of(at.at->strides.begin(), at.at->strides.end(),
                           [](stride_class s) { return s != stride_class::broadcast; });
    }

    bool can_pack() const {
        if (b_.rank == 0) return false;
        if ((b_.key.axes[static_cast<std::size_t>(inner_)].bucket & bucket::short_inner) != 0 && b_.rank > 1) return false;
        const auto fits = [&](const place& at) {
            return !moves_inside(at) || (inner_class(at, inner_) == stride_class::unit && at.at->head.vector);
        };
        return std::all_of(b_.inputs.begin(), b_.inputs.end(), fits) &&
               std::all_of(b_.outputs.begin(), b_.outputs.end(), [&](const place& at) { return moves_inside(at) && fits(at); });
    }

    std::uint32_t elements_per_thread() const {
        std::uint32_t widest = 1;
        for (const auto* places : {&b_.inputs, &b_.outputs})
            for (const place& at : *places)
                if (moves_inside(at)) widest = std::max(widest, bytes_of(at));
        std::uint32_t each = packed_ ? 16 / widest : std::max(4u, 16 / widest);
        while (each > 1 && each * b_.cost > statement_budget) each /= 2;
        return each;
    }

    std::string reason() const {
        const std::string each = std::to_string(each_);
        if (packed_) return each + " consecutive elements a thread in accesses of up to 16 bytes";
        return each + " elements a thread, a block apart: coalesced at any alignment and stride";
    }

    reading reading_of(const place& in) const {
        if (in.at->head.aliased) return reading::in_place;
        for (int a = 0; a < b_.rank; ++a)
            if (in.at->strides[static_cast<std::size_t>(a)] == stride_class::broadcast) return reading::again;
        return reading::once;
    }

    /// Operands that move along no axis are read once, before everything else.
    void read_constants() {
        for (const place& in : b_.inputs) {
            if (moves(in)) continue;
            b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", element(in, ""), ";");
            b_.body.name(in.node, in.name);
        }
    }

    /// One element by a scalar load.
    std::string element(const place& in, const std::string& offset) {
        const std::string pointer = b_.pointer(in);
        const bool boolean = in.at->head.type == dtype::b1;
        const std::string at = pointer + offset;
        if (reading_of(in) == reading::in_place || boolean) return offset.empty() ? '*' + pointer : "*(" + at + ')';
        return "__ldg(" + at + ')';
    }

    void store_element(const place& out, const std::string& offset, const std::string& value) {
        const std::string pointer = b_.pointer(out);
        if (out.at->head.type == dtype::b1) {
            b_.code.line(offset.empty() ? '*' + pointer : "*(" + pointer + offset + ')', " = ", value, ";");
        } else {
            b_.code.line("__stcs(", pointer, offset, ", ", value, ");");
        }
    }

    // Vector accesses.

    /// The name of the function that loads a vector in this way; puts it into the prelude.
    std::string loader(reading how, std::uint32_t bytes) {
        static constexpr std::string_view streamed[] = {
            "    unsigned int w;\n"
            "    asm volatile(\"ld.global.nc.L1::no_allocate.u32 %0, [%1];\" : \"=r\"(w) : \"l\"(from));\n",
            "    uint2 w;\n"
            "    asm volatile(\"ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];\" : \"=r\"(w.x), \"=r\"(w.y) : \"l\"(from));\n",
            "    uint4 w;\n"
            "    asm volatile(\"ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\"\n"
            "                 : \"=r\"(w.x), \"=r\"(w.y), \"=r\"(w.z), \"=r\"(w.w) : \"l\"(from));\n"};
        std::string name = "load_cached", access = "__ldg", why = "Elements that other threads read too.";
        if (how == reading::in_place) {
            name = "load_own", access = "__ldcs", why = "Elements of an array that this kernel also writes.";
        } else if (how == reading::once && bytes >= 4) {
            const std::string word(word_of(bytes));
            name = "load_stream", access = "stream", why = "Elements that nobody reads again: past the first-level cache.";
            b_.needs.add("stream " + word, b_.function("") + word + " stream(const " + word + "* from) {\n" +
                                               std::string(streamed[bytes == 4 ? 0 : bytes == 8 ? 1 : 2]) +
                                               "    return w;\n}\n");
        }
        b_.needs.add(name, b_.function(why, "template <class word, class type, int n>\n") + "void " + name +
                               "(type (&to)[n], const type* from) {\n    reinterpret_cast<word&>(to) = " + access +
                               "(reinterpret_cast<const word*>(from));\n}\n");
        return name;
    }
    void need_store() {
        b_.needs.add("store", b_.function("Elements that are not read soon: first out of the caches.",
                                          "template <class word, class type, int n>\n") +
                                  "void store(type* to, const type (&from)[n]) {\n"
                                  "    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));\n}\n");
    }
    // Random leaves.

    place place_of(node_id generator) const {
        const std::uint16_t index = b_.graph.nodes[generator].index;
        return {&b_.key.operands[index], b_.names[index], index, false, generator};
    }
    void declare_random(const place& g) {
        b_.code.line(b_.needs.type(b_.graph.nodes[g.node].type), ' ', g.name, '[', each_, "];");
        b_.body.name(g.node, g.name + "[e]");
    }
    void write_random(const place& g, const std::string& to, const std::string& further) {
        b_.code.line(to, " = ", b_.generator_name(g.node), '(', b_.generator_key(g.node), ", ",
                     b_.generator_index(g.node, axis_range(0, b_.rank)), further, ");");
    }

    /// The thread's elements of a random leaf: by whole groups where they begin with one, else each for itself.
    void write_packed_random(const place& g) {
        const std::uint32_t group = generator_group(b_.graph.nodes[g.node].type);
        if (!moves_inside(g)) {
            write_random(g, "const " + b_.needs.type(b_.graph.nodes[g.node].type) + ' ' + g.name, "");
            b_.body.name(g.node, g.name);
            return;
        }
        declare_random(g);
        b_.code.margin("#pragma unroll");
        if (inner_class(g, inner_) == stride_class::unit && g.at->head.vector && each_ % group == 0) {
            b_.code.line("for (int e = 0; e < ", each_, "; e += ", group, ")");
            b_.code.line("    ", b_.generator_name(g.node), '(', g.name, " + e, ", b_.generator_key(g.node), ", (",
                         b_.generator_index(g.node, axis_range(0, b_.rank)), " + e) / ", group, ");");
            return;
        }
        b_.code.open("for (int e = 0; e < ", each_, "; ++e)");
        const std::string whole = b_.offset(g, axis_bit(inner_));  // " + i1 * p.g0_stride1"
        write_random(g, g.name + "[e]", " + e" + whole.substr(3 + digit(inner_).size()));
        b_.code.close();
    }

    // Index arithmetic.

    /// The digits of `linear` along the axes [first, last), the outermost taking what is left.
    void write_digits(std::string linear, int first, int last) {
        const std::string type = b_.signed_index();
        for (int a = last - 1; a > first; --a) {
            const formula extent{.axes = axis_bit(a)};
            const std::string rest = "q" + std::to_string(a);
            b_.code.line("const ", b_.linear(), ' ', rest, " = quotient(", linear, ", ",
                         b_.divisor(extent, "by_n" + std::to_string(a)), ");");
            b_.code.line("const ", type, ' ', digit(a), " = ", type, '(', linear, " - ", rest, " * ",
                         b_.count(extent, "n" + std::to_string(a)), ");");
            linear = rest;
        }
        b_.code.line("const ", type, ' ', digit(first), " = ", type, '(', linear, ");");
    }

    std::string block_start(std::uint32_t elements) {
        return (b_.wide() ? b_.linear() + "(blockIdx.x)" : "blockIdx.x") + " * " + std::to_string(elements) + "u + threadIdx.x";
    }

    void write_packed() {
        source_writer& out = b_.code;
        const std::string n = b_.count({.axes = axis_bit(inner_)}, "n" + std::to_string(inner_));
        const std::string i = b_.rank == 1 ? digit(0) : "i";
        find_vector(n, i);
        std::vector<const place*> vectors;
        for (const place& in : b_.inputs) {
            if (!moves(in)) continue;
            const std::string type = b_.needs.type(in.at->head.type);
            const std::string offset = b_.offset(in, axis_range(0, b_.rank));
            if (!moves_inside(in)) {
                out.line("const ", type, ' ', in.name, " = ", element(in, offset), ";");
                b_.body.name(in.node, in.name);
                continue;
            }
            vectors.push_back(&in);
            out.line("const ", type, "* const ", in.name, "_at = ", b_.pointer(in), offset, ";");
            out.line("alignas(", bytes_of(in) * each_, ") ", type, ' ', in.name, '[', each_, "];");
            b_.body.name(in.node, in.name + "[e]");
        }
        for (const node_id g : b_.generators) write_packed_random(place_of(g));
        out.line("const bool whole = ", n, " - ", i, " >= ", each_, ";");
        if (!vectors.empty()) {
            out.open("if (whole)");
            for (const place* in : vectors) {
                const std::uint32_t bytes = bytes_of(*in) * each_;
                out.line(loader(reading_of(*in), bytes), '<', word_of(bytes), ">(", in->name, ", ", in->name, "_at);");
            }
            out.otherwise();
            open_elements();
            for (const place* in : vectors) out.line("if (e < ", n, " - ", i, ") ", in->name, "[e] = ", in->name, "_at[e];");
            out.close();
            out.close();
        }
        for (const place& z : b_.outputs)
            out.line("alignas(", bytes_of(z) * each_, ") ", b_.needs.type(z.at->head.type), ' ', z.name, '[', each_, "];");
        open_elements();
        for (std::size_t k = 0; k < b_.outputs.size(); ++k)
            out.line(b_.outputs[k].name, "[e] = ", b_.body.value(b_.graph.roots[k], out), ";");
        out.close();
        for (const place& z : b_.outputs)
            out.line(b_.needs.type(z.at->head.type), "* const ", z.name, "_at = ", b_.pointer(z),
                     b_.offset(z, axis_range(0, b_.rank)), ";");
        out.open("if (whole)");
        need_store();
        for (const place& z : b_.outputs)
            out.line("store<", word_of(bytes_of(z) * each_), ">(", z.name, "_at, ", z.name, ");");
        out.otherwise();
        open_elements();
        for (const place& z : b_.outputs) out.line("if (e < ", n, " - ", i, ") ", z.name, "_at[e] = ", z.name, "[e];");
        out.close();
        out.close();
    }

    /// Which elements this thread owns: those from `i` on the inner axis, whose extent is `n`.
    void find_vector(const std::string& n, const std::string& i) {
        source_writer& out = b_.code;
        if (b_.rank == 1) {
            out.line("const ", b_.linear(), ' ', i, " = (", block_start(threads), ") * ", each_, ";");
            out.line("if (", i, " >= ", n, ") return;");
            b_.step.grid[0] = {.axes = axis_bit(0), .divide_by = threads * each_};
            return;
        }
        const formula row_vectors{.axes = 0, .inner = axis_bit(inner_), .inner_divide = each_};
        formula all = row_vectors;
        all.axes = axis_range(0, inner_);
        out.line("const ", b_.linear(), " q = ", block_start(threads), ";");
        out.line("if (q >= ", b_.count(all, "vectors"), ") return;");
        out.line("const ", b_.linear(), " row = quotient(q, ", b_.divisor(row_vectors, "by_row"), ");");
        out.line("const ", b_.linear(), ' ', i, " = (q - row * ", b_.count(row_vectors, "row_vectors"), ") * ", each_, ";");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), '(', i, ");");
        write_digits("row", 0, inner_);
        b_.step.grid[0] = all;
        b_.step.grid[0].divide_by = threads;
    }

    void open_elements() {
        b_.code.margin("#pragma unroll");
        b_.code.open("for (", b_.wide() ? "int" : "unsigned int", " e = 0; e < ", each_, "; ++e)");
    }

    void write_spread() {
        source_writer& out = b_.code;
        const formula all{.axes = axis_range(0, b_.rank)};
        const std::string n = b_.count(all, "n"), each = std::to_string(each_);
        const std::string q = b_.linear() + " q = first + e * " + std::to_string(threads) + "u";
        out.line("const ", b_.linear(), " first = ", block_start(threads * each_), ";");
        for (const place& in : b_.inputs)
            if (moves(in)) out.line(b_.needs.type(in.at->head.type), ' ', in.name, '[', each, "];");
        for (const place& z : b_.outputs)
            if (moves(z)) out.line(b_.needs.type(z.at->head.wide ? dtype::i8 : dtype::i4), ' ', z.name, "_offset[", each, "];");
        for (const node_id g : b_.generators) declare_random(place_of(g));
        open_elements();
        out.line("const ", q, ";");
        out.line("if (q >= ", n, ") continue;");
        if (b_.rank > 0) write_digits("q", 0, b_.rank);
        for (const place& in : b_.inputs) {
            if (!moves(in)) continue;
            out.line(in.name, "[e] = ", element(in, b_.offset(in, axis_range(0, b_.rank))), ";");
            b_.body.name(in.node, in.name + "[e]");
        }
        for (const node_id g : b_.generators) write_random(place_of(g), b_.names[b_.graph.nodes[g].index] + "[e]", "");
        for (const place& z : b_.outputs)
            if (moves(z)) out.line(z.name, "_offset[e] = ", b_.offset(z, axis_range(0, b_.rank)).substr(3), ";");
        out.close();
        open_elements();
        out.line("const ", q, ";");
        out.line("if (q >= ", n, ") continue;");
        for (std::size_t k = 0; k < b_.outputs.size(); ++k) {
            const place& z = b_.outputs[k];
            store_element(z, moves(z) ? " + " + z.name + "_offset[e]" : "", b_.body.value(b_.graph.roots[k], out));
        }
        out.close();
        b_.step.grid[0] = all;
        b_.step.grid[0].divide_by = threads * each_;
    }

    kernel_builder b_;
    int inner_;
    bool packed_ = false;
    std::uint32_t each_ = 1;
};

}  // namespace

void emit_map_cuda(const key& k, const graph& g, plan& p) { cuda_map(k, g).write(p); }

}  // namespace ingot::codegen
