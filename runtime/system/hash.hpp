// A 128-bit hash of bytes (MurmurHash3, x64, by Austin Appleby, public domain) for names and checksums of cache files.
// It is not cryptographic: where a match decides, the hashed text is compared too.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot::runtime {

struct hash128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend auto operator<=>(const hash128&, const hash128&) = default;
};

hash128 hash_of(std::span<const std::byte> bytes) noexcept;
inline hash128 hash_of(std::string_view text) noexcept { return hash_of(std::as_bytes(std::span(text))); }

/// 32 hexadecimal digits.
std::string to_hex(const hash128& value);

}  // namespace ingot::runtime
