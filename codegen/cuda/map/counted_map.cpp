// The map kernel for CUDA that adds one value to few places: its blocks count in shared memory how often each place is
// met, and add to memory at their end.
#include <algorithm>

#include "codegen/cuda/map/map_writer.hpp"
#include "codegen/text/scatter.hpp"

namespace ingot::codegen {

using namespace detail;

void cuda_map::write_counted() {
    source_writer& out = b_.code;
    const array_argument& z = b_.outputs[0];
    const formula all = points_of(axis_range(0, b_.rank));
    const std::string n = b_.count(all, "n");
    const std::uint32_t block = threads * each_, counts = (choice_.bins + 1) * choice_.copies;
    open_counts(counts);
    out.margin("#pragma unroll 1");
    out.open("for (", b_.linear(), " first = ", b_.thread_index(block).substr(0, b_.thread_index(block).rfind(" +")),
             " + threadIdx.x", choice_.vector == 1 ? "" : " * " + std::to_string(choice_.vector), "; first < ", n,
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

void cuda_map::count_batch() {
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

void cuda_map::count_one_by_one(const std::string& n) {
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

void cuda_map::declare_read(bool batched) {
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

void cuda_map::compute_index() {
    const array_argument& z = b_.outputs[0];
    b_.code.line(indices_of(z), own_, " = ", b_.body.value(b_.scatter_index_of(z), b_.code), ";");
}

void cuda_map::count_element() {
    const std::string at = indices_of(b_.outputs[0]) + own_, bins = std::to_string(choice_.bins);
    if (b_.checks_indices()) b_.code.line("if (!inside", own_, ") ", at, " = -1;");
    b_.code.line("atomicAdd(own + (", b_.needs.type(dtype::u8), '(', at, ") < ", bins, " ? (unsigned int)", at, " : ",
                 bins, "u), 1u);");
}

void cuda_map::add_beyond() {
    const array_argument& z = b_.outputs[0];
    const std::string at = indices_of(z) + own_, value = b_.body.value(b_.value_of(z), b_.code);
    b_.code.line("if (", at, " >= ", choice_.bins, ") ", spell_scatter(scatter_rule::add, z.at->head.type, b_.needs),
                 "(&", b_.pointer(z), '[', at, "], ", value, ");");
}

void cuda_map::open_counts(std::uint32_t counts) {
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
             choice_.copies == 1
                 ? std::string()
                 : " + threadIdx.x / 32 % " + std::to_string(choice_.copies) + " * " + std::to_string(choice_.bins + 1),
             ";");
}

void cuda_map::close_counts(const std::string& value) {
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

}  // namespace ingot::codegen
