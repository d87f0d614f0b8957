// Evaluates a graph on the host without a compiler: block by block, each node into a buffer of its own, with the bodies
// of the operator table compiled into the library. It stands in where no compiler is found and is the tests' third
// evaluator, so it aims at being plainly right; sums are folded in a fixed tree, whatever the blocks.
#pragma once

#include <cstdint>
#include <span>

#include <ingot/core/operators.hpp>

#include "codegen/graph/graph.hpp"
#include "codegen/graph/key.hpp"
#include "runtime/kernels/bodies.hpp"

namespace ingot::runtime {

/// An operand's run-time half. Strides are in elements, one for each axis of the key; `offset` is the element (of an
/// array, a generator's counter or a pick) at the origin. `bits` holds a scalar's value in its dtype in its first
/// bytes, or a generator's seed and call number; `last`, the largest of its integers.
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

/// Computes every output; `extents` has one number for each axis of the key. An output may be written over an operand
/// only where both have the same mapping. Throws index_error where a gather reads outside its axis. `statement`: the
/// number by which library functions report errors, 0 where there is none (error_record.hpp).
void interpret(const codegen::key& key, const codegen::graph& graph, std::span<const bound_operand> operands,
               std::span<const bound_output> outputs, std::span<const std::int64_t> extents,
               std::uint64_t statement = 0);

/// For tests: while set, bodies come from here instead of the operator table. A sweep that does not notice checks
/// nothing. Null for the table's; not to be changed while something is interpreted.
void replace_bodies(bodies::map_lookup) noexcept;

}  // namespace ingot::runtime
