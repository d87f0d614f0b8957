// Access of one device's kernels and copies to another device's memory, enabled once for each pair that needs it.
#pragma once

#include <ingot/core/device.hpp>

namespace ingot::runtime {

/// Returns false where access is impossible. Once enabled it stays enabled.
bool enable_peer_access(device_id from, device_id memory_of);
/// Enables access where it only makes copies faster; failures are ignored.
void prefer_peer_access(device_id from, device_id memory_of) noexcept;

}  // namespace ingot::runtime
