// Filters of many taps.
#pragma once

#include <vector>

#include "runtime/signal/signals.hpp"

namespace ingot::detail {

/// The convolution of a signal with taps, the first of which meets each element, evaluated now: windows of the signal
/// are rows of a product of matrices.
tree_ref convolved_by_products(const image&, const runtime::signal_axis&, const std::vector<double>& taps);

}  // namespace ingot::detail
