#include "runtime/system/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <ingot/core/error.hpp>

#include "runtime/system/file_descriptor.hpp"

namespace ingot::runtime {

void check_path(const std::string& operation, const std::string& path) {
    if (const std::size_t zero = path.find('\0'); zero != path.npos)
        throw file_error("[" + operation + "] " + path.substr(0, zero) + ": a zero byte follows in the name");
}

std::optional<std::vector<std::byte>> read_whole_file(const std::string& path) {
    const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
    if (S_ISDIR(status.st_mode)) return errno = EISDIR, std::nullopt;
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
    if (!read_all(file.get(), bytes)) {
        if (errno == 0) errno = EIO;  // the file became shorter meanwhile
        return std::nullopt;
    }
    return bytes;
}

}  // namespace ingot::runtime
