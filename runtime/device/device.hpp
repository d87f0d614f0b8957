// The table of devices. Each has a backend, a pool and a default stream, made on first use and kept for the life of the
// process, so that arrays may outlive main.
#pragma once

#include <memory>

#include "runtime/device/backend.hpp"
#include "runtime/device/pool.hpp"
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

struct device_state {
    device_id id;
    std::unique_ptr<runtime::backend> backend;
    std::unique_ptr<runtime::pool> pool;
    stream_state* default_stream = nullptr;
};

/// The device with which a thread begins: INGOT_DEVICE, else the first GPU, else the host.
device_id default_device();

/// Throws device_error when there is no such device.
device_state& state_of(device_id);

/// The pool of page-locked host memory from the first GPU's driver; plain memory where there is none.
pool& pinned_pool();

/// Adds a device or replaces one; memory and streams of the replaced one stay valid. For tests.
device_state& install_device(device_id, std::unique_ptr<backend>, const pool_options& = {});

}  // namespace ingot::runtime
