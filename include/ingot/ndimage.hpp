// scipy.ndimage: filters, order statistics, morphology, interpolation and measurements of arrays of any number of axes.
// It is not part of ingot.hpp.
#pragma once

#include <ingot/ndimage/filters.hpp>
#include <ingot/ndimage/interpolation.hpp>
#include <ingot/ndimage/measurements.hpp>
#include <ingot/ndimage/morphology.hpp>
#include <ingot/ndimage/order_filters.hpp>
