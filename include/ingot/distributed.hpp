// Arrays over several devices: one rank a device, the same program in every rank. Beside ingot.hpp, which does not
// include it.
#pragma once

#include <ingot/distributed/arrays.hpp>
#include <ingot/distributed/session.hpp>
