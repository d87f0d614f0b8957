// Histograms, quantiles, correlation.
#pragma once

#include <ingot/statistics/bin_rules.hpp>
#include <ingot/statistics/correlation.hpp>
#include <ingot/statistics/histograms.hpp>
#include <ingot/statistics/quantiles.hpp>
