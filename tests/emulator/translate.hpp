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

/// Respells constructs that C++ does not have: inline PTX becomes a call of device.hpp's function for the instruction,
/// and shared memory gets the size that the launch gives. Lines keep their numbers. Throws std::runtime_error where PTX
/// cannot be parsed.
translation translate(const std::string& source);

}  // namespace emulator
