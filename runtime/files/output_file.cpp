// See output_file.hpp.
#include "runtime/files/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <ingot/core/error.hpp>
#include <system_error>

#include "runtime/files/byte_source.hpp"
#include "runtime/system/whole_file.hpp"

namespace ingot::runtime {

namespace fs = std::filesystem;

namespace {

fs::path followed(fs::path path) {
    std::error_code failure;
    constexpr int most_links = 40;  // as the kernel allows
    for (int i = 0; i < most_links && fs::is_symlink(path, failure); ++i) {
        const fs::path target = fs::read_symlink(path, failure);
        if (failure) break;
        path = path.parent_path() / target;
    }
    return path;
}

/// A name that no other file has, even if several machines share the folder.
std::string temporary_name() {
    static std::atomic<unsigned> serial{0};
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return ".ingot." + std::to_string(getpid()) + '.' + std::to_string(serial.fetch_add(1)) + '.' +
           std::to_string(now.tv_nsec);
}

}  // namespace

output_file::output_file(const std::string& operation, const std::string& path)
    : subject_("[" + operation + "] " + path), target_(followed(path)) {
    check_path(operation, path);
    struct stat before {};
    const bool replaces = stat(target_.c_str(), &before) == 0;
    if (replaces && !S_ISREG(before.st_mode))
        throw_file_error(subject_, "is a folder or a device, and a file is wanted");
    temporary_ = target_.parent_path() / temporary_name();
    file_ = file_descriptor(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file_) fail();
    if (replaces) fchmod(file_.get(), before.st_mode & 07777);
}

output_file::~output_file() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

void output_file::append(std::span<const std::byte> bytes) {
    errno = EFBIG;
    if (!within_file_size_limit(size_ + bytes.size()) || !write_all(file_.get(), bytes)) fail();
    size_ += bytes.size();
}

void output_file::overwrite(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (lseek(file_.get(), static_cast<off_t>(offset), SEEK_SET) < 0 || !write_all(file_.get(), bytes) ||
        lseek(file_.get(), 0, SEEK_END) < 0)
        fail();
}

void output_file::shorten(std::uint64_t size) {
    const auto end = static_cast<off_t>(size);
    if (ftruncate(file_.get(), end) != 0 || lseek(file_.get(), end, SEEK_SET) < 0) fail();
    size_ = size;
}

void output_file::publish() {
    // A network file system may report failed writes only when the file is closed.
    if (close(file_.release()) != 0 || std::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
    temporary_.clear();
}

void output_file::fail() const { throw_file_error(subject_, std::strerror(errno)); }

void write_file(const char* operation, const std::string& path, std::span<const std::byte> bytes) {
    output_file file(operation, path);
    file.append(bytes);
    file.publish();
}

}  // namespace ingot::runtime
