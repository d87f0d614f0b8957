// The map kernel for CUDA that adds one value to few places: as many blocks as fit count in shared memory how often
// each place is met, over all elements, and add to memory at their end. Sums of integers are the same in any order.
// Elements are read and computed as in the layout spread, or by vectors.
#include <algorithm>

#include "codegen/cuda/map/map_writer.hpp"
#include "codegen/text/scatter.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

class counted_map final : public apart_writer {
public:
    counted_map(cuda_kernel& b, const counted_layout& c) : apart_writer(b, c.each), layout_(c) {}

private:
    void write_elements() override {
        source_writer& out = b_.code;
        const array_argument& z = b_.outputs[0];
        const formula all = points_of(axis_range(0, b_.rank));
        const std::string n = b_.count(all, "n");
        const std::uint32_t block = threads * elements_, counts = (layout_.bins + 1) * layout_.copies;
        open_counts(counts);
        out.margin("#pragma unroll 1");
        out.open("for (", b_.linear(), " first = ", b_.thread_index(block),
                 layout_.vector == 1 ? "" : " * " + std::to_string(layout_.vector), "; first < ", n,
                 "; first += ", b_.linear(), "(gridDim.x) * ", block, "u)");
        const body_writer::names outside = b_.body.scope();
        const std::uint32_t reach = threads * (elements_ - layout_.vector) + layout_.vector;
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
        const std::uint32_t resident = layout_.bins * layout_.copies <= 4096 ? 8 : 3,
                            least = std::max(block, 2 * layout_.bins);
        b_.step.grid[0] = min(ceil_divide(all, block), max(min(ceil_divide(all, least), processors() * resident),
                                                           ceil_divide(all, std::uint64_t{1} << 31)));
    }

    std::string number_of_element() const override {
        if (layout_.vector == 1) return apart_writer::number_of_element();
        const std::string vector = std::to_string(layout_.vector);
        return "first + e / " + vector + " * " + std::to_string(threads * layout_.vector) + "u + e % " + vector;
    }

    std::string slot_of(const array_argument& in) const override {
        if (layout_.vector == 1 || own_.empty()) return apart_writer::slot_of(in);
        const std::string vector = std::to_string(layout_.vector);
        return in.name + "[e / " + vector + "][e % " + vector + ']';
    }

