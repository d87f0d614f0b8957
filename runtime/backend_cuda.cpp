// A GPU as a device, through the driver.
#include <ingot/device.hpp>
#include "runtime/backend.hpp"

namespace ingot {

int device::cuda_count() noexcept { return 0; }
std::unique_ptr<runtime::backend> runtime::make_cuda_backend(int) { return nullptr; }

}  // namespace ingot
