// The elements of arrays between .npy files and devices: a piece at a time, so that of a file of any size no more than
// some megabytes are on the host beside the array.
#pragma once

#include <cstddef>
#include <functional>
#include <ingot/core/assignment.hpp>
#include <ingot/core/buffer.hpp>
#include <ingot/core/layout.hpp>
#include <span>
#include <string>

#include "runtime/files/byte_source.hpp"
#include "runtime/files/npy_header.hpp"

namespace ingot::runtime {

/// Reads a .npy file whole into a new array in C order, on the current device. Throws file_error, and dtype_error where
/// the dtype is not `to.type`.
void read_npy(byte_stream&, detail::destination to);

/// Hands on the bytes of the .npy file of elements that stand side by side in C order. `subject` is what errors begin
/// with.
void write_npy(const std::string& subject, dtype, const buffer_ref& memory, const detail::layout& where,
               const std::function<void(std::span<const std::byte>)>& write);

}  // namespace ingot::runtime
