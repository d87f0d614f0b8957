// Signals at other rates by one kernel on a GPU, where a thread holds the elements that its results need in registers.
#pragma once

#include <vector>

#include <ingot/core/layout.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// Taps of a filter between a step up and a step down, whose tap `middle` meets element 0 for result 0. Result i is
/// the sum over k of tap(i * down + middle - k * up) times element k.
struct rate_filter {
    std::vector<double> taps;
    detail::index_t up, down, middle;
    detail::index_t size() const { return static_cast<detail::index_t>(taps.size()); }
    double tap(detail::index_t i) const { return i >= 0 && i < size() ? taps[static_cast<std::size_t>(i)] : 0; }
};

/// Contiguous rows of `extent` elements, and of `count` results; elements beyond the ends are `beyond`.
struct phase_sums {
    dtype type;
    const void* elements;
    void* results;
    detail::index_t rows, extent, count;
    double beyond;
};

/// Whether registers have room for the elements and results of a thread, a launch for the taps, and rows of `count`
/// results are long enough for blocks.
bool can_sum_phases(const rate_filter&, dtype, detail::index_t rows, detail::index_t count);
/// The sums, where they can be.
void sum_phases_on_gpu(const rate_filter&, const phase_sums&, stream_state&);

}  // namespace ingot::runtime
