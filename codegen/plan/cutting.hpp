// Cuts a graph into stages (plan/stages.hpp), given which rows no kernel holds.
#pragma once

#include <span>
#include <vector>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/equal_values.hpp"
#include "codegen/plan/stages.hpp"

namespace ingot::codegen {

/// The stages where no kernel holds the `refused` rows and each of the `shared` values is one temporary. Empty where
/// one kernel computes the whole graph.
staging cut(const key& k, const graph& g, const std::vector<refused_rows>& refused,
            std::span<const shared_value> shared);

}  // namespace ingot::codegen
