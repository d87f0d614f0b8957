// scipy.interpolate: functions through points, of one variable and of several. It is not part of ingot.hpp.
#pragma once

#include <ingot/interpolate/piecewise.hpp>
#include <ingot/interpolate/regular_grids.hpp>
#include <ingot/interpolate/splines.hpp>
