// scipy.signal: filters, convolutions, spectra and resampling along any axis. It is not part of ingot.hpp.
#pragma once

#include <ingot/signal/convolutions.hpp>
#include <ingot/signal/designs.hpp>
#include <ingot/signal/recurrences.hpp>
#include <ingot/signal/resampling.hpp>
#include <ingot/signal/smoothing.hpp>
#include <ingot/signal/spectra.hpp>