    /// Counts a thread's elements, none of which lies behind the last.
    void count_batch() {
        source_writer& out = b_.code;
        declare_read(true);
        if (layout_.vector != 1) {
            for (const array_argument& in : b_.inputs) {
                if (!moves(in)) continue;
                const std::uint32_t bytes = bytes_of(in) * layout_.vector;
                out.margin("#pragma unroll");
                out.line("for (int v = 0; v < ", elements_ / layout_.vector, "; ++v) ",
                         b_.loader(b_.reading_of(in, all_axes()), bytes), '<', word_of(bytes), ">(", in.name, "[v], ",
                         b_.pointer(in), " + first + v * ", threads * layout_.vector, "u);");
                b_.body.name(in.node, slot_of(in));
            }
        } else {
            open_unrolled_elements();
            out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
            b_.write_digits("q", axes_in(axis_range(0, b_.rank)));
            read_elements();
            out.close();
        }
        declare_indices();
        b_.compute(b_.has_quick_bodies(), [&] {
            open_unrolled_elements();
            if (b_.has_raw() || b_.has_user_text() || b_.loops != 0) {
                out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
                if (b_.loops != 0) b_.write_digits("q", axes_in(axis_range(0, b_.rank)));
            }
            compute_index();
            out.close();
        });
        out.line("bool beyond = false;");
        open_unrolled_elements();
        count_element();
        out.line("beyond = beyond || ", indices_of(b_.outputs[0]), "[e] >= ", layout_.bins, ";");
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
        open_elements(std::to_string(elements_));
        out.line("const ", b_.linear(), " q = ", number_of_element(), ";");
        out.line("if (q >= ", n, ") break;");
        b_.write_digits("q", axes_in(axis_range(0, b_.rank)));
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
        const bool by_vectors = batched && layout_.vector != 1;
        const std::string all = batched ? '[' + std::to_string(elements_ / layout_.vector) + ']' : "";
        for (const array_argument& in : b_.inputs)
            if (moves(in))
                out.line(by_vectors ? "alignas(16) " : "", b_.needs.type(in.at->head.type), ' ', in.name, all,
                         by_vectors ? '[' + std::to_string(layout_.vector) + ']' : "", ";");
        for (const node_id id : b_.generators) {
            const array_argument g = b_.leaf_of(id);
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
        const std::string at = indices_of(b_.outputs[0]) + own_, bins = std::to_string(layout_.bins);
        if (b_.checks_indices()) b_.code.line("if (!inside", own_, ") ", at, " = -1;");
        b_.code.line("atomicAdd(own + (", b_.needs.type(dtype::u8), '(', at, ") < ", bins, " ? (unsigned int)", at,
                     " : ", bins, "u), 1u);");
    }

    /// Adds an element beyond the counts at its place in memory.
    void add_beyond() {
        const array_argument& z = b_.outputs[0];
        const std::string at = indices_of(z) + own_, value = b_.body.value(b_.value_of(z), b_.code);
        b_.code.line("if (", at, " >= ", layout_.bins, ") ",
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
                 layout_.copies == 1 ? std::string()
                                     : " + threadIdx.x / 32 % " + std::to_string(layout_.copies) + " * " +
                                           std::to_string(layout_.bins + 1),
                 ";");
    }

    /// A place with a count of 0 may not exist.
    void close_counts(const std::string& value) {
        source_writer& out = b_.code;
        const array_argument& z = b_.outputs[0];
        const std::string type = b_.needs.type(z.at->head.type), bins = std::to_string(layout_.bins);
        out.line("__syncthreads();");
        out.open("for (int k = threadIdx.x; k < ", bins, "; k += ", threads, ")");
        out.line("unsigned int total = counts[k];");
        if (layout_.copies > 1) {
            out.margin("#pragma unroll");
            out.line("for (int c = 1; c < ", layout_.copies, "; ++c) total += counts[k + c * ", layout_.bins + 1, "];");
        }
        out.line("if (total != 0) ", spell_scatter(scatter_rule::add, z.at->head.type, b_.needs), "(&", b_.pointer(z),
                 "[k], ", type, "(total) * ", value, ");");
        out.close();
    }

    const counted_layout& layout_;
};

}  // namespace

std::optional<counted_layout> choose_counted(const cuda_kernel& b) {
    constexpr std::uint32_t most_each = 8, most_counts = 4096, warps = map_threads / 32;
    if (b.rank == 0 || b.outputs.size() != 1 || b.outputs[0].at->head.few_places == 0) return {};
    // The result follows from the count at each place, if the value is the same everywhere.
    const node& value = b.graph.nodes[b.value_of(b.outputs[0])];
    if (value.kind != node_kind::operand || b.key.operands[value.index].head.kind != operand_kind::scalar) return {};
    counted_layout c{.bins = 1u << b.outputs[0].at->head.few_places};
    c.copies = std::clamp(most_counts / c.bins, 1u, warps);
    c.each = elements_within(b, b.loops != 0 ? 1 : most_each);
    const auto moves = [](const array_argument& in) { return inner_class(in, 0) != stride_class::broadcast; };
    const bool vectors = b.rank == 1 && b.unravellings.empty() && b.generators.empty() && b.loops == 0 &&
                         std::ranges::all_of(b.inputs, [&](const array_argument& in) {
                             return !moves(in) || (inner_class(in, 0) == stride_class::unit && in.at->head.vector);
                         });
    if (vectors) c.vector = std::min(c.each, elements_of_vector(b, false, moves));
    return c;
}

kernel_shape counted_layout::shape() const { return {.name = "counted", .threads = map_threads, .chunks = each}; }

std::string counted_layout::reason() const {
    return "each block counts at " + std::to_string(bins) +
           " places in shared memory: atomic additions to memory are few";
}

void counted_layout::write(cuda_kernel& b) const { counted_map(b, *this).write(); }

}  // namespace ingot::codegen
