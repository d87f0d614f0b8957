// The map kernel for CUDA, one thread for several elements, in one of these shapes:
//   packed  a thread has consecutive elements of the inner axis and moves them in one access of up to 16 bytes; every
//           operand that moves along the inner axis is contiguous and aligned. The last elements of a row, and those of
//           a thread whose quick bodies met a rare value, go one by one, in the same kernel.
//   spread  a thread's elements are a block apart, so that every access of a warp is coalesced whatever the alignment
//           and the strides; its loads are in flight together.
//   along   as spread, but a thread's elements are some apart on one axis, along which an earlier step folded: its
//           results are read once.
//   counted as spread, or by vectors, where one value is added to few places: as many blocks as fit count in shared
//           memory how often each place is met, over all elements, and add to memory at their end. Sums of integers are
//           the same in any order.
// Over more than one axis the linear number of a thread is decoded by multiply-high divisions.
#include <algorithm>

#include "codegen/cuda/map/choice.hpp"
#include "codegen/cuda/map/stencil_steps.hpp"
#include "codegen/plan/emitters.hpp"
#include "codegen/plan/stages.hpp"
#include "codegen/text/random.hpp"
#include "codegen/text/scatter.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

using layout = map_choice::layout;
constexpr std::uint32_t threads = map_choice::threads;

class cuda_map {
public:
    cuda_map(cuda_kernel& b, const map_choice& c)
        : b_(b), choice_(c), inner_(b.rank - 1), along_(c.along), each_(c.each) {}

    void write(plan& p) {
        b_.name_scalars();
        read_constants();
        b_.body.hoist(0, b_.graph.roots, b_.code);
        b_.declare_outside_indices();
        switch (choice_.how) {
            case layout::packed:
                write_packed();
                break;
            case layout::along:
                write_along();
                break;
            case layout::counted:
                write_counted();
                break;
            default:
                write_spread();
        }
        b_.report_outside_indices();
        finish_map(b_, choice_, p);
    }

private:
    bool moves_inside(const array_argument& at) const { return inner_class(at, inner_) != stride_class::broadcast; }
    bool moves(const array_argument& at) const { return b_.moves_along(at, all_axes()); }
    std::uint64_t all_axes() const { return axis_range(0, b_.rank) | b_.unravelled_axes(); }
    /// The axes [0, n).
    static std::vector<int> outer_axes(int n) {
        std::vector<int> axes;
        for (int a = 0; a < n; ++a) axes.push_back(a);
        return axes;
    }

    /// Operands that move along no axis are read once, before everything else.
    void read_constants() {
        // Operands may be outputs: only one thread runs.
        if (b_.rank == 0) b_.code.line("if (threadIdx.x != 0) return;  // there is one element");
        for (const array_argument& in : b_.inputs) {
            if (moves(in)) continue;
            b_.code.line("const ", b_.needs.type(in.at->head.type), ' ', in.name, " = ", b_.element(in, ""), ";");
            b_.body.name(in.node, in.name);
        }
    }

    // Random leaves.

    array_argument argument_of(node_id generator) const {
        const std::uint16_t index = b_.graph.nodes[generator].index;
        return {&b_.key.operands[index], b_.names[index], index, false, generator};
    }
    void declare_random(const array_argument& g) {
        b_.code.line(b_.needs.type(b_.graph.nodes[g.node].type), ' ', g.name, '[', all_elements(), "];");
        b_.body.name(g.node, g.name + "[e]");
    }
    void write_random(const array_argument& g, const std::string& to, const std::string& further) {
        b_.code.line(to, " = ", b_.generator_call(g.node, b_.generator_index(g.node, all_axes()) + further), ";");
    }

