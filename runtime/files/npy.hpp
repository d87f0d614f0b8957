// Reads and writes arrays as .npy files, a piece at a time, so that for a file of any size only some megabytes are on
// the host beside the array.
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

/// Reads a whole .npy file into a new array in C order, on the current device. Throws file_error, and dtype_error where
/// the file has a dtype other than `to.type`.
void read_npy(byte_stream&, detail::destination to);

/// Passes the bytes of the .npy file of contiguous elements in C order to `write`. Errors begin with `subject`.
void write_npy(const std::string& subject, dtype, const buffer_ref& memory, const detail::layout& where,
               const std::function<void(std::span<const std::byte>)>& write);

}  // namespace ingot::runtime
