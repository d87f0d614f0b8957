// The one interface between the templates and the library: plain structs and functions that are no templates. A
// statement's tree arrives as a constexpr program, its operands in program order, and the attribute words of its
// binders; the library does the rest.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include <ingot/core/buffer.hpp>
#include <ingot/core/export.hpp>
#include <ingot/core/key.hpp>
#include <ingot/core/layout.hpp>
#include <ingot/core/program.hpp>
#include <ingot/core/shape.hpp>

namespace ingot {
namespace detail {
struct leaf_block;
struct leaf_record;
inline namespace v1 {

/// A leaf of a tree, as the evaluator sees it. Its pointers point into the tree.
struct operand {
    operand_kind kind = operand_kind::array;
    dtype type = dtype::b1;
    exponent_class exponent = exponent_class::none;
    device_id device;                // generator: the device of its creation
    const layout* where = nullptr;   // array, generator, pick
    const buffer* memory = nullptr;  // array
    std::uint64_t bits[2] = {0, 0};  // a scalar's value; a generator's seed and call number; a text and its binding
    std::uint64_t serial = 0;        // a scalar's identity, copied with the tree; the last of a generator's integers
    const void* tree = nullptr;      // lazy
};

/// The destination of a result. If `memory` is empty, the evaluator allocates it, contiguous, and sets `where`. Else
/// the result is broadcast into that view of that buffer; or the tree ends in a scatter, whose indices count from the
/// view's first element, and nothing that the tree reads lies there.
struct output {
    dtype type = dtype::b1;
    buffer_ref* memory = nullptr;
    layout* where = nullptr;
    bool scattered = false;
};

/// The first cache level: one slot for each type of statement, constant-initialised and never destroyed.
struct slot {
    static constexpr int ways = 4;
    struct entry;
    std::atomic<const entry*> entries[ways] = {};
    std::atomic<std::uint32_t> next = 0;
    std::atomic<std::uint8_t> kinds = 0;  // kinds of the program's nodes; 0 until the first evaluation
};

/// Evaluates a tree that is a list of leaves into one output, as `evaluate` does.
INGOT_API void evaluate_leaves(slot& cache, std::span<const word> program, leaf_block& leaves, const output& out);

/// Evaluates one tree for each output, all of one shape, on the current stream. Throws the statement's errors.
INGOT_API void evaluate(slot& cache, std::span<const word> program, std::span<const operand> operands,
                        std::span<const word> attributes, std::span<const output> outputs);

/// A statement of several trees, with the shape and device of each. Shapes are left out where all shapes and devices
/// are equal.
struct joint_outputs {
    std::span<const word> program;
    std::span<const operand> operands;
    std::span<const word> attributes;
    std::span<const output> outputs;
    std::span<const extents_ref> shapes;
    std::span<const device_id> devices;
};

/// Evaluates trees that differ in shape or device into new outputs, in as few kernels as possible.
INGOT_API void evaluate_joint_outputs(slot& cache, const joint_outputs&);

}  // namespace v1
}  // namespace detail

namespace runtime {
using detail::joint_outputs;
using detail::operand;
using detail::output;
using detail::slot;
}  // namespace runtime
}  // namespace ingot