    /// Writes element e of the thread's elements of a random leaf.
    void write_random_element(const array_argument& g, const std::string& to) {
        const std::string whole = b_.offset(g, axis_bit(inner_));  // " + i1 * p.g0_stride1"
        write_random(g, to, " + e" + whole.substr(3 + digit(inner_).size()));
    }
    /// The elements of all of a thread's vectors, of which only a packed map has several; the distance between its
    /// vectors; and the distance of element e from the first.
    std::uint32_t all_elements() const { return each_ * choice_.chunks; }
    std::uint32_t vector_stride() const { return threads * each_; }
    std::string offset_of_element() const {
        if (choice_.chunks == 1) return "e";
        const std::string each = std::to_string(each_);
        return "(e / " + each + " * " + std::to_string(vector_stride()) + " + e % " + each + ')';
    }

    /// All the thread's elements of a random leaf: by whole groups where they begin with one, else one by one.
    void write_random_vector(const array_argument& g) {
        const std::uint32_t group = generator_group(b_.graph.nodes[g.node].type);
        declare_random(g);
        b_.code.margin("#pragma unroll");
        if (inner_class(g, inner_) == stride_class::unit && g.at->head.vector && each_ % group == 0) {
            b_.code.line("for (int e = 0; e < ", all_elements(), "; e += ", group, ")");
            const std::string index = b_.generator_index(g.node, all_axes()), name = b_.generator_name(g.node);
            b_.code.line("    ", name, '(', g.name, " + e, ", b_.generator_key(g.node), ", ", b_.needs.type(dtype::u8),
                         '(', index, " + ", offset_of_element(), ") / ", group, ");");
            return;
        }
        b_.code.open("for (int e = 0; e < ", each_, "; ++e)");
        write_random_element(g, g.name + "[e]");
        b_.code.close();
    }

    // Packed.

