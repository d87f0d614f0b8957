// Everything of Ingot.
#pragma once

#include <ingot/array.hpp>
#include <ingot/counters.hpp>
#include <ingot/creation.hpp>
#include <ingot/device.hpp>
#include <ingot/error.hpp>
#include <ingot/functions.hpp>
#include <ingot/host.hpp>
#include <ingot/memory.hpp>
#include <ingot/print.hpp>
#include <ingot/views.hpp>
