// Access of one device's kernels and copies to memory of another, enabled once for each pair that wants it.
#pragma once

#include <ingot/core/device.hpp>

namespace ingot::runtime {

/// False where there is none. Once enabled it stays.
bool enable_peer_access(device_id from, device_id memory_of);
/// The same where it only makes copies faster.
void prefer_peer_access(device_id from, device_id memory_of) noexcept;

}  // namespace ingot::runtime
