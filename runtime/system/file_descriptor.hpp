// An owned file descriptor, reads and writes of a whole buffer, and the limit of a file's size. Interrupted and short
// calls are continued; on false, errno says why (0: the file ended early).
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <span>

#include "runtime/system/handle.hpp"

namespace ingot::runtime {

struct descriptor_traits {
    using type = int;
    static constexpr int none = -1;
    static void close(int descriptor) noexcept { ::close(descriptor); }
};
using file_descriptor = unique_handle<descriptor_traits>;

inline bool write_all(int descriptor, std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

inline bool read_all(int descriptor, std::span<std::byte> bytes, off_t at = 0) noexcept {
    while (!bytes.empty()) {
        const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(got));
        at += got;
    }
    return true;
}

/// Tested first, because write(2) beyond RLIMIT_FSIZE would end the process by SIGXFSZ.
inline bool within_file_size_limit(std::size_t size) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

}  // namespace ingot::runtime
