// Runs an executable: temporaries and scratch, order between streams, the argument structs, the launches.
#pragma once

#include <array>
#include <vector>

#include "runtime/device/stream.hpp"
#include "runtime/front/statement.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

/// Orders a statement's reads and writes behind the work of other streams.
void order(const statement& s, const stream_state& stream);

/// A launch kept for the next run of its statement: its grid and packed arguments. `written` lists the arguments that
/// are packed again: pointers and values.
struct cached_launch {
    std::array<std::uint64_t, 3> grid;
    std::vector<std::byte> arguments;
    std::vector<codegen::argument> written;
};

/// Runs `e` for a statement that is ordered and whose outputs have memory. It allocates only the plan's temporaries.
/// `cached` receives the launches for the next run with the same `e` and `c` on the same device.
void run(const executable& e, const classified& c, const statement& s, stream_state& stream,
         std::vector<cached_launch>* cached = nullptr);

/// Evaluates with the interpreter; operands and outputs are in host memory.
void run_interpreted(const executable& e, const classified& c, const statement& s);

/// The blocks of a launch, along each dimension of its grid.
std::array<std::uint64_t, 3> grid_of(const codegen::launch& step, std::span<const index_t> extents,
                                     std::uint32_t processors);

}  // namespace ingot::runtime
