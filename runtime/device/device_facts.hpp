// Properties of a device that codegen and formulas need: its architecture and number of processors. They are read once
// for each device.
#pragma once

#include <cstdint>

#include <ingot/core/device.hpp>

namespace ingot::runtime {

/// 90 for sm_90; 0 for a host.
std::uint32_t architecture_of(device_id);
/// Multiprocessors of a GPU, worker threads of a host.
std::uint32_t processors_of(device_id);

}  // namespace ingot::runtime
