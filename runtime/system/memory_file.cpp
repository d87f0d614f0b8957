#include "runtime/system/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "runtime/kernels/compile.hpp"

namespace ingot::runtime {

namespace {

/// Where memory files are forbidden, a nameless file on disk does as well.
int open_nameless(const std::string& name) {
#ifndef MFD_EXEC
    constexpr unsigned MFD_EXEC = 0x10;  // Linux 6.3: requests what older kernels always gave
#endif
    int file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_EXEC);
    if (file < 0) file = memfd_create(name.c_str(), MFD_CLOEXEC);
    std::error_code failure;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failure);
    if (file < 0 && !failure) file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
    return file;
}

}  // namespace

memory_file::memory_file(const std::string& name, std::span<const std::byte> content) {
    const file_descriptor file(open_nameless(name));
    // Above a child's standard descriptors, even where this process has closed its own.
    if (file) file_ = file_descriptor(fcntl(file.get(), F_DUPFD_CLOEXEC, 10));
    if (file_ && !within_file_size_limit(content.size())) {
        errno = EFBIG;
        file_ = {};
    }
    if (!file_ || !write_all(file_.get(), content) || lseek(file_.get(), 0, SEEK_SET) != 0) {
        throw compiler_unavailable("[memory file] " + name + ": " + std::strerror(errno));
    }
}

std::vector<std::byte> memory_file::content() const {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0) return {};
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
    if (!read_all(file_.get(), bytes)) return {};
    return bytes;
}

}  // namespace ingot::runtime
