// A file's bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ingot::runtime {

/// Throws file_error where a name has a zero byte: the system would open the file whose name ends there.
void check_path(const std::string& operation, const std::string& path);

/// The file's bytes; empty, with errno set, where it cannot be read.
std::optional<std::vector<std::byte>> read_whole_file(const std::string& path);

}  // namespace ingot::runtime
