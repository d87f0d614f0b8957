// The launch of a kernel of Ingot's own text whose one argument is a struct.
#pragma once

#ifdef INGOT_HAS_CUDA_HEADERS

#include "runtime/device/driver.hpp"
#include "runtime/device/stream.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

/// Launches a two-dimensional grid of blocks of that many threads. `what` is the operation, for errors. `shared_bytes`
/// is dynamic shared memory; above 32 KiB it must not exceed that of the kernel's first launch.
template <class Arguments>
void launch_kernel(const char* what, const loaded_kernel& kernel, Arguments a, unsigned blocks, unsigned rows,
                   unsigned threads, const stream_state& stream, unsigned shared_bytes = 0) {
    codegen::launch step;
    step.threads = threads;
    step.shared_bytes = shared_bytes;
    void* parameters[] = {&a};
    check(driver()->cuLaunchKernel(static_cast<CUfunction>(kernel.on_gpu(stream.device.index(), step)), blocks, rows, 1,
                                   threads, 1, 1, shared_bytes, reinterpret_cast<CUstream>(stream.native), parameters,
                                   nullptr),
          what);
}

}  // namespace ingot::runtime

#endif
