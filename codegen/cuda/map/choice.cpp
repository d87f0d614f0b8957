// See choice.hpp. Vectors of the inner axis are tried first, as they need the fewest instructions, then layouts that
// read the results of an earlier fold once.
#include "codegen/cuda/map/choice.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

map_choice choose_map(const cuda_kernel& b) {
    if (const auto c = choose_counted(b)) return *c;
    if (const auto c = choose_tiled(b)) return *c;
    if (auto c = choose_stencil(b)) return std::move(*c);
    if (const auto c = choose_joint(b)) return *c;
    if (const auto c = choose_packed(b)) return *c;
    const int folded = b.scatters() || b.has_raw() ? -1 : b.folded_axis();
    if (folded < 0) return choose_spread(b);
    if (const auto c = choose_flat(b, folded)) return *c;
    return choose_along(b, folded);
}

std::uint32_t elements_within(const cuda_kernel& b, std::uint32_t most) {
    constexpr std::size_t large_graph = 64;
    constexpr std::uint32_t most_registers = 160;  // of 255: addresses and loop counters need some
    constexpr std::size_t many_arrays = 12;        // a few elements of each keep the memory busy, with more threads
    if (b.inputs.size() + b.outputs.size() > many_arrays) most = std::min(most, 2u);
    const std::uint32_t registers = b.graph.nodes.size() > large_graph ? live_registers(b.graph) : 0;
    while (most > 1 && (most * b.cost > statement_budget || most * registers > most_registers)) most /= 2;
    return most;
}

std::uint32_t elements_of_vector(const cuda_kernel& b, bool outputs_too,
                                 const std::function<bool(const array_argument&)>& moves) {
    constexpr std::uint32_t vector_bytes = 16;
    std::uint32_t widest = 1;
    for (const array_argument& at : b.inputs)
        if (moves(at)) widest = std::max(widest, bytes_of(at));
    for (const array_argument& at : b.outputs)
        if (outputs_too && moves(at)) widest = std::max(widest, bytes_of(at));
    return vector_bytes / widest;
}

bool can_pack(const cuda_kernel& b) {
    const int inner = b.rank - 1;
    if (b.rank == 0 || !b.unravellings.empty() || b.scatters()) return false;
    if ((b.key.axes[static_cast<std::size_t>(inner)].flags & axis_flags::short_inner) != 0 && b.rank > 1) return false;
    const auto moves = [&](const array_argument& at) { return inner_class(at, inner) != stride_class::broadcast; };
    const auto fits = [&](const array_argument& at) {
        return !moves(at) || (inner_class(at, inner) == stride_class::unit && at.at->head.vector);
    };
    return std::ranges::all_of(b.inputs, fits) &&
           std::ranges::all_of(b.outputs, [&](const array_argument& at) { return moves(at) && fits(at); });
}

}  // namespace ingot::codegen
