// Everything of Ingot but distributed.hpp, interpolate.hpp, ndimage.hpp, nn.hpp, signal.hpp, solvers.hpp, sparse.hpp
// and spatial.hpp.
#pragma once

#include <ingot/core.hpp>
#include <ingot/distributions.hpp>
#include <ingot/fft.hpp>
#include <ingot/files.hpp>
#include <ingot/interop.hpp>
#include <ingot/kernels.hpp>
#include <ingot/linalg.hpp>
#include <ingot/sorting.hpp>
#include <ingot/statistics.hpp>
