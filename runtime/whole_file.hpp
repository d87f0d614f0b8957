// A file's bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ingot::runtime {

/// Nothing where it cannot be read: errno says why.
std::optional<std::vector<std::byte>> read_whole_file(const std::string& path);

}  // namespace ingot::runtime
