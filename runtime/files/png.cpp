// See png.hpp.
#include "runtime/files/png.hpp"

#include <cstring>

#include <ingot/core/error.hpp>

#include "runtime/files/byte_source.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

/// libpng's png_image, so that the build does not need its header; the version says which layout it has.
struct png_image {
    void* opaque;
    std::uint32_t version, width, height, format, flags, colormap_entries, warning_or_error;
    char message[64];
};

// Constants of png.h.
constexpr std::uint32_t image_version = 1;
constexpr std::uint32_t format_alpha = 1, format_colour = 2;

struct png_api : api_table {
    using api_table::api_table;
    static library_files files() {
        return {{"libpng16.so.16"}, "libpng16.so.16 was not found; PNG files want libpng (Debian: libpng16-16)"};
    }

    int (*begin_read)(png_image*, const void* memory, std::size_t size) = function("png_image_begin_read_from_memory");
    int (*finish_read)(png_image*, const void* background, void* pixels, std::int32_t row_stride,
                       void* colormap) = function("png_image_finish_read");
    int (*write)(png_image*, void* memory, std::size_t* size, int convert_to_8_bits, const void* pixels,
                 std::int32_t row_stride, const void* colormap) = function("png_image_write_to_memory");
    void (*free)(png_image*) = function("png_image_free");
};

/// A png_image that is given back.
class image {
public:
    explicit image(const char* operation) : api(opened_library<png_api>::get(operation)) { it.version = image_version; }
    image(const image&) = delete;
    image& operator=(const image&) = delete;
    ~image() { api.free(&it); }

    void check(const std::string& subject, int succeeded) const {
        if (succeeded == 0) throw_file_error(subject, std::string("libpng: ") + it.message);
    }

    const png_api& api;
    png_image it{};
};

}  // namespace

std::vector<std::byte> encode_png(const std::string& subject, const pixel_picture& picture) {
    image png("save_png");
    png.it.width = picture.columns;
    png.it.height = picture.rows;
    png.it.format = (picture.channels % 2 == 0 ? format_alpha : 0) | (picture.channels > 2 ? format_colour : 0);
    std::vector<std::byte> file(picture.bytes.size() + picture.bytes.size() / 2 + 4096);
    std::size_t size = file.size();
    // Room that is too small is reported with the size needed, as a failure without a message.
    if (png.api.write(&png.it, file.data(), &size, 0, picture.bytes.data(), 0, nullptr) == 0) {
        if (size <= file.size()) png.check(subject, 0);
        file.resize(size);
        png.check(subject, png.api.write(&png.it, file.data(), &size, 0, picture.bytes.data(), 0, nullptr));
    }
    file.resize(size);
    return file;
}

pixel_picture decode_png(const std::string& subject, std::span<const std::byte> file) {
    image png("load_png");
    png.check(subject, png.api.begin_read(&png.it, file.data(), file.size()));
    png.it.format &= format_alpha | format_colour;
    pixel_picture picture{
        png.it.height, png.it.width, 1 + (png.it.format & format_alpha) + (png.it.format & format_colour), {}};
    picture.bytes.resize(std::size_t{picture.rows} * picture.columns * picture.channels);
    png.check(subject, png.api.finish_read(&png.it, nullptr, picture.bytes.data(), 0, nullptr));
    return picture;
}

}  // namespace ingot::runtime
