// The checksum of zip archives: CRC-32 of IEEE 802.3, eight bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot::runtime {

/// The checksum of these bytes behind those of which `before` is the checksum (0: none).
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

}  // namespace ingot::runtime
