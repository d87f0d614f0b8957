// CUDA C++ to the C++ that device.hpp makes of it.
#pragma once

#include <string>
#include <vector>

namespace emulator {

struct kernel_name {
    std::string name, namespaces;  // reduce, step1::
};

struct translation {
    std::string text;
    std::vector<kernel_name> kernels;
};

/// What C++ cannot take is spelled anew: inline PTX as a call of the function that device.hpp has for the instruction,
/// and shared memory of a size that the launch gives. Lines stay where they are. Throws std::runtime_error where PTX
/// cannot be read.
translation translate(const std::string& source);

}  // namespace emulator
