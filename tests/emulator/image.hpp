// The emulated NVRTC's output in place of a cubin: a shared object behind its size, because the driver is not given a
// size.
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

/// Empty if it is not such an image.
inline std::string_view unpack_image(const void* image) {
    const char* at = static_cast<const char*>(image);
    if (!is_image(image)) return {};
    at += image_mark.size();
    std::uint64_t size = 0;
    std::memcpy(&size, at, sizeof size);
    return {at + sizeof size, size};
}

}  // namespace emulator
