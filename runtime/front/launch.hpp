// Runs an executable: temporaries and scratch, order between streams, the argument structs, the launches.
#pragma once

#include <array>
#include <vector>

#include "runtime/device/stream.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

/// Orders what a statement reads and writes with the work of other streams.
void order(const statement& s, const stream_state& stream);

/// What a launch has again when its statement comes again: its grid and its arguments, of which those are written anew
/// that point somewhere or are values.
struct kept_launch {
    std::array<std::uint64_t, 3> grid;
    std::vector<std::byte> arguments;
    std::vector<codegen::argument> written;
};

/// Runs `e` for a statement that is in order and whose outputs have their memory. Allocates nothing but the plan's
/// temporaries. `kept`: where it leaves its launches for the next run with the same `e` and `c` on the same device.
void run(const executable& e, const classified& c, const statement& s, stream_state& stream,
         std::vector<kept_launch>* kept = nullptr);

/// Evaluates by the interpreter; operands and outputs are in host memory.
void run_interpreted(const executable& e, const classified& c, const statement& s);

/// The blocks of a launch, along each dimension of its grid.
std::array<std::uint64_t, 3> grid_of(const codegen::launch& step, std::span<const index_t> extents,
                                     std::uint32_t processors);

}  // namespace ingot::runtime
