// The launch of a kernel of Ingot's own text whose one argument is a struct.
#pragma once

#ifdef INGOT_HAS_CUDA_HEADERS

#include "runtime/device/driver.hpp"
#include "runtime/device/stream.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

/// `what`: the operation, for errors. Blocks in two dimensions, each of so many threads in a row; of shared memory what
/// the kernel does not declare itself, at most as much as at its first launch where it is more than 32 KiB.
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
