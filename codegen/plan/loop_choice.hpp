// How a thread goes through the loops of its folds (plan/thread_folds.hpp), chosen before a line of them is printed.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

struct loop_choice {
    /// What a thread reads of an array along one axis, and keeps in registers: from where it moves along no other loop
    /// that is not open yet.
    struct row {
        node_id operand;
        int axis;
        node_id like;  // the first operand that has the same elements, itself if there is none
        bool each;     // whether each of the thread's elements has a row of its own
    };

    std::uint64_t unrolled = 0;  // axes of loops whose turns are statements
    std::vector<row> rows;
    int along = -1;              // the axis of the outputs along which a thread has several elements
    std::uint32_t elements = 1;  // so many: what does not move along the axis is computed once for them
    std::uint32_t lanes = 1;     // neighbours that share the turns of a result's long loops

    const row* row_of(node_id operand) const {
        for (const row& r : rows)
            if (r.operand == operand) return &r;
        return nullptr;
    }
    /// Behind what is said of the layout; empty where nothing was chosen.
    std::string reason() const;
};

}  // namespace ingot::codegen
