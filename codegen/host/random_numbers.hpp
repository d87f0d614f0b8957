// Random leaves' numbers on the host, a strip at a time. A call of Philox makes several numbers. Where a strip's
// numbers are consecutive in the leaf it is called once for a group, in the lanes of vectors; else, as in a transposed
// view, for each element. A number's bits do not depend on its place: all its operations are exact or rounded once by
// IEEE's rules, vectorised or not.
#pragma once

#include <string>

#include "codegen/host/loops.hpp"

namespace ingot::codegen {

/// Whether a leaf's numbers cost a call of Philox; positions do not.
bool calls_philox(const graph& g, node_id generator);

/// The array for a strip's numbers; `room`: elements of a strip.
void declare_numbers(kernel_builder& b, node_id generator, const std::string& name, std::uint32_t room);
/// Declares `name`_strip, whose element j is lane j's number, for m lanes: consecutive from `first` on where the
/// condition `consecutive` holds (empty: always; "false": never), else number `first` + `along` of lane j.
void write_numbers(kernel_builder& b, node_id generator, const std::string& name, const std::string& first,
                   const std::string& along, const std::string& consecutive);

}  // namespace ingot::codegen
