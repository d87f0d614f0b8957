// See choice.hpp. Layouts in which a block has whole rows or columns come first, for no block waits for another. Rows
// and columns that are too long, or too few to fill the GPU, are cut into tiles that look back.
#include "codegen/cuda/scan/choice.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

using layout = scan_choice::layout;

std::vector<const array_argument*> inputs_along(const cuda_kernel& b, const scanning& s) {
    std::vector<const array_argument*> inputs;
    for (const array_argument& in : b.inputs)
        if ((b.graph.nodes[in.node].axes & s.bit()) != 0) inputs.push_back(&in);
    return inputs;
}

std::vector<node_id> generators_along(const cuda_kernel& b, const scanning& s) {
    std::vector<node_id> generators;
    for (const node_id g : b.generators)
        if ((b.graph.nodes[g].axes & s.bit()) != 0) generators.push_back(g);
    return generators;
}

std::uint32_t element_cost(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t uniform = 32, normal = 64;  // operations that one number takes
    std::uint32_t cost = cost_of(b.graph, s.values) + b.cost + 4;
    for (const node_id g : generators_along(b, s))
        cost += b.graph.nodes[g].code == static_cast<std::uint16_t>(generator_kind::normal) ? normal : uniform;
    return cost;
}

std::uint32_t widest_element(const cuda_kernel& b, const scanning& s) {
    std::uint32_t widest = 1;
    for (const array_argument* in : inputs_along(b, s)) widest = std::max(widest, bytes_of(*in));
    for (const array_argument& out : b.outputs) widest = std::max(widest, bytes_of(out));
    return widest;
}

bool has_few_rows(const cuda_kernel& b) { return (b.key.axes[0].flags & axis_flags::few_rows) != 0; }

namespace {

/// For columns enough to fill the GPU. All loads of a column known to be short are in flight at once.
scan_choice choose_short_columns(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t usual = 8, most = 16;
    scan_choice c;
    c.how = layout::short_columns;
    c.loops = s.longest() > most || s.longest() * element_cost(b, s) > statement_budget;
    c.register_chunks = c.loops ? usual : s.longest();
    return c;
}

}  // namespace

scan_choice choose_scan(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint8_t long_row_class = 9, long_column_class = 6;  // more than 8192, more than 512 elements
    if (s.axis == b.rank - 1)
        return has_few_rows(b) && s.length_class >= long_row_class ? choose_long_rows(b, s) : choose_rows(b, s);
    if (const std::optional<scan_choice> whole = choose_whole_columns(b, s)) return *whole;
    return s.length_class >= long_column_class ? choose_long_columns(b, s) : choose_short_columns(b, s);
}

kernel_shape scan_choice::shape() const {
    constexpr std::string_view names[] = {"rows",          "row pairs",     "look-back rows",
                                          "short columns", "whole columns", "look-back columns"};
    const bool columns = how == layout::whole_columns || how == layout::long_columns;
    kernel_shape k;
    k.name = names[static_cast<std::size_t>(how)];
    k.threads = threads;
    k.lanes = columns ? height() : lanes;
    k.each = each;
    k.chunks = chunks();
    if (shared_chunks > 0) k.source = element_source::staged;
    k.exchange = looks_back()              ? thread_exchange::scratch
                 : k.lanes > 32 || columns ? thread_exchange::block
                 : k.lanes > 1             ? thread_exchange::lanes
                                           : thread_exchange::none;
    k.resident_blocks = resident_blocks;
    return k;
}

std::string_view scan_choice::pattern() const {
    constexpr std::string_view patterns[] = {"row scan",    "row scan",    "look-back scan",
                                             "column scan", "column scan", "look-back column scan"};
    return patterns[static_cast<std::size_t>(how)];
}

std::string scan_choice::reason() const {
    const std::string elements = std::to_string(tile), block = std::to_string(threads),
                      chunk = std::to_string(chunks()) + " rows of " + std::to_string(each) + " columns a thread, ";
    switch (how) {
        case layout::rows:
        case layout::row_pairs:
            break;
        case layout::long_rows:
            return "tiles of " + elements +
                   " elements, each looks back at those before it: what is scanned is read once";
        case layout::short_columns:
            return "a thread a column, neighbours read neighbours: columns enough to fill the GPU, none waits for "
                   "another";
        case layout::whole_columns:
            return chunk + (narrow ? "some outer places' columns" : "whole columns") + " a block of " + block +
                   " threads in shared memory: they fit, what is scanned is read once, none waits for another";
        case layout::long_columns:
            return chunk + "tiles of " + block + " threads in shared memory look back: what is scanned is read once";
    }
    return std::to_string(lanes) + " lanes a row, " + elements +
           " elements at a time: rows enough to fill the GPU, none waits for another";
}

}  // namespace ingot::codegen
