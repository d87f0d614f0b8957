// A graph as a drawing, in Graphviz's language.
#pragma once

#include <string>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

std::string to_dot(const graph& g, const key& k);

}  // namespace ingot::codegen
