// Which steps a key takes: recognises the pattern of its graph and hands it to that pattern's emitter. A pattern whose
// kernel is still to come has its plan, and `missing` says what.
#include "codegen/schedule.hpp"

#include <algorithm>

#include <ingot/error.hpp>

#include "codegen/kernel.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

std::string expression_of(const key& k, const graph& g) {
    std::string out;
    for (const node_id root : g.roots) out += (out.empty() ? "" : "; ") + text(g, root, k);
    return out;
}

}  // namespace

plan make_plan(const key& k) {
    const graph g = lower(k, loops::shared);
    plan p;
    p.expression = expression_of(k, g);
    p.contract = k.header.math != math_mode::strict;
    p.pattern = "map";
    if (k.header.where == target::cuda) {
        emit_map_cuda(k, g, p);
    } else {
        emit_map_host(k, g, p);
    }
    return p;
}

}  // namespace ingot::codegen
