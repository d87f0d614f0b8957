// Compiled kernels on disk, one file each, shared by all processes of a user.
//
//   name      32 hex digits, the hash of the identity text (source, options, architecture, compiler, ABI), + ".kernel"
//   content   header | identity text | code       compared and checksummed when it is read
//   tmp.*     a file before it is renamed; an old one is left from a process that died
//   lock      a byte of it, at the name's hash, is locked while a process compiles that kernel
//
// Every failure is a slower success: a bad file is a miss and is replaced; a directory that cannot be trusted or
// written causes one warning. Nothing here throws but bad_alloc. Thread-safe. The directory stays open, so that no
// other process can swap it.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/system/file_descriptor.hpp"
#include "runtime/system/hash.hpp"

namespace ingot::runtime {

/// The identity of a kernel: everything that decided its code.
struct cache_key {
    explicit cache_key(std::string identity_text) : identity(std::move(identity_text)), name(hash_of(identity)) {}
    std::string identity;
    hash128 name;
};

/// The locked byte of a kernel. It is unlocked before the descriptor is closed, because a child of fork may have it
/// too.
struct kernel_lock_traits {
    using type = int;
    static constexpr int none = -1;
    static void close(int descriptor) noexcept;
};
using kernel_lock = unique_handle<kernel_lock_traits>;

class disk_cache {
public:
    /// Makes the directory (0700) where it is missing. Refuses, with a warning, a symlink, another user's directory and
    /// one that others can write.
    static std::optional<disk_cache> open(std::filesystem::path directory, std::size_t size_cap);

    disk_cache(disk_cache&& other) noexcept
        : directory_(std::move(other.directory_)), size_cap_(other.size_cap_), path_(std::move(other.path_)) {}

    /// The code, if an intact file holds it; marks the file as used now.
    std::optional<std::vector<std::byte>> find(const cache_key& key) const;

    /// Publishes a file atomically, or not at all.
    void publish(const cache_key& key, std::span<const std::byte> code);

    /// Waits until no other process or thread compiles this kernel. The lock ends with the handle, or with the process
    /// that held it. The result is empty (1) after `patience` seconds, because the owner may be stopped; (2) where
    /// locks do not work.
    kernel_lock lock(const cache_key& key, double patience = 20) const;

    /// Deletes the least recently used kernels until at most three quarters of the cap are left, and temporaries older
    /// than ten minutes. publish() calls it now and then.
    void evict() const;

    const std::filesystem::path& path() const noexcept { return path_; }

private:
    disk_cache(file_descriptor directory, std::filesystem::path path, std::size_t size_cap)
        : directory_(std::move(directory)), size_cap_(size_cap), path_(std::move(path)) {}
    bool write_file(const std::string& name, std::span<const std::byte> header, std::string_view identity,
                    std::span<const std::byte> code) const;

    file_descriptor directory_;
    std::size_t size_cap_;
    std::filesystem::path path_;  // for messages only
    std::atomic<std::size_t> published_bytes_{0};
};

}  // namespace ingot::runtime
