// Random trees: programs over leaves of random dtypes, shapes, strides, offsets and alignments, and their value by the
// plainest possible reading of the words. A tree is a function of its seed and its size, so that a failing one is
// replayed by its seed and shrunk by its size.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <ingot/door.hpp>
#include <ingot/expression.hpp>

namespace ingot::tests {

/// A leaf: where its elements are and what the whole buffer holds.
struct random_leaf {
    dtype type = dtype::f4;
    detail::operand_kind kind = detail::operand_kind::array;
    detail::layout where;
    std::vector<std::byte> bytes;  // of the buffer
    std::uint64_t bits = 0;        // of a scalar
};

struct random_tree {
    std::uint64_t seed = 0;
    std::vector<detail::word> program;
    std::vector<random_leaf> leaves;
    std::vector<index_t> shape;
    dtype type = dtype::f4;
};

/// What a generator may use.
struct tree_options {
    int nodes = 12;       // maps, at most
    bool exact = true;    // only rows whose results are exact or correctly rounded
};

/// `shape`: of the result, so that several trees can be outputs of one kernel.
random_tree grow(std::uint64_t seed, const std::vector<index_t>& shape, const tree_options& options);
/// A shape of rank 0 to 4 with sizes that find edges: 0, 1, around 4, 16, 32 and 256.
std::vector<index_t> random_shape(std::mt19937_64& random);

/// The result, C-contiguous, each node computed over all elements before the next, from elements that plain loops over
/// indices copied out of the leaves.
std::vector<std::byte> plain_value(const random_tree& tree);

/// "seed 17: where(less(x0, s1), ...), x0 float32 (3, 4) strides (1, 3) offset 2 ...".
std::string describe(const random_tree& tree);

/// Equal bit for bit, any NaN equal to any other. Empty, or what differs first.
std::string difference(dtype type, const std::vector<std::byte>& got, const std::vector<std::byte>& wanted);

}  // namespace ingot::tests
