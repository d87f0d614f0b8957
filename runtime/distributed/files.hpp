// Distributed arrays in files.
#pragma once

#include <string>

#include <ingot/core/buffer.hpp>

namespace ingot::runtime {

/// Writes an array to a .npy file, each rank its part. A collective call. Throws file_error, on every rank.
void save_parts(const std::string& path, const buffer& of);

}  // namespace ingot::runtime
