// Finds the values that the scans of a graph fold, and their axis.
#include "codegen/graph/scan.hpp"

#include <algorithm>

#include "codegen/graph/rows.hpp"

namespace ingot::codegen {

scanning find_scanning(const key& k, const graph& g) {
    scanning s;
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        if (n.kind != node_kind::scan) continue;
        s.axis = loops_of_binder(k, g, n.index).front();
        for (const axis_class& a : k.axes)
            if (a.owner == n.index + 1) {
                s.length_class = std::max(s.length_class, a.length_class);
                if (a.length_class == 1) s.subclass = std::max(s.subclass, a.subclass);
            }
        s.scans.push_back(i);
        s.values.push_back(n.arguments[0]);
    }
    return s;
}

std::vector<int> axes_without(int rank, int axis) {
    std::vector<int> axes;
    for (int a = 0; a < rank; ++a)
        if (a != axis) axes.push_back(a);
    return axes;
}

}  // namespace ingot::codegen
