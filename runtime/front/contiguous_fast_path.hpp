// Classification of the most common statement: elementwise over contiguous arrays of one shape, into new or existing
// arrays. A warm evaluation has 80 ns for its key.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ingot/core/leaves.hpp>

#include "runtime/front/statement.hpp"

namespace ingot::runtime {

class contiguous_classifier {
public:
    /// Writes the class of a statement without binders whose leaves are scalars or arrays, where every array and every
    /// existing output is contiguous and has the result's shape. The words are those that the general path writes.
    /// Returns false for any other statement.
    bool classify(const statement&, environment_class);
    /// Whether a statement has these words, which `classify` wrote for another statement of the program, and can run in
    /// place. On success all results but `words` and `strides` are set.
    bool confirm(const statement&, environment_class, std::span<const std::uint32_t> words);
    bool confirm(const tree_statement&, environment_class, std::span<const std::uint32_t> words);
    /// The result of the latest call that returned true, valid until the next one.
    const classified& result() const noexcept { return c_; }
    /// The result of confirming a tree: an operand for each leaf, and the numbers of the arrays. Only the first of
    /// equal operands is written, and only that one is among the arrays.
    std::span<const operand> operands() const noexcept { return operands_; }
    std::span<const std::uint16_t> arrays() const noexcept { return arrays_; }

private:
    classified c_;
    std::vector<std::uint16_t> displaced_;  // of met_operands
    std::vector<std::uint16_t> arrays_;
    std::vector<operand> operands_;
    std::vector<const detail::leaf_record*> firsts_;  // the leaves of these operands
};

}  // namespace ingot::runtime
