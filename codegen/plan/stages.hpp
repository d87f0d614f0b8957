// Cuts a graph into kernels where the value of a reduction or a scan is used along axes on which it does not move
// (softmax, x / norm(x), sum(x * sum(y, 0), 1)), at other places, or by another fold. The value becomes a temporary:
// one stage writes it, later ones read it as an operand. Outputs that move along different axes have stages of their
// own, except that a stage which folds over just the axes of an output without a reduction writes that output too:
// eval(x + 1, sum(x)) reads x once. Each stage has a key and a graph of its own, so emitters know nothing of this;
// their launches are translated to the whole key afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/plan/kernel_choice.hpp"

namespace ingot::codegen {

struct stage {
    codegen::key key;  // operands: those of the whole key, then temporaries, their views and their readings
    codegen::graph graph;
    std::vector<int> axes;                       // the axis of the whole key for each axis of this one
    std::vector<std::vector<int>> operand_axes;  // likewise for each operand's strides, -1 where it does not move
    std::vector<std::vector<int>> output_axes;   // likewise for each output's strides
    std::vector<std::uint16_t> temporaries;      // its first outputs
    std::vector<std::uint16_t> outputs;          // of the whole key: the outputs that follow
    std::optional<kernel_choice> kernel{};
    std::optional<library_call> call;  // instead of a kernel, in terms of the whole key
};

/// A temporary read at the place of a pick: its own axes are a library result's, and the pick has their strides.
struct temporary_view {
    std::uint16_t temporary, pick;
    std::uint64_t batch;  // axes of the whole key along which the temporary itself moves
};

/// A temporary read along other loops than those along which its stage writes it.
struct temporary_reading {
    std::uint16_t temporary;
    std::vector<int> axes;  // of the whole key, in the order of the temporary's axes
};

struct staging {
    std::vector<stage> stages;              // in the order in which they run
    std::optional<kernel_choice> kernel{};  // of the whole graph, where there are no stages
    std::vector<temporary> temporaries;
    std::vector<std::vector<int>> temporary_axes;  // of the whole key, outermost first
    std::vector<temporary_view> views;
    std::vector<temporary_reading> readings;
    std::vector<std::string> reasons;  // the reason of each temporary
};

staging cut_into_stages(const key& k, const graph& g);

/// Translates a launch that was emitted for a stage to the whole key.
void rebind(launch& step, const stage& from, const staging& whole, std::size_t operands);

}  // namespace ingot::codegen
