// Random trees: programs over leaves of random dtypes, shapes, strides, offsets and alignments, with sums of integers,
// written to new memory or into views that may overlap what they read; and their value by the plainest possible reading
// of the words. A tree is a function of its seed and its size, so that a failing one is replayed by its seed and shrunk
// by its size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leaf.hpp"

namespace ingot::tests {

/// A tree's target: a view of existing memory.
struct random_target {
    detail::layout where;
    std::vector<std::byte> bytes;  // of the buffer, before the write
    int leaf = -1;                 // whose buffer it is, or -1: its own
};

struct random_tree {
    std::uint64_t seed = 0;
    std::vector<detail::word> program;
    std::vector<detail::word> attributes;
    std::vector<random_leaf> leaves;
    extents shape;
    dtype type = dtype::f4;
    std::optional<random_target> target;
};

/// The limits of a generator.
struct tree_options {
    int nodes = 6;            // maps, at most
    int sums = 20;            // percent of inner nodes that are sums
    int targets = 40;         // percent of trees that are written into memory that is there
    int scalars = 15;         // percent of leaves
    bool contiguous = false;  // all arrays are, and of the tree's shape
};

/// `shape`: of the result, so that several trees can be outputs of one kernel.
random_tree grow(std::uint64_t seed, const extents& shape, const tree_options& options);
/// Returns the program over other operands: other values and, where the words leave them open, dtypes of scalars; other
/// layouts and alignments of arrays; sometimes another shape.
random_tree varied(random_engine& random, const random_tree& tree);
/// A shape of rank 0 to 4 with sizes that find edges: 0, 1, around 4, 16, 32 and 256.
extents random_shape(random_engine& random);

/// The tree's memory after evaluation: the target's buffer, or else the result, C-contiguous. Each node is computed
/// over all elements before the next, from elements that plain loops over indices copy out of the leaves.
std::vector<std::byte> plain_value(const random_tree& tree);

/// "seed 17, shape (3, 4): float32(3, 4)/(1, 3)+2 int8#5 add:float32 ...".
std::string describe(const random_tree& tree);

/// Compares bit for bit; any NaN equals any other. Returns the first difference, or an empty text.
std::string difference(dtype type, const std::vector<std::byte>& got, const std::vector<std::byte>& wanted);

}  // namespace ingot::tests
