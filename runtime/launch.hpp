// Runs an executable: temporaries and scratch, order between streams, the argument structs, the launches.
#pragma once

#include <array>

#include "runtime/classify.hpp"
#include "runtime/executable.hpp"
#include "runtime/stream.hpp"

namespace ingot::runtime {

/// Orders what a statement reads and writes with the work of other streams.
void order(const statement& s, const stream_state& stream);

/// Runs `e` for a statement that is in order and whose outputs have their memory. Allocates nothing but the plan's
/// temporaries.
void run(const executable& e, const classified& c, const statement& s, stream_state& stream);

/// Evaluates by the interpreter; operands and outputs are in host memory.
void run_interpreted(const executable& e, const classified& c, const statement& s);

/// The value of a formula for these extents.
std::uint64_t value_of(const codegen::formula& f, std::span<const index_t> extents, std::uint32_t processors);

/// The blocks of a launch, along each dimension of its grid.
std::array<std::uint64_t, 3> grid_of(const codegen::launch& step, std::span<const index_t> extents,
                                     std::uint32_t processors);

}  // namespace ingot::runtime
