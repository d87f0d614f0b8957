// How a thread runs the loops of its folds (plan/thread_folds.hpp), chosen before any text is printed.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

struct loop_choice {
    /// A row of an array along one axis that a thread loads into registers, as soon as all other loops along which the
    /// array moves are open.
    struct row {
        node_id operand;
        int axis;
        node_id like;         // the first operand that has the same elements, or itself
        bool each;            // whether each of the thread's elements has a row of its own
        bool window = false;  // contiguous along both: element e of the thread begins e elements further on
    };

    std::uint64_t unrolled = 0;  // axes of loops whose turns are statements
    std::vector<row> rows;
    int along = -1;              // the outputs' axis along which a thread has several elements
    std::uint32_t elements = 1;  // how many: values constant along the axis are computed once for them
    std::uint32_t lanes = 1;     // neighbours that share the turns of a result's long loops

    const row* row_of(node_id operand) const {
        for (const row& r : rows)
            if (r.operand == operand) return &r;
        return nullptr;
    }
    /// The text to follow the layout's description; empty where nothing was chosen.
    std::string reason() const;
};

}  // namespace ingot::codegen
