// Signatures, sizes and numbers of zip archives (PKWARE's APPNOTE), as far as .npz files need them: stored or deflated
// entries, and zip64, which NumPy always uses in an entry's own header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ingot::runtime::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;

// Sizes of the records' fixed parts.
inline constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56, locator64_size = 20;

inline constexpr std::uint16_t stored = 0, deflated = 8;          // methods
inline constexpr std::uint16_t encrypted = 1, utf8_name = 0x800;  // flags
inline constexpr std::uint16_t zip64_extra = 1;                   // the tag of 64-bit numbers
inline constexpr std::uint16_t in_zip64_16 = 0xffff;              // marks a number that is too large for its field
inline constexpr std::uint32_t in_zip64 = 0xffffffff;

}  // namespace ingot::runtime::zip

namespace ingot::runtime {

struct zip_entry {
    std::string name;
    std::uint16_t flags = 0, method = zip::stored;
    std::uint32_t crc = 0;
    std::uint64_t compressed_size = 0, size = 0;
    std::uint64_t header_offset = 0;
};

}  // namespace ingot::runtime
