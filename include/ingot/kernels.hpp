// Kernels from text, graphs, compiling ahead, bundles, logging, explain and benchmark.
#pragma once

#include <ingot/kernels/compiling.hpp>
#include <ingot/kernels/graphs.hpp>
#include <ingot/kernels/kernel_text.hpp>
#include <ingot/kernels/logging.hpp>
#include <ingot/kernels/measure.hpp>
#include <ingot/kernels/raw_kernels.hpp>
#include <ingot/kernels/user_kernels.hpp>
