// What the emulated NVRTC hands to the emulated driver in a cubin's place: a shared object behind its size, for the
// driver is given no size.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace emulator {

inline constexpr std::string_view image_mark = "emulated";

inline std::string pack_image(const std::string& object) {
    const std::uint64_t size = object.size();
    std::string out(image_mark);
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    return out + object;
}

inline bool is_image(const void* image) {
    return std::strncmp(static_cast<const char*>(image), image_mark.data(), image_mark.size()) == 0;
}

/// Nothing of what is no such image.
inline std::string_view unpack_image(const void* image) {
    const char* at = static_cast<const char*>(image);
    if (!is_image(image)) return {};
    at += image_mark.size();
    std::uint64_t size = 0;
    std::memcpy(&size, at, sizeof size);
    return {at + sizeof size, size};
}

}  // namespace emulator
