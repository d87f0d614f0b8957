// The elements of a .npy file as this machine has them.
#pragma once

#include <span>

#include "runtime/files/byte_source.hpp"
#include "runtime/files/npy_header.hpp"

namespace ingot::runtime {

/// Fills `to`, of whole elements, with those that come next: their bytes in this machine's order, bools 0 or 1.
void read_elements(byte_stream&, const npy_contents&, std::span<std::byte> to);

}  // namespace ingot::runtime
