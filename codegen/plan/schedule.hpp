// From a key to its plan: the one entry of code generation. Pure: the same key gives the same plan, text and all.
#pragma once

#include "codegen/graph/key.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

plan make_plan(const key& k);
/// "(ceil_divide(n0, 256), 1, 1)": a launch's grid as formulas over the extents of the key's axes.
std::string grid_text(const launch& step);
/// The plan for people to read: pattern, steps, temporaries, missing kernels.
std::string describe(const plan& p);
/// One step of a plan, in one line.
std::string describe(const plan_step& s);

}  // namespace ingot::codegen
