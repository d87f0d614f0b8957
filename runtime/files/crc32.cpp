// See crc32.hpp. tables[k][b] is the contribution of a byte b that k bytes follow, so that eight look-ups process eight
// bytes.
#include "runtime/files/crc32.hpp"

#include <array>

namespace ingot::runtime {

namespace {

constexpr auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> t{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t remainder = b;
        for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0xedb88320u : 0u);
        t[0][b] = remainder;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t b = 0; b < 256; ++b) t[k][b] = t[k - 1][b] >> 8 ^ t[0][t[k - 1][b] & 0xff];
    return t;
}();

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
    std::uint32_t crc = ~before;
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        crc ^= byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
        crc = tables[7][crc & 0xff] ^ tables[6][crc >> 8 & 0xff] ^ tables[5][crc >> 16 & 0xff] ^ tables[4][crc >> 24] ^
              tables[3][byte(4)] ^ tables[2][byte(5)] ^ tables[1][byte(6)] ^ tables[0][byte(7)];
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) crc = crc >> 8 ^ tables[0][(crc ^ byte(i)) & 0xff];
    return ~crc;
}

}  // namespace ingot::runtime
