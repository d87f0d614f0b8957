// Windows that weigh the samples of a signal: NumPy's, computed on the host and copied.
#pragma once

#include <ingot/core/array.hpp>

namespace ingot {

/// n samples of the window 0.5 + 0.5 cos, 0 at both ends; float64. Fewer than one sample give an empty window.
///
///     std::cout << hanning(5);
///     // prints: [0.  0.5 1.  0.5 0. ]
INGOT_API array<double> hanning(index_t n);
/// n samples of the window 0.54 + 0.46 cos; float64.
///
///     std::cout << hamming(5);
///     // prints: [0.08 0.54 1.   0.54 0.08]
INGOT_API array<double> hamming(index_t n);
/// n samples of a triangle, 0 at both ends; float64.
///
///     std::cout << bartlett(5);
///     // prints: [0.  0.5 1.  0.5 0. ]
INGOT_API array<double> bartlett(index_t n);
/// n samples of the window 0.42 + 0.5 cos + 0.08 cos of twice the angle; float64.
///
///     std::cout << round(blackman(5), 6);
///     // prints: [-0.    0.34  1.    0.34 -0.  ]
INGOT_API array<double> blackman(index_t n);
/// n samples of Kaiser's window, I0(beta sqrt(1 - t^2)) / I0(beta) for t from -1 to 1; float64.
///
///     std::cout << kaiser(5, 0) << ' ' << round(kaiser(3, 5), 6);
///     // prints: [1. 1. 1. 1. 1.] [0.036711 1.       0.036711]
INGOT_API array<double> kaiser(index_t n, double beta);

}  // namespace ingot
