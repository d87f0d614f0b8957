// See choice.hpp. Layouts in which a block has whole rows or columns come first, for no block waits for another. Rows
// and columns that are too long, or too few to fill the GPU, are cut into tiles that look back.
#include "codegen/cuda/scan/choice.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

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

scan_choice choose_scan(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint8_t long_row_class = 9, long_column_class = 6;  // more than 8192, more than 512 elements
    if (s.axis == b.rank - 1)
        return has_few_rows(b) && s.length_class >= long_row_class ? scan_choice(choose_long_rows(b, s))
                                                                   : choose_rows(b, s);
    if (auto whole = choose_whole_columns(b, s)) return std::move(*whole);
    if (s.length_class >= long_column_class) return choose_long_columns(b, s);
    return choose_short_columns(b, s);
}

}  // namespace ingot::codegen
