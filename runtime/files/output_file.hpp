// A file that appears when it is complete: it is written under another name in the same folder, then renamed. Until
// then, and after any failure, the old file stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "runtime/system/file_descriptor.hpp"

namespace ingot::runtime {

class output_file {
public:
    /// Throws file_error, as all functions here do: "[save] x.npy: ...". For a symbolic link, its target is written,
    /// not the link.
    output_file(const std::string& operation, const std::string& path);
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;
    /// Removes an unpublished file.
    ~output_file();

    const std::string& subject() const noexcept { return subject_; }
    /// The name under which it is written until it is published.
    const std::filesystem::path& temporary() const noexcept { return temporary_; }
    std::uint64_t size() const noexcept { return size_; }
    void append(std::span<const std::byte> bytes);
    /// Overwrites existing bytes.
    void overwrite(std::uint64_t offset, std::span<const std::byte> bytes);
    void shorten(std::uint64_t size);
    void publish();

private:
    [[noreturn]] void fail() const;  // with the reason in errno

    std::string subject_;
    std::filesystem::path target_, temporary_;
    file_descriptor file_;
    std::uint64_t size_ = 0;
};

/// A whole file at once.
void write_file(const char* operation, const std::string& path, std::span<const std::byte> bytes);

}  // namespace ingot::runtime
