// Cuts a graph into kernels where the value of a reduction or a scan is wanted along axes on which it does not move
// (softmax, x / norm(x), sum(x * sum(y, 0), 1)), at other places, or by another fold. The value goes through a
// temporary: one stage writes it, later ones read it as an operand like any other. Outputs that move along different
// axes are written by stages of their own, but that one which needs no reduction's value is written by a stage that
// folds over just its axes, where there is one: eval(x + 1, sum(x)) reads x once. Each stage has a key and a graph of
// its own, so the emitters know nothing of this; what they put into a launch is told in terms of the whole key
// afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

struct stage {
    codegen::key key;  // its operands: those of the whole key, then the temporaries, their views and their readings
    codegen::graph graph;
    std::vector<int> axes;                       // of the whole key, for each axis of this one
    std::vector<std::vector<int>> operand_axes;  // the same for each operand's strides, -1 where it does not move
    std::vector<std::vector<int>> output_axes;   // and for each output's
    std::vector<std::uint16_t> temporaries;      // its first outputs
    std::vector<std::uint16_t> outputs;          // of the whole key: those that follow
    std::optional<library_call> call;            // in the place of a kernel, told in terms of the whole key
};

/// A temporary read at the place of a pick: its own axes are those of a library's result, of which the pick tells.
struct temporary_view {
    std::uint16_t temporary, pick;
    std::uint64_t batch;  // the axes of the whole key along which the temporary moves itself
};

/// A temporary read along other loops than those that its stage writes it along.
struct temporary_reading {
    std::uint16_t temporary;
    std::vector<int> axes;  // of the whole key, in the order of the temporary's
};

struct staging {
    std::vector<stage> stages;  // in the order in which they run
    std::vector<temporary> temporaries;
    std::vector<std::vector<int>> temporary_axes;  // of the whole key, outermost first
    std::vector<temporary_view> views;
    std::vector<temporary_reading> readings;
    std::vector<std::string> reasons;  // why each temporary is one
};

/// Whether there is a kernel that holds the rows of a stage.
using row_test = std::function<bool(const key&, const graph&, const row_program&)>;

/// Nothing where one kernel computes all as it stands.
staging cut_into_stages(const key& k, const graph& g, const row_test& holds);

/// Makes a launch that was emitted for a stage one of the whole key.
void rebind(launch& step, const stage& from, const staging& whole, std::size_t operands);

}  // namespace ingot::codegen
