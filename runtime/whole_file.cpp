#include "runtime/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "runtime/file_descriptor.hpp"

namespace ingot::runtime {

std::optional<std::vector<std::byte>> read_whole_file(const std::string& path) {
    const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
    if (S_ISDIR(status.st_mode)) return errno = EISDIR, std::nullopt;
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
    if (!read_all(file.get(), bytes)) {
        if (errno == 0) errno = EIO;  // it became shorter meanwhile
        return std::nullopt;
    }
    return bytes;
}

}  // namespace ingot::runtime
