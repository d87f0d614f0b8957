// Reductions of one kernel: every `reduce` of a graph whose trees before and after are elementwise, grouped by the
// space that it folds over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/fold.hpp"
#include "codegen/kernel.hpp"

namespace ingot::codegen {

/// Bound axes that one loop walks, and the reductions that fold over them.
struct folded_space {
    std::vector<int> axes;  // loop axes, outermost first
    std::uint8_t bucket = 1;
    std::vector<node_id> reductions;
    std::vector<node_id> values;  // what they fold

    std::uint64_t bits() const {
        std::uint64_t b = 0;
        for (const int a : axes) b |= axis_bit(a);
        return b;
    }
    int inner() const { return axes.empty() ? -1 : axes.back(); }
};

/// The spaces of a graph in which no reduction lies beneath another.
struct folding {
    std::vector<folded_space> spaces;
};
folding find_folding(const key& k, const graph& g);

/// What writes the folds of each space, numbered through.
std::vector<std::vector<fold_writer>> folds_of(const folding& f, const graph& g, prelude& needs);

/// Whether every result has few blocks' worth of company: rows alone do not fill the device.
bool few_results(const key& k, int rank);

/// Whether a target's folds write outputs that move along what they fold over.
constexpr bool folds_write_along(detail::target) { return false; }

void emit_fold_cuda(const key& k, const graph& g, const folding& f, plan& p);
void emit_fold_host(const key& k, const graph& g, const folding& f, plan& p);

}  // namespace ingot::codegen