    void write_packed() {
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
            out.line(b_.needs.type(z.at->head.type), "* const ", z.name, "_at = ", b_.pointer(z),
                     b_.offset(z, all_axes()), ";");
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

    /// Reads, computes and stores by vectors, and returns unless a value was rare.
    void write_vector(const std::vector<const array_argument*>& vectors,
                      const std::vector<array_argument>& generators) {
        source_writer& out = b_.code;
        for (const array_argument* in : vectors) {
            const std::uint32_t bytes = bytes_of(*in) * each_;
            out.line("alignas(", bytes, ") ", b_.needs.type(in->at->head.type), ' ', in->name, '[', each_, "];");
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
        for (const array_argument& z : b_.outputs) store_vector(z);
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
        out.open("if (", left, " >= ", (choice_.chunks - 1) * vector_stride() + each_, ")");
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
        b_.code.line("alignas(", bytes_of(z) * each_, ") ", b_.needs.type(z.at->head.type), ' ', z.name, '[',
                     all_elements(), "];");
    }
    void store_vector(const array_argument& z) {
        b_.code.line(storer(), "<", word_of(bytes_of(z) * each_), ">(", z.name, "_at, ", z.name, ");");
    }
    std::string storer() {
        if (choice_.chunks == 1) return b_.storer();
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
            out.line("const ", b_.linear(), ' ', i, " = (", b_.thread_index(threads * choice_.chunks), ") * ", each_,
                     ";");
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
        out.line("const ", b_.linear(), ' ', i, " = (q - row * ", b_.count(row_vectors, "row_vectors"), ") * ", each_,
                 ";");
        out.line("const ", b_.signed_index(), ' ', digit(inner_), " = ", b_.signed_index(), '(', i, ");");
        b_.write_digits("row", outer_axes(inner_));
        b_.step.grid[0] = ceil_divide(all, threads);
    }

    void open_elements(const std::string& count) {
        b_.code.open("for (", b_.wide() ? "int" : "unsigned int", " e = 0; e < ", count, "; ++e)");
    }
    void open_unrolled_elements() {
        b_.code.margin("#pragma unroll");
        open_elements(std::to_string(all_elements()));
    }

    void write_spread() {
        source_writer& out = b_.code;
        const formula all = points_of(axis_range(0, b_.rank));
        const std::string n = b_.count(all, "n"), each = std::to_string(each_);
        const std::string q = number_of_element();
        const bool branches = !has_loaded_indices();
        out.line("const ", b_.linear(), " first = ", b_.thread_index(threads * each_), ";");
        if (!branches) out.line("if (first >= ", n, ") return;");
        for (const array_argument& in : b_.inputs)
            if (moves(in)) out.line(b_.needs.type(in.at->head.type), ' ', in.name, '[', each, "];");
        for (const array_argument& z : b_.outputs)
            if (moves(z))
                out.line(b_.needs.type(z.at->head.wide ? dtype::i8 : dtype::i4), ' ', z.name, "_offset[", each, "];");
        for (const node_id g : b_.generators) declare_random(argument_of(g));
        if (b_.checks_indices()) out.line("bool inside[", each, "];");
        open_unrolled_elements();
        if (branches) {
            out.line("const ", b_.linear(), " q = ", q, ";");
            out.line("if (q >= ", n, ") continue;");
        } else if (each_ == 1) {
            out.line("const ", b_.linear(), " q = first;");
        } else {
            // Without a branch all indices are loaded together, and then the elements at them.
            out.line("const ", b_.linear(), " next = ", q, ", q = next < ", n, " ? next : first;");
        }
        b_.write_digits("q", outer_axes(b_.rank));
        read_elements();
        for (const array_argument& z : b_.outputs)
            if (moves(z)) out.line(z.name, "_offset[e] = ", b_.offset(z, all_axes()).substr(3), ";");
        out.close();
        compute_elements();
        open_unrolled_elements();
        if (branches) out.line("if (", q, " >= ", n, ") break;");
        if (!branches && each_ > 1) out.open("if (", q, " < ", n, ")");
        for (const array_argument& z : b_.outputs)
            if (b_.is_scattered(z))
                b_.store_scattered(z, indices_of(z) + "[e]", z.name + "[e]", b_.checks_indices() ? "inside[e]" : "");
            else
                b_.store_element(z, moves(z) ? " + " + z.name + "_offset[e]" : "", z.name + "[e]");
        if (!branches && each_ > 1) out.close();
        out.close();
        b_.step.grid[0] = ceil_divide(all, threads * each_);
    }

    /// Whether elements are read or written at places that depend on loaded values.
    bool has_loaded_indices() const {
        std::vector<node_id> indices;
        for (const unravelling& u : b_.unravellings)
            if (u.gathers()) indices.push_back(u.index);
        for (const array_argument& z : b_.outputs)
            if (b_.is_scattered(z)) indices.push_back(b_.scatter_index_of(z));
        const std::vector<bool> beneath = nodes_below(b_.graph, indices);
        return std::ranges::any_of(b_.inputs, [&](const array_argument& in) { return beneath[in.node]; });
    }

    /// Reads all operands of element e into arrays: first those of an index, then those at its place.
    void read_elements() {
        source_writer& out = b_.code;
        std::vector<bool> read(b_.graph.nodes.size());
        const auto read_required = [&](const std::vector<bool>& required) {
            for (const array_argument& in : b_.inputs) {
                if (!moves(in) || read[in.node] || !required[in.node]) continue;
                read[in.node] = true;
                out.line(slot_of(in), " = ", b_.element(in, b_.offset(in, all_axes())), ";");
                b_.body.name(in.node, slot_of(in));
            }
            for (const node_id g : b_.generators) {
                if (read[g] || !required[g]) continue;
                read[g] = true;
                write_random(argument_of(g), b_.names[b_.graph.nodes[g].index] + own_, "");
            }
        };
        for (const unravelling& u : b_.unravellings) {
            if (!u.gathers()) {
                out.line("const ", b_.linear(), ' ', u.name, " = ", b_.linear(), '(',
                         b_.unravelled_index(u, all_axes()), ");");
                b_.write_digits(u.name, u.axes);
                continue;
            }
            read_required(b_.body.required_by({u.index}));
            const body_writer::names outside = b_.body.scope();
            const std::string index = b_.body.value(u.index, out);
            if (b_.checks_indices() && u.is_checked()) out.line(u.name, ".last = false;");
            out.line("const ", b_.signed_index(), ' ', digit(u.axes[0]), " = ", b_.gathered_index(u, index), ";");
            b_.body.leave(outside);
        }
        if (b_.checks_indices()) out.line("inside", own_, " = ", b_.all_inside(), ";");
        read_required(std::vector<bool>(b_.graph.nodes.size(), true));
    }

    /// The variable of element e of an input.
    std::string slot_of(const array_argument& in) const {
        if (choice_.vector == 1 || own_.empty()) return in.name + own_;
        const std::string vector = std::to_string(choice_.vector);
        return in.name + "[e / " + vector + "][e % " + vector + ']';
    }

    /// The places of a thread's scattered elements, and whether each has one.
    static std::string indices_of(const array_argument& z) { return z.name + "_at"; }
    void declare_indices() {
        for (const array_argument& z : b_.outputs)
            if (b_.is_scattered(z)) b_.code.line(b_.needs.type(dtype::i8), ' ', indices_of(z), '[', each_, "];");
    }

    std::string number_of_element() const {
        if (choice_.vector == 1) return "first + e * " + std::to_string(threads) + 'u';
        const std::string vector = std::to_string(choice_.vector);
        return "first + e / " + vector + " * " + std::to_string(threads * choice_.vector) + "u + e % " + vector;
    }

    /// Computes the thread's elements, by quick bodies where there are such; once more where one was rare.
    void compute_elements() {
        source_writer& out = b_.code;
        for (const array_argument& z : b_.outputs)
            out.line(b_.needs.type(z.at->head.type), ' ', z.name, '[', each_, "];");
        declare_indices();
        b_.compute(b_.has_quick_bodies(), [&] {
            open_unrolled_elements();
            if (b_.has_raw() || b_.has_user_text()) {
                out.line("if (", number_of_element(), " >= ", b_.count(points_of(axis_range(0, b_.rank)), "n"),
                         ") break;");
            }
            if (b_.loops != 0) {
                out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
                out.line("if (q >= ", b_.count(points_of(axis_range(0, b_.rank)), "n"), ") continue;");
                b_.write_digits("q", outer_axes(b_.rank));
            }
            for (const array_argument& z : b_.outputs) {
                out.line(z.name, "[e] = ", b_.body.value(b_.value_of(z), out), ";");
                if (b_.is_scattered(z))
                    out.line(indices_of(z), "[e] = ", b_.body.value(b_.scatter_index_of(z), out), ";");
            }
            out.close();
        });
    }

    // Counted.

    void write_counted() {
        source_writer& out = b_.code;
        const array_argument& z = b_.outputs[0];
        const formula all = points_of(axis_range(0, b_.rank));
        const std::string n = b_.count(all, "n");
        const std::uint32_t block = threads * each_, counts = (choice_.bins + 1) * choice_.copies;
        open_counts(counts);
        out.margin("#pragma unroll 1");
        out.open("for (", b_.linear(),
                 " first = ", b_.thread_index(block).substr(0, b_.thread_index(block).rfind(" +")), " + threadIdx.x",
                 choice_.vector == 1 ? "" : " * " + std::to_string(choice_.vector), "; first < ", n,
                 "; first += ", b_.linear(), "(gridDim.x) * ", block, "u)");
        const body_writer::names outside = b_.body.scope();
        const std::uint32_t reach = threads * (each_ - choice_.vector) + choice_.vector;
        out.open("if (", n, " - first >= ", reach, ")");
        count_batch();
        b_.body.leave(outside);
        out.otherwise();
        count_one_by_one(n);
        out.close();
        out.close();
        b_.body.leave(outside);
        const std::string value = b_.body.value(b_.value_of(z), out);
        close_counts(value);
        // A block clears and adds all its counts, which should be fewer than its elements; it has fewer than 2^32
        // elements.
        const std::uint32_t resident = choice_.bins * choice_.copies <= 4096 ? 8 : 3,
                            least = std::max(block, 2 * choice_.bins);
        b_.step.grid[0] = min(ceil_divide(all, block), max(min(ceil_divide(all, least), processors() * resident),
                                                           ceil_divide(all, std::uint64_t{1} << 31)));
    }

    /// Counts a thread's elements, none of which lies behind the last.
    void count_batch() {
        source_writer& out = b_.code;
        declare_read(true);
        if (choice_.vector != 1) {
            for (const array_argument& in : b_.inputs) {
                if (!moves(in)) continue;
                const std::uint32_t bytes = bytes_of(in) * choice_.vector;
                out.margin("#pragma unroll");
                out.line("for (int v = 0; v < ", each_ / choice_.vector, "; ++v) ",
                         b_.loader(b_.reading_of(in, all_axes()), bytes), '<', word_of(bytes), ">(", in.name, "[v], ",
                         b_.pointer(in), " + first + v * ", threads * choice_.vector, "u);");
                b_.body.name(in.node, slot_of(in));
            }
        } else {
            open_unrolled_elements();
            out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
            b_.write_digits("q", outer_axes(b_.rank));
            read_elements();
            out.close();
        }
        declare_indices();
        b_.compute(b_.has_quick_bodies(), [&] {
            open_unrolled_elements();
            if (b_.has_raw() || b_.has_user_text() || b_.loops != 0) {
                out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
                if (b_.loops != 0) b_.write_digits("q", outer_axes(b_.rank));
            }
            compute_index();
            out.close();
        });
        out.line("bool beyond = false;");
        open_unrolled_elements();
        count_element();
        out.line("beyond = beyond || ", indices_of(b_.outputs[0]), "[e] >= ", choice_.bins, ";");
        out.close();
        out.open("if (beyond)");
        open_unrolled_elements();
        add_beyond();
        out.close();
        out.close();
    }

    void count_one_by_one(const std::string& n) {
        source_writer& out = b_.code;
        own_.clear();
        out.margin("#pragma unroll 1");
        open_elements(std::to_string(each_));
        out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
        out.line("if (q >= ", n, ") break;");
        b_.write_digits("q", outer_axes(b_.rank));
        declare_read(false);
        read_elements();
        out.line(b_.needs.type(dtype::i8), ' ', indices_of(b_.outputs[0]), ";");
        b_.compute(b_.has_quick_bodies(), [&] { compute_index(); });
        count_element();
        add_beyond();
        out.close();
        own_ = "[e]";
    }

    /// Declares the variables for loaded elements; those that go together are vectors, where there are such.
    void declare_read(bool batched) {
        source_writer& out = b_.code;
        const bool by_vectors = batched && choice_.vector != 1;
        const std::string all = batched ? '[' + std::to_string(each_ / choice_.vector) + ']' : "";
        for (const array_argument& in : b_.inputs)
            if (moves(in))
                out.line(by_vectors ? "alignas(16) " : "", b_.needs.type(in.at->head.type), ' ', in.name, all,
                         by_vectors ? '[' + std::to_string(choice_.vector) + ']' : "", ";");
        for (const node_id id : b_.generators) {
            const array_argument g = argument_of(id);
            if (batched)
                declare_random(g);
            else
                out.line(b_.needs.type(b_.graph.nodes[id].type), ' ', g.name, ";");
            if (!batched) b_.body.name(id, g.name);
        }
        if (b_.checks_indices()) out.line("bool inside", batched ? all : "", ";");
    }
    void compute_index() {
        const array_argument& z = b_.outputs[0];
        b_.code.line(indices_of(z), own_, " = ", b_.body.value(b_.scatter_index_of(z), b_.code), ";");
    }
    /// Without a branch: an element without a place among the block's counts increments a count that nothing reads.
    void count_element() {
        const std::string at = indices_of(b_.outputs[0]) + own_, bins = std::to_string(choice_.bins);
        if (b_.checks_indices()) b_.code.line("if (!inside", own_, ") ", at, " = -1;");
        b_.code.line("atomicAdd(own + (", b_.needs.type(dtype::u8), '(', at, ") < ", bins, " ? (unsigned int)", at,
                     " : ", bins, "u), 1u);");
    }
    /// Adds an element beyond the counts at its place in memory.
    void add_beyond() {
        const array_argument& z = b_.outputs[0];
        const std::string at = indices_of(z) + own_, value = b_.body.value(b_.value_of(z), b_.code);
        b_.code.line("if (", at, " >= ", choice_.bins, ") ",
                     spell_scatter(scatter_rule::add, z.at->head.type, b_.needs), "(&", b_.pointer(z), '[', at, "], ",
                     value, ");");
    }

    void open_counts(std::uint32_t counts) {
        source_writer& out = b_.code;
        const std::uint32_t bytes = counts * 4, most_declared = 48 * 1024;
        if (bytes > most_declared) {
            b_.step.shared_bytes = bytes;
            out.line("extern __shared__ unsigned int counts[];");
        } else {
            out.line("__shared__ unsigned int counts[", counts, "];");
        }
        out.line("for (int k = threadIdx.x; k < ", counts, "; k += ", threads, ") counts[k] = 0;");
        out.line("__syncthreads();");
        out.line("unsigned int* const own = counts",
                 choice_.copies == 1 ? std::string()
                                     : " + threadIdx.x / 32 % " + std::to_string(choice_.copies) + " * " +
                                           std::to_string(choice_.bins + 1),
                 ";");
    }

    /// A place with a count of 0 may not exist.
    void close_counts(const std::string& value) {
        source_writer& out = b_.code;
        const array_argument& z = b_.outputs[0];
        const std::string type = b_.needs.type(z.at->head.type), bins = std::to_string(choice_.bins);
        out.line("__syncthreads();");
        out.open("for (int k = threadIdx.x; k < ", bins, "; k += ", threads, ")");
        out.line("unsigned int total = counts[k];");
        if (choice_.copies > 1) {
            out.margin("#pragma unroll");
            out.line("for (int c = 1; c < ", choice_.copies, "; ++c) total += counts[k + c * ", choice_.bins + 1, "];");
        }
        out.line("if (total != 0) ", spell_scatter(scatter_rule::add, z.at->head.type, b_.needs), "(&", b_.pointer(z),
                 "[k], ", type, "(total) * ", value, ");");
        out.close();
    }

    // Along an axis.

    /// A thread's elements are some apart, so that neighbours read neighbours; along the inner axis a block apart.
    void write_along() {
        source_writer& out = b_.code;
        const std::uint64_t still = all_axes() & ~axis_bit(along_);
        const std::uint32_t element_stride = choice_.element_stride;
        locate_along(element_stride);
        for (const array_argument& in : b_.inputs) {
            const std::string type = b_.needs.type(in.at->head.type);
            if (!moves(in)) continue;
            if (moves_along(in)) {
                out.line(type, ' ', in.name, '[', each_, "] = {};");
                b_.body.name(in.node, in.name + "[e]");
            } else {
                out.line("const ", type, ' ', in.name, " = ", b_.element(in, b_.offset(in, still)), ";");
                b_.body.name(in.node, in.name);
            }
        }
        open_present(element_stride);
        for (const array_argument& in : b_.inputs)
            if (moves_along(in)) out.line(in.name, "[e] = ", b_.element(in, b_.offset(in, all_axes())), ";");
        close_present();
        b_.body.hoist(still, b_.graph.roots, out);
        compute_elements();
        open_present(element_stride);
        for (const array_argument& z : b_.outputs) b_.store_element(z, b_.offset(z, all_axes()), z.name + "[e]");
        close_present();
    }

    bool moves_along(const array_argument& in) const { return b_.moves_along(in, axis_bit(along_)); }
    /// The digits of the thread's first element; `first` is its digit along the axis. Groups of the axis are `each`
    /// times as long as the distance of a thread's elements.
    void locate_along(std::uint32_t element_stride) {
        source_writer& out = b_.code;
        const formula groups = ceil_divide(points_of(axis_bit(along_)), each_ * element_stride);
        const formula all = points_of(axis_range(0, b_.rank) & ~axis_bit(along_)) * groups;
        b_.step.grid[0] = ceil_divide(all, threads / element_stride);
        const std::string type = b_.linear(), far = std::to_string(element_stride) + 'u';
        b_.count(points_of(axis_bit(along_)), "n" + std::to_string(along_));
        out.line("const ", type, " q = ", b_.thread_index(threads), ";");
        out.line("if (q >= ", b_.count(all, "groups"), " * ", far, ") return;");
        std::string rest = "q";
        if (along_ != inner_) {
            const formula within = points_of(axis_range(along_ + 1, b_.rank));
            const std::string inside = b_.count(within, "inside"), by_inside = b_.divisor(within, "by_inside");
            out.line("const ", type, " line = quotient(q, ", by_inside, "), inside = q - line * ", inside, ";");
            std::vector<int> axes;
            for (int a = along_ + 1; a < b_.rank; ++a) axes.push_back(a);
            b_.write_digits("inside", axes);
            rest = "line";
        }
        std::string group = rest + " / " + far;
        if (along_ > 0) {
            out.line("const ", type, " outer = quotient(", group, ", ", b_.divisor(groups, "by_groups"), ");");
            b_.write_digits("outer", outer_axes(along_));
            group = '(' + group + " - outer * " + b_.count(groups, "groups_along") + ')';
        }
        out.line("const ", type, " first = ", group, " * ", each_ * element_stride, " + ", rest, " % ", far, ";");
    }

    /// The loop over the thread's elements that exist, with the digit along the axis.
    void open_present(std::uint32_t element_stride) {
        const std::string at = "first + e * " + std::to_string(element_stride) + 'u';
        open_unrolled_elements();
        b_.code.open("if (", at, " < ", b_.count(points_of(axis_bit(along_)), "n" + std::to_string(along_)), ")");
        b_.code.line("const ", b_.signed_index(), ' ', digit(along_), " = ", b_.signed_index(), '(', at, ");");
    }
    void close_present() {
        b_.code.close();
        b_.code.close();
    }

    cuda_kernel& b_;
    const map_choice& choice_;
    const int inner_, along_;
    const std::uint32_t each_;
    std::string own_ = "[e]";  // of what a thread has for each element; empty where they go one by one
};

}  // namespace

void finish_map(cuda_kernel& b, const map_choice& c, plan& p) {
    b.step.kernel = "map";
    b.step.threads = c.block_threads;
    b.step.pattern = "map";
    b.step.work.push_back({axis_range(0, b.rank), cost_of(b.graph, b.graph.roots)});
    b.step.shape = c.shape();
    b.step.reason = c.reason();
    std::string bounds = std::to_string(c.block_threads);
    if (c.least_blocks > 0) bounds += ", " + std::to_string(c.least_blocks);
    p.source = b.assemble(p.expression, "extern \"C\" __global__ void __launch_bounds__(" + bounds +
                                            ")\nmap(const __grid_constant__ arguments p)");
    p.steps.push_back(std::move(b.step));
}

void emit_map_cuda(const key& k, const graph& g, plan& p) {
    cuda_kernel b(k, g);
    if (k.iteration.steps > 1) return emit_stencil_steps_cuda(b, p);
    const map_choice c = choose_map(b);
    b.looping = c.loops;
    switch (c.how) {
        case layout::flat:
            return emit_flat_map_cuda(b, c, p);
        case layout::stencil:
            return emit_stencil_map_cuda(b, c, p);
        case layout::joint:
            return emit_joint_map_cuda(b, c, p);
        case layout::tiled:
            return emit_tiled_map_cuda(b, c, p);
        default:
            return cuda_map(b, c).write(p);
    }
}

}  // namespace ingot::codegen
