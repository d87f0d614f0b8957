// CUDA C++ to a cubin for the exact architecture, by NVRTC; works without a driver or a GPU.
#pragma once

#include "runtime/kernels/compile.hpp"

namespace ingot::runtime {

std::vector<std::string> cuda_options(const source_text& source);

/// Throws library_error where there is no NVRTC, or NVRTC fails for a reason other than the source.
compilation compile_cuda(const source_text& source);

}  // namespace ingot::runtime
