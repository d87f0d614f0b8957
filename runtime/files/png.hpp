// libpng's simplified interface, opened when the first PNG is read or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ingot::runtime {

/// A picture of 8-bit channels, row by row: 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA.
struct pixel_picture {
    std::uint32_t rows = 0, columns = 0, channels = 1;
    std::vector<std::uint8_t> bytes;
};

/// A PNG file's bytes. Throws library_error where libpng is missing, file_error, which names the subject, where libpng
/// refuses the picture.
std::vector<std::byte> encode_png(const std::string& subject, const pixel_picture& picture);
/// Throws likewise, also where the bytes are no PNG.
pixel_picture decode_png(const std::string& subject, std::span<const std::byte> file);

}  // namespace ingot::runtime
