// One way to cut a graph into stages (plan/stages.hpp): where, once it is known which rows no kernel holds.
#pragma once

#include <vector>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/stages.hpp"

namespace ingot::codegen {

/// The stages where no kernel holds the `refused` rows; none where one kernel computes all as it stands.
staging cut(const key& k, const graph& g, const std::vector<refused_rows>& refused);

}  // namespace ingot::codegen
