// One way to cut a graph into stages (plan/stages.hpp): where, once it is known which rows no kernel holds.
#pragma once

#include <span>
#include <vector>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/equal_values.hpp"
#include "codegen/plan/stages.hpp"

namespace ingot::codegen {

/// The stages where no kernel holds the `refused` rows, and each of the `shared` values is one temporary; none where
/// one kernel computes all as it stands.
staging cut(const key& k, const graph& g, const std::vector<refused_rows>& refused,
            std::span<const shared_value> shared);

}  // namespace ingot::codegen
