#include "runtime/kernels/disk_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/system/warning.hpp"

namespace ingot::runtime {

namespace {

constexpr std::string_view entry_suffix = ".kernel";
constexpr std::string_view temporary_prefix = "tmp.";
constexpr time_t temporary_lifetime = 600;  // publishing takes milliseconds

struct file_header {
    char magic[8] = {'i', 'n', 'g', 'o', 't', 'k', 'e', 'r'};
    std::uint64_t layout = 1;  // of this file; the code's ABI is part of the identity
    std::uint64_t identity_size = 0;
    std::uint64_t code_size = 0;
    hash128 checksum;  // of identity and code
};
static_assert(sizeof(file_header) == 48, "the header is written as it is");

hash128 checksum_of(std::string_view identity, std::span<const std::byte> code) {
    const hash128 parts[] = {hash_of(identity), hash_of(code)};
    return hash_of(std::as_bytes(std::span(parts)));
}

std::string entry_name(const cache_key& key) { return to_hex(key.name) + std::string(entry_suffix); }

bool is_entry(std::string_view name) { return name.size() == 32 + entry_suffix.size() && name.ends_with(entry_suffix); }

void refuse(const std::filesystem::path& directory, std::string_view why) {
    warn_once("kernels are not cached on disk: " + directory.string() + " " + std::string(why));
}

struct listing_traits {
    using type = DIR*;
    static constexpr DIR* none = nullptr;
    static void close(DIR* listing) noexcept { closedir(listing); }
};

}  // namespace

std::optional<disk_cache> disk_cache::open(std::filesystem::path directory, std::size_t size_cap) {
    if (size_cap == 0) return std::nullopt;
    if (!directory.has_filename()) directory = directory.parent_path();  // "link/" would follow the symlink
    std::error_code failure;
    if (directory.has_parent_path()) std::filesystem::create_directories(directory.parent_path(), failure);
    mkdir(directory.c_str(), 0700);

    file_descriptor descriptor(::open(directory.c_str(), O_DIRECTORY | O_NOFOLLOW | O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!descriptor || fstat(descriptor.get(), &status) != 0) {
        refuse(directory, errno == ENOTDIR || errno == ELOOP ? "is a symlink or a file" : std::strerror(errno));
        return std::nullopt;
    }
    if (status.st_uid != geteuid()) {
        refuse(directory, "belongs to another user");
        return std::nullopt;
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        refuse(directory, "can be written by other users");
        return std::nullopt;
    }
    return disk_cache(std::move(descriptor), std::move(directory), size_cap);
}

std::optional<std::vector<std::byte>> disk_cache::find(const cache_key& key) const {
    // O_NONBLOCK: a fifo in an entry's place must not block the process.
    const file_descriptor file(
        openat(directory_.get(), entry_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;

    // The size is checked before anything is allocated: a foreign file may have any size and content.
    const auto size = static_cast<std::size_t>(status.st_size);
    const std::size_t code_at = sizeof(file_header) + key.identity.size();
    const file_header expected;
    file_header header;
    if (size < code_at || !read_all(file.get(), std::as_writable_bytes(std::span(&header, 1)))) return std::nullopt;
    if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.layout != expected.layout ||
        header.identity_size != key.identity.size() || header.code_size != size - code_at) {
        return std::nullopt;
    }
    std::vector<std::byte> content(size);
    if (!read_all(file.get(), content)) return std::nullopt;
    const std::string_view identity(reinterpret_cast<const char*>(content.data()) + sizeof header, key.identity.size());
    const std::span<const std::byte> code = std::span<const std::byte>(content).subspan(code_at);
    if (identity != key.identity || checksum_of(identity, code) != header.checksum) return std::nullopt;

    futimens(file.get(), nullptr);
    return std::vector<std::byte>(code.begin(), code.end());
}

bool disk_cache::write_file(const std::string& name, std::span<const std::byte> header, std::string_view identity,
                            std::span<const std::byte> code) const {
    const file_descriptor file(openat(directory_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    return file && write_all(file.get(), header) && write_all(file.get(), std::as_bytes(std::span(identity))) &&
           write_all(file.get(), code);
}

void disk_cache::publish(const cache_key& key, std::span<const std::byte> code) {
    static std::atomic<unsigned> serial{0};
    file_header header;
    header.identity_size = key.identity.size();
    header.code_size = code.size();
    header.checksum = checksum_of(key.identity, code);
    const std::size_t size = sizeof header + key.identity.size() + code.size();

    // The clock distinguishes processes with equal numbers on two machines that share the directory.
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const std::string temporary = std::string(temporary_prefix) + std::to_string(getpid()) + '.' +
                                  std::to_string(serial.fetch_add(1)) + '.' + std::to_string(now.tv_nsec);
    errno = EFBIG;
    const bool written = within_file_size_limit(size) &&
                         write_file(temporary, std::as_bytes(std::span(&header, 1)), key.identity, code) &&
                         renameat(directory_.get(), temporary.c_str(), directory_.get(), entry_name(key).c_str()) == 0;
    if (!written) {
        const std::string why = std::strerror(errno);
        unlinkat(directory_.get(), temporary.c_str(), 0);
        warn_once("kernels cannot be kept in " + path_.string() + ": " + why);
        return;
    }

    // Evicts on one publish in 64 over all processes, and when this process alone fills the cache.
    const std::size_t mine = published_bytes_.fetch_add(size) + size;
    if (key.name.low % 64 == 0 || mine > size_cap_ / 8) {
        published_bytes_ = 0;
        evict();
    }
}

void kernel_lock_traits::close(int descriptor) noexcept {
    struct flock all {};
    all.l_type = F_UNLCK;
    all.l_whence = SEEK_SET;
    fcntl(descriptor, F_OFD_SETLK, &all);
    ::close(descriptor);
}

kernel_lock disk_cache::lock(const cache_key& key, double patience) const {
    kernel_lock file(openat(directory_.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return file;
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(key.name.low >> 2);
    range.l_len = 1;
    constexpr timespec pause{0, 1'000'000};
    for (double waited = 0; waited < patience; waited += 1e-3) {
        if (fcntl(file.get(), F_OFD_SETLK, &range) == 0) return file;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) break;
        nanosleep(&pause, nullptr);
    }
    return {};
}

void disk_cache::evict() const {
    struct entry {
        timespec used;
        std::size_t size;
        std::string name;
    };
    file_descriptor again(openat(directory_.get(), ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC));
    const unique_handle<listing_traits> listing(again ? fdopendir(again.get()) : nullptr);
    if (!listing) return;
    again.release();  // the listing owns it now

    std::vector<entry> entries;
    std::size_t total = 0;
    const time_t now = time(nullptr);
    while (const dirent* const item = readdir(listing.get())) {
        const std::string_view name = item->d_name;
        struct stat status {};
        if (fstatat(directory_.get(), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (name.starts_with(temporary_prefix) && now - status.st_mtim.tv_sec > temporary_lifetime) {
            unlinkat(directory_.get(), item->d_name, 0);
        }
        if (!is_entry(name)) continue;
        const auto size = static_cast<std::size_t>(status.st_blocks) * 512;
        entries.push_back({status.st_mtim, size, std::string(name)});
        total += size;
    }
    if (total <= size_cap_) return;

    std::sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
        return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
    });
    for (const entry& oldest : entries) {
        if (total <= size_cap_ / 4 * 3) break;
        if (unlinkat(directory_.get(), oldest.name.c_str(), 0) == 0) total -= oldest.size;
    }
}

}  // namespace ingot::runtime
