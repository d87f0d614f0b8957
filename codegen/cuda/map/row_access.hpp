// The functions by which a stencil's threads read and write rows, a vector at a time.
#pragma once

#include <string>

#include "codegen/cuda/kernel.hpp"

namespace ingot::codegen {

/// "__ldg(address)": through the read-only cache, where nothing writes to the buffer.
std::string element_at(const array_argument& in, const std::string& address);
/// The names of the functions that read a row by vectors, and element by element where columns are present.
struct row_loaders {
    std::string by_vectors, by_elements;
};
/// Adds the functions that read rows of such an array; `wide`: with several elements beside the thread's own.
row_loaders add_row_loaders(cuda_kernel& b, const array_argument& in, bool aligned, bool wide);
/// Adds the function by which a warp stores its lanes' elements of a row; returns its name.
std::string add_row_storer(cuda_kernel& b, const array_argument& z);

}  // namespace ingot::codegen
