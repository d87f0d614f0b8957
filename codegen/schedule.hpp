// From a key to what to run: the one entry of code generation. Pure: the same key gives the same plan, text and all.
#pragma once

#include "codegen/key.hpp"
#include "codegen/plan.hpp"

namespace ingot::codegen {

plan make_plan(const key& k);
/// The plan as people read it: pattern, steps, temporaries, what is missing.
std::string describe(const plan& p);

}  // namespace ingot::codegen
