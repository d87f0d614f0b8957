// Keys decoded into vectors, as codegen reads them, and printed in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ingot/core/key.hpp>

namespace ingot::codegen {

using detail::axis_class;
using detail::operand_head;
using detail::stride_class;

/// One operand or output with its stride class on every axis of the key.
struct operand_class {
    operand_head head;
    std::vector<stride_class> strides;
    std::string text{};         // of a text that differs from all earlier ones
    std::uint64_t binding = 0;  // the dtypes of its placeholders, a byte each
};

/// Two operands that view one buffer alike, and by how many steps the first lies beyond the other on each axis.
struct view_relation {
    std::uint16_t operand = 0, base = 0;
    std::vector<std::int8_t> steps;
    friend bool operator==(const view_relation&, const view_relation&) = default;
};

/// The number of times a statement is done, each time but the first on its own result. The operand `base` and its
/// relatives view the stepped array. The result is written `beyond` steps from the base's elements, to another array of
/// the same layout; the elements around these stay.
struct iteration {
    std::uint32_t steps = 1;
    std::uint16_t base = 0;
    std::vector<std::int8_t> beyond{};
    friend bool operator==(const iteration&, const iteration&) = default;
};

struct key {
    detail::key_header header;
    std::vector<detail::word> program;
    std::vector<axis_class> axes;
    std::vector<operand_class> operands;
    std::vector<operand_class> outputs;
    std::vector<view_relation> relations;
    /// Axes longer than 1024, as bits, along which an earlier stage folded the operands of this stage; 0 in a key of
    /// its own.
    std::uint64_t folded_before = 0;
    codegen::iteration iteration{};
};

/// The key that these words encode; throws ingot::error where they are no key of this version.
key decode(std::span<const std::uint32_t> words);
std::vector<std::uint32_t> encode(const key& k);
/// One line for people: target, ranks, each operand's dtype, strides, alignment and index width.
std::string describe(const key& k);

}  // namespace ingot::codegen
