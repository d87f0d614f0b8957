// See byte_source.hpp.
#include "runtime/files/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <ingot/core/error.hpp>
#include <memory>

#include "runtime/system/file_descriptor.hpp"
#include "runtime/system/whole_file.hpp"

namespace ingot::runtime {

namespace {

class file_source : public byte_source {
public:
    file_source(std::string subject, file_descriptor file, std::uint64_t size)
        : byte_source(std::move(subject), size), file_(std::move(file)) {}

protected:
    void read_within(std::uint64_t offset, std::span<std::byte> to) const override {
        if (!read_all(file_.get(), to, static_cast<off_t>(offset)))
            throw_file_error(subject(), errno == 0 ? "became shorter while it was read" : std::strerror(errno));
    }

private:
    file_descriptor file_;
};

}  // namespace

void throw_file_error(const std::string& subject, const std::string& what) { throw file_error(subject + ": " + what); }

void byte_source::read(std::uint64_t offset, std::span<std::byte> to) const {
    if (offset > size_ || to.size() > size_ - offset)
        throw_file_error(subject_, "cut short: " + std::to_string(to.size()) + " bytes are wanted from byte " +
                                       std::to_string(offset) + " on, and it has " + std::to_string(size_) + " in all");
    read_within(offset, to);
}

void memory_source::read_within(std::uint64_t offset, std::span<std::byte> to) const {
    const auto from = bytes_.subspan(static_cast<std::size_t>(offset), to.size());
    std::copy(from.begin(), from.end(), to.begin());
}

void byte_stream::read(std::span<std::byte> to) {
    if (to.size() > remaining_)
        throw_file_error(subject_, "cut short: " + std::to_string(to.size()) + " more bytes are wanted, and it has " +
                                       std::to_string(remaining_));
    remaining_ -= to.size();
    read_next(to);
}

std::unique_ptr<byte_source> open_file(const std::string& operation, const std::string& path) {
    check_path(operation, path);
    std::string subject = "[" + operation + "] " + path;
    // O_NONBLOCK: a fifo must not block the process.
    file_descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) throw_file_error(subject, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) throw_file_error(subject, "is a folder or a device, and a file is wanted");
    return std::make_unique<file_source>(std::move(subject), std::move(file),
                                         static_cast<std::uint64_t>(status.st_size));
}

}  // namespace ingot::runtime
