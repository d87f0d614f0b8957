// Files that live in memory and have a path in /proc while they are open: what compilers and the loader want as files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/system/file_descriptor.hpp"

namespace ingot::runtime {

class memory_file {
public:
    /// `name` shows up in /proc/PID/maps. Throws compiler_unavailable where the system gives no such file: host code
    /// can then neither be compiled nor loaded.
    explicit memory_file(const std::string& name, std::span<const std::byte> content = {});

    int descriptor() const noexcept { return file_.get(); }
    std::vector<std::byte> content() const;

private:
    file_descriptor file_;
};

}  // namespace ingot::runtime
