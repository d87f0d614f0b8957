// Random numbers of many distributions, samples, and cuRAND.
#pragma once

#include <ingot/distributions/composed_distributions.hpp>
#include <ingot/distributions/curand_generator.hpp>
#include <ingot/distributions/draws.hpp>
#include <ingot/distributions/samples.hpp>
