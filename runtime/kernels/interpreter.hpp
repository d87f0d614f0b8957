// Evaluates a graph on the host without a compiler: block by block, each node into its own buffer, by the operator
// table's bodies, which are compiled into the library. It is used where no compiler is found and is the tests' third
// evaluator, so it is simple rather than fast; sums are folded in a fixed tree, whatever the blocks.
#pragma once

#include <cstdint>
#include <span>

#include <ingot/core/operators.hpp>

#include "codegen/graph/graph.hpp"
#include "codegen/graph/key.hpp"
#include "runtime/kernels/bodies.hpp"

namespace ingot::runtime {

/// The run-time part of an operand. Strides are in elements, one for each axis of the key; `offset` is the element (of
/// an array, a generator's counter or a pick) at the origin. `bits` holds a scalar's value in its dtype in its first
/// bytes, or a generator's seed and call number; `last`, the largest of a generator's integers.
struct bound_operand {
    const void* data = nullptr;
    std::uint64_t bits[2] = {0, 0};
    std::int64_t offset = 0;
    const std::int64_t* strides = nullptr;
    std::uint64_t last = 0;
};

struct bound_output {
    void* data = nullptr;
    const std::int64_t* strides = nullptr;
};

/// Computes every output; `extents` has one number for each axis of the key. An output may overwrite an operand only
/// where both have the same mapping. Throws index_error where a gather reads outside its axis. `statement` is the
/// number by which library functions report errors, 0 for none (error_record.hpp).
void interpret(const codegen::key& key, const codegen::graph& graph, std::span<const bound_operand> operands,
               std::span<const bound_output> outputs, std::span<const std::int64_t> extents,
               std::uint64_t statement = 0);

/// Sets a lookup that replaces the operator table's bodies; null restores them. For tests: a sweep that does not notice
/// the change checks nothing. Must not be called during an interpretation.
void replace_bodies(bodies::map_lookup) noexcept;

}  // namespace ingot::runtime
