// Fourier, sine and cosine transforms, and the windows before them.
#pragma once

#include <ingot/fft/sine_transforms.hpp>
#include <ingot/fft/transforms.hpp>
#include <ingot/fft/window_functions.hpp>
