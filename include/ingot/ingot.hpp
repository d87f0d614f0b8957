// Everything of Ingot.
#pragma once

#include <ingot/array.hpp>
#include <ingot/composed_functions.hpp>
#include <ingot/counters.hpp>
#include <ingot/creation.hpp>
#include <ingot/device.hpp>
#include <ingot/error.hpp>
#include <ingot/files.hpp>
#include <ingot/functions.hpp>
#include <ingot/gather.hpp>
#include <ingot/gradient.hpp>
#include <ingot/host.hpp>
#include <ingot/lazy.hpp>
#include <ingot/measure.hpp>
#include <ingot/memory.hpp>
#include <ingot/print.hpp>
#include <ingot/random.hpp>
#include <ingot/reductions.hpp>
#include <ingot/reshape.hpp>
#include <ingot/scalar_functions.hpp>
#include <ingot/scans.hpp>
#include <ingot/user_kernels.hpp>
#include <ingot/views.hpp>
