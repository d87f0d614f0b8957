// Writes zip archives, byte for byte as NumPy's savez does through Python's zipfile: entries have no date, and their
// headers always have 64-bit sizes, which are filled in once they are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/output_file.hpp"
#include "runtime/files/zip_format.hpp"
#include "runtime/files/zlib.hpp"

namespace ingot::runtime {

/// Larger sizes and offsets take 64 bits in the directory. This is zipfile's limit; tests use a smaller one.
inline constexpr std::uint64_t zip64_limit = 0x7fffffff;

class zip_writer {
public:
    /// With `compressed`, entries are deflated. Functions throw file_error, and library_error where zlib is needed and
    /// missing.
    zip_writer(output_file& file, bool compressed, std::uint64_t limit = zip64_limit)
        : file_(file), compressed_(compressed), limit_(limit) {}

    const std::vector<zip_entry>& entries() const noexcept { return entries_; }

    /// Begin an entry, append bytes to it, and end it.
    void begin_entry(const std::string& name);
    void append(std::span<const std::byte> bytes);
    void end_entry();
    /// Keeps the first `kept` entries; the last one must not have been ended.
    void drop_entries(std::size_t kept);
    /// Writes the directory.
    void finish();

private:
    void deflate(std::span<const std::byte> bytes, bool finish);
    std::vector<std::byte> local_header() const;
    void append_directory_entry(std::vector<std::byte>& to, const zip_entry&) const;

    output_file& file_;
    bool compressed_;
    std::uint64_t limit_;
    std::vector<zip_entry> entries_;
    std::optional<zlib_stream> deflater_;
    std::vector<std::byte> output_;
};

}  // namespace ingot::runtime
