// Several steps of a stencil in one kernel, where the key has an iteration: the array is read once and written once.
#pragma once

#include "codegen/cuda/kernel.hpp"

namespace ingot::codegen {

void emit_stencil_steps_cuda(cuda_kernel& b, plan& p);

}  // namespace ingot::codegen
