// A file's bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ingot::runtime {

/// Throws file_error where a name has a zero byte: the system would open the file of the name before it.
void check_path(const std::string& operation, const std::string& path);

/// Nothing where it cannot be read: errno says why.
std::optional<std::vector<std::byte>> read_whole_file(const std::string& path);

}  // namespace ingot::runtime
