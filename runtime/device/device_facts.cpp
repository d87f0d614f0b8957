// Device facts, asked of the driver once.
#include "runtime/device/device_facts.hpp"

#include <atomic>

#include "runtime/device/driver.hpp"
#include "runtime/device/host_workers.hpp"

namespace ingot::runtime {

namespace {

constexpr std::size_t max_devices = 256;

#ifdef INGOT_HAS_CUDA_HEADERS
std::uint32_t attribute(CUdevice_attribute which, device_id device) {
    const driver_api& cuda = need_driver("device attributes");
    CUdevice handle = 0;
    check(cuda.cuDeviceGet(&handle, device.index()), "device attributes");
    int value = 0;
    check(cuda.cuDeviceGetAttribute(&value, which, handle), "device attributes");
    return static_cast<std::uint32_t>(value);
}

/// Computes a value that is never 0 once. Racing threads compute it twice, with equal results.
template <class F>
std::uint32_t remembered(std::atomic<std::uint32_t> (&table)[max_devices], device_id device, F&& find) {
    std::atomic<std::uint32_t>& entry = table[static_cast<std::size_t>(device.index())];
    std::uint32_t value = entry.load(std::memory_order_relaxed);
    if (value == 0) {
        value = find();
        entry.store(value, std::memory_order_relaxed);
    }
    return value;
}
#endif

}  // namespace

std::uint32_t architecture_of([[maybe_unused]] device_id device) {
#ifdef INGOT_HAS_CUDA_HEADERS
    static constinit std::atomic<std::uint32_t> known[max_devices]{};
    if (device.is_cuda())
        return remembered(known, device, [&] {
            return 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) +
                   attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        });
#endif
    return 0;
}

std::uint32_t processors_of([[maybe_unused]] device_id device) {
#ifdef INGOT_HAS_CUDA_HEADERS
    static constinit std::atomic<std::uint32_t> known[max_devices]{};
    if (device.is_cuda())
        return remembered(known, device, [&] { return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device); });
#endif
    return static_cast<std::uint32_t>(worker_count());
}

}  // namespace ingot::runtime
