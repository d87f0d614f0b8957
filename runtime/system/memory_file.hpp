// Files in memory that have a path in /proc while they are open, for compilers and the loader, which need files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/system/file_descriptor.hpp"

namespace ingot::runtime {

class memory_file {
public:
    /// `name` appears in /proc/PID/maps. Throws compiler_unavailable where the system allows no such file: host code
    /// can then be neither compiled nor loaded.
    explicit memory_file(const std::string& name, std::span<const std::byte> content = {});

    int descriptor() const noexcept { return file_.get(); }
    std::vector<std::byte> content() const;

private:
    file_descriptor file_;
};

}  // namespace ingot::runtime
