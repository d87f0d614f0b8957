// scipy.spatial.distance: distances between points, all pairs of two sets or of one. It is not part of ingot.hpp.
#pragma once

#include <ingot/spatial/distances.hpp>
