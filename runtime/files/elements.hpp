// Converts elements of a .npy file to this machine's form.
#pragma once

#include <span>

#include "runtime/files/byte_source.hpp"
#include "runtime/files/npy_header.hpp"

namespace ingot::runtime {

/// Fills `to` with the next whole elements: in this machine's byte order, bools as 0 or 1.
void read_elements(byte_stream&, const npy_contents&, std::span<std::byte> to);

}  // namespace ingot::runtime
