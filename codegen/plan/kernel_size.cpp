#include "codegen/plan/kernel_size.hpp"

#include "codegen/text/body.hpp"
#include "codegen/text/user_text.hpp"

namespace ingot::codegen {

using namespace detail;

std::vector<bool> ends_of_kernels(const graph& g) {
    constexpr std::uint32_t most_operations = 1500;
    std::vector<bool> ends(g.nodes.size());
    const std::vector<std::uint32_t> live = live_values(g);
    std::vector<std::uint32_t> operations(g.nodes.size());
    node_id begin = 0;
    std::uint32_t sum = 0;
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        operations[i] = n.kind == node_kind::map    ? facts(static_cast<op>(n.code)).cost
                        : n.kind == node_kind::user ? cost_of_user(g.texts[n.index], n.code)
                                                    : 0;
        sum += operations[i];
        if (sum <= most_operations) continue;
        node_id best = i;
        std::uint32_t behind = 0, behind_best = 0;
        for (node_id p = i; p > begin && behind < most_operations / 2; behind += operations[p--])
            if (live[p] < live[best]) best = p, behind_best = behind;
        ends[best] = true;
        begin = best;
        sum = behind_best;
    }
    return ends;
}

}  // namespace ingot::codegen
