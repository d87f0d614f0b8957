// Random leaves' numbers on the host, a strip at a time: a call of Philox makes several, so where a strip's numbers
// follow each other in the leaf it is called once for a group, in the lanes of vectors, not for each element; else, as
// in a transposed view, for each. A number's bits do not depend on where it is wanted: all its operations are exact or
// rounded once by IEEE's rules, as vectors or alone.
#pragma once

#include <string>

#include "codegen/host/loops.hpp"

namespace ingot::codegen {

/// Whether a leaf's numbers cost a call of Philox; positions do not.
bool calls_philox(const graph& g, node_id generator);

/// The array that a strip's numbers are computed in; `room`: elements of a strip.
void declare_numbers(kernel_builder& b, node_id generator, const std::string& name, std::uint32_t room);
/// Declares `name`_strip, whose element j is lane j's number of m: from number `first` on where the condition
/// `consecutive` holds (empty: always; "false": never), else number `first` + `along`, of lane j.
void write_numbers(kernel_builder& b, node_id generator, const std::string& name, const std::string& first,
                   const std::string& along, const std::string& consecutive);

}  // namespace ingot::codegen
