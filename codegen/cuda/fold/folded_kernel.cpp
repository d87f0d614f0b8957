// See folded_kernel.hpp.
#include "codegen/cuda/fold/folded_kernel.hpp"

#include <algorithm>

#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

folded_kernel::folded_kernel(const cuda_kernel& b, const folding& f)
    : kernel_(b), spaces_(f.spaces), results_(f.results) {
    for (std::size_t s = 0; s < spaces_.size(); ++s) {
        if (spaces_[s].longest() > spaces_[longest_].longest()) longest_ = s;
        std::vector<fold_traits>& folds = traits_.emplace_back();
        for (const node_id r : spaces_[s].reductions) {
            const fold_traits& fold = folds.emplace_back(b.graph, r);
            words_ += fold.words(), slots_ += fold.slots();
        }
    }
    length_class_ = spaces_[longest_].length_class;
}

std::uint32_t folded_kernel::widest_part() const {
    std::uint32_t widest = 1;
    for (const std::vector<fold_traits>& folds : traits_)
        for (const fold_traits& f : folds) widest = std::max(widest, f.bytes());
    return widest;
}

std::vector<const array_argument*> inputs_of(const cuda_kernel& b, const folded_space& s) {
    const std::vector<bool> below = nodes_below(b.graph, s.computed_nodes(b.graph));
    std::vector<const array_argument*> inputs;
    for (const array_argument& in : b.inputs)
        if (below[in.node] && (b.graph.nodes[in.node].axes & s.bits()) != 0) inputs.push_back(&in);
    return inputs;
}

std::vector<node_id> folded_kernel::generators_of(const folded_space& s) const {
    const std::vector<bool> below = nodes_below(kernel_.graph, s.computed_nodes(kernel_.graph));
    std::vector<node_id> generators;
    for (const node_id g : kernel_.generators)
        if (below[g] && (kernel_.graph.nodes[g].axes & s.bits()) != 0) generators.push_back(g);
    return generators;
}

bool folded_kernel::draws_groups(const folded_space& s, int along, std::uint32_t each) const {
    const std::vector<node_id> generators = generators_of(s);
    return !generators.empty() && std::ranges::all_of(generators, [&](node_id g) {
        if ((kernel_.graph.nodes[g].axes & axis_bit(along)) == 0) return true;
        const array_argument leaf = kernel_.leaf_of(g);
        return each > 1 && is_unit(leaf, along);
    });
}

std::vector<node_id> folded_kernel::values() const {
    std::vector<node_id> all;
    for (const folded_space& s : spaces_) {
        const std::vector<node_id> computed = s.computed_nodes(kernel_.graph);
        all.insert(all.end(), computed.begin(), computed.end());
    }
    return all;
}

bool folded_kernel::is_unit(const array_argument& at, int along) const {
    for (std::size_t a = 0; a < at.at->strides.size(); ++a)
        if (at.at->strides[a] == stride_class::unit && kernel_.graph.loop_axis[a] == along) return true;
    return false;
}

std::uint32_t folded_kernel::columns_of(const array_argument& in, std::uint32_t columns) const {
    return columns == 1 || inner_class(in, kernel_.rank - 1) == stride_class::broadcast ? 1 : columns;
}

std::uint32_t folded_kernel::bytes_at_once(const folded_space& s, std::uint32_t columns) const {
    std::uint32_t bytes = 0;
    for (const array_argument* in : inputs_of(s)) bytes += bytes_of(*in) * columns_of(*in, columns);
    return bytes;
}

std::uint32_t folded_kernel::unroll_of(const folded_space& s, std::uint32_t bytes, std::uint32_t tile_elements,
                                       std::uint32_t lane_elements, std::uint32_t bytes_in_flight) const {
    if (!generators_of(s).empty()) return 1;
    bytes = std::max(bytes, 4u);
    const std::uint64_t longest = s.longest();
    std::uint32_t unroll = 1;
    while (2 * unroll * bytes <= bytes_in_flight && std::uint64_t{2} * unroll * tile_elements <= longest &&
           2 * unroll * lane_elements * cost_of(kernel_.graph, s.computed_nodes(kernel_.graph)) <= statement_budget)
        unroll *= 2;
    return unroll;
}

bool folded_kernel::gains_from_tiles_ahead() const {
    const std::vector<const array_argument*> inputs = inputs_of(longest_space());
    const std::vector<fold_traits>& folds = longest_folds();
    return folds.size() == 1 && folds[0].is_exponentials() && !inputs.empty() &&
           inputs.size() * sizeof(double) <= bytes_ahead &&
           std::ranges::all_of(inputs, [](const array_argument* in) { return bytes_of(*in) == sizeof(double); });
}

}  // namespace ingot::codegen
