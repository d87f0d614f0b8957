// Loops that all host emitters share: the digits of a linear index, and whole vectors.
//
// Functions of the mathematical library round differently when vectorised. A loop that calls one therefore runs over
// whole vectors, with a constant number of trips, so that no element is computed in a loop's scalar end and bits never
// depend on an element's place. The lanes are a few vectors; those beyond the last element are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

/// Declares the digits along these axes of a variable `linear`, which is consumed.
void write_digits(kernel_builder& b, const std::string& linear, const std::vector<int>& axes,
                  const std::string& constant = "const ");
/// Written at the end of a loop's body, which has moved the last axis's digit: carries its excess to the other axes.
void carry_digits(kernel_builder& b, const std::vector<int>& axes);

/// Lanes of the graph's narrowest dtype in 64 bytes: a multiple of the elements of every vector of a loop over it.
std::uint32_t lanes_of_whole_vectors(const graph& g);
/// Adds the macro `rolled` to the prelude: the loop behind it is not unrolled.
void add_rolled(prelude& needs);
/// A loop over lanes j from 0 to m, and on to the end of the last whole vector.
void open_whole_vectors(kernel_builder& b, const std::string& m = "m", bool independent = true);
void close_whole_vectors(kernel_builder& b);

}  // namespace ingot::codegen
