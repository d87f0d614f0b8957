// Reads zip archives: the list of entries, and each entry as a stream of bytes whose checksum is verified at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/files/byte_source.hpp"
#include "runtime/files/zip_format.hpp"

namespace ingot::runtime {

class zip_reader {
public:
    /// Reads the list. Throws file_error where the source is not a zip archive, or is damaged.
    explicit zip_reader(std::unique_ptr<byte_source> source);

    const byte_source& source() const noexcept { return *source_; }
    const std::vector<zip_entry>& entries() const noexcept { return entries_; }
    /// The bytes of one entry; errors begin with `subject`. Throws file_error, and library_error where zlib is needed
    /// and missing.
    std::unique_ptr<byte_stream> open(const zip_entry&, std::string subject) const;

private:
    std::unique_ptr<byte_source> source_;
    std::uint64_t directory_offset_ = 0;  // no entry reaches beyond it
    std::vector<zip_entry> entries_;
};

}  // namespace ingot::runtime
