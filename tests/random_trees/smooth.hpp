// Random trees of functions that are not exact (exp, log, sin, ...), with a bound on how far a result may be off: each
// operation adds its own error to those of its operands, magnified as its derivative has it. Nothing inexact feeds a
// comparison, a rounding or a cast.
#pragma once

#include <string>
#include <vector>

#include "codegen/operator_bodies.hpp"
#include "tree.hpp"

namespace ingot::tests {

/// The value of an element, and the bound of its error; infinite where an operand may be outside a function's domain,
/// or a result beyond the largest number.
struct bounded {
    long double value = 0;
    long double error = 0;
};

/// A tree over floats or doubles of some nodes.
random_tree grow_smooth(std::uint64_t seed, const extents& shape, int nodes);
std::vector<bounded> bounded_value(const random_tree& tree);

/// Counts the elements with a finite bound. Returns the first element beyond its bound, or an empty text.
std::string beyond_bound(const random_tree& tree, const std::vector<std::byte>& got, const std::vector<bounded>& wanted,
                         std::size_t& judged);

}  // namespace ingot::tests
