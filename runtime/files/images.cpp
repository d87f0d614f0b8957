// Pictures in files: the functions behind include/ingot/files/images.hpp, but for plots.
#include <ingot/files/images.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <type_traits>

#include <ingot/core/error.hpp>

#include "runtime/files/byte_source.hpp"
#include "runtime/files/colormaps.hpp"
#include "runtime/files/output_file.hpp"
#include "runtime/files/png.hpp"

namespace ingot::detail {

namespace {

using runtime::pixel_picture;

template <class T>
std::vector<T> values_of(const buffer_ref& memory, const layout& where) {
    std::vector<T> values(static_cast<std::size_t>(where.size()));
    if (!values.empty()) read_values(memory, where, sizeof(T), values.data());
    return values;
}

/// Calls `f` with the elements and returns its result; bools come as bytes.
template <class F>
auto with_pixels(dtype type, const buffer_ref& memory, const layout& where, const F& f) {
    if (type == dtype::f8) return f(values_of<double>(memory, where));
    if (type == dtype::f4) return f(values_of<float>(memory, where));
    if (type == dtype::u2) return f(values_of<std::uint16_t>(memory, where));
    std::vector<std::uint8_t> bytes = values_of<std::uint8_t>(memory, where);
    if (type == dtype::b1)
        for (std::uint8_t& b : bytes) b = b != 0 ? 255 : 0;
    return f(bytes);
}

template <class T>
std::uint8_t to_byte(T value) {
    if constexpr (std::is_floating_point_v<T>)
        return value > 0 ? static_cast<std::uint8_t>(std::lrint(std::min(value, T(1)) * 255)) : std::uint8_t{0};
    else
        return static_cast<std::uint8_t>(sizeof(T) == 2 ? value >> 8 : value);
}

/// An empty picture of an array's shape.
pixel_picture picture_of(const char* operation, const layout& where, const char* wanted,
                         std::initializer_list<index_t> channels) {
    const bool has_channels = where.rank() == 3;
    const index_t n = has_channels ? where.shape()[2] : 1;
    constexpr index_t most = 0x7fffffff / 4;
    if (where.rank() < 2 || where.rank() > 3 || where.size() == 0 || std::ranges::find(channels, n) == channels.end() ||
        where.shape()[0] > most || where.shape()[1] > most)
        throw shape_error("[" + std::string(operation) + "] shape " + to_text(where.extents()) + "; " + wanted);
    return {static_cast<std::uint32_t>(where.shape()[0]),
            static_cast<std::uint32_t>(where.shape()[1]),
            static_cast<std::uint32_t>(n),
            {}};
}

void write_png(const char* operation, const std::string& path, const pixel_picture& picture) {
    const std::string ending = std::filesystem::path(path).extension().string();
    if (!ending.empty() && ending != ".png" && ending != ".PNG")
        runtime::throw_file_error("[" + std::string(operation) + "] " + path,
                                  "the file holds PNG, so a name that ends with .png is wanted");
    runtime::write_file(operation, path, encode_png("[" + std::string(operation) + "] " + path, picture));
}

/// The colour at `place`, from 0 to 1.
void append_colour(std::vector<std::uint8_t>& to, colormap map, double place) {
    if (map == colormap::grey) return to.insert(to.end(), 3, to_byte(place)), void();
    const std::string_view points = runtime::colormap_points[static_cast<std::size_t>(map) - 1];
    const double at = place * (runtime::points_of_colormap - 1);
    const auto first = std::min(static_cast<std::size_t>(at), std::size_t{runtime::points_of_colormap - 2});
    const auto channel = [&](std::size_t point, std::size_t k) {
        const auto digit = [&](std::size_t i) {
            const char c = points[6 * point + 2 * k + i];
            return c <= '9' ? c - '0' : c - 'a' + 10;
        };
        return 16 * digit(0) + digit(1);
    };
    for (std::size_t k = 0; k < 3; ++k)
        to.push_back(static_cast<std::uint8_t>(
            std::lrint(std::lerp(channel(first, k), channel(first + 1, k), at - static_cast<double>(first)))));
}

}  // namespace

void save_png(const std::string& path, dtype type, const buffer_ref& memory, const layout& where) {
    pixel_picture picture =
        picture_of("save_png", where, "(rows, columns) or (rows, columns, 1 to 4 channels) are wanted", {1, 2, 3, 4});
    with_pixels(type, memory, where, [&](const auto& values) {
        for (const auto v : values) picture.bytes.push_back(to_byte(v));
    });
    write_png("save_png", path, picture);
}

void load_png(const std::string& path, destination to) {
    const auto file = runtime::open_file("load_png", path);
    std::vector<std::byte> bytes(static_cast<std::size_t>(file->size()));
    file->read(0, bytes);
    const pixel_picture picture = runtime::decode_png(file->subject(), bytes);
    const index_t shape[] = {picture.rows, picture.columns, picture.channels};
    create_from_host(to.memory, to.where, std::span(shape, picture.channels == 1 ? 2 : 3), picture.bytes.data(), 1);
}

void save_pgm(const std::string& path, dtype type, const buffer_ref& memory, const layout& where) {
    const pixel_picture picture =
        picture_of("save_pgm", where, "(rows, columns), or (rows, columns, 3) of colours, are wanted", {1, 3});
    const bool wide = type == dtype::u2;
    std::string file = (picture.channels == 3 ? "P6\n" : "P5\n") + std::to_string(picture.columns) + ' ' +
                       std::to_string(picture.rows) + (wide ? "\n65535\n" : "\n255\n");
    with_pixels(type, memory, where, [&]<class T>(const std::vector<T>& values) {
        for (const T v : values) {
            file += static_cast<char>(to_byte(v));  // of 16 bits the upper ones, which come first
            if constexpr (sizeof(T) == 2) file += static_cast<char>(v & 255);
        }
    });
    runtime::write_file("save_pgm", path, std::as_bytes(std::span(file)));
}

void show_image(const std::string& path, const imshow_options& options, const buffer_ref& memory, const layout& where) {
    pixel_picture picture = picture_of("imshow", where, "(rows, columns) are wanted", {1});
    if (where.rank() != 2) throw shape_error("[imshow] shape " + to_text(where.extents()) + "; two axes are wanted");
    constexpr index_t most_pixels = 64;
    if (options.pixels < 1 || options.pixels > most_pixels)
        throw index_error("[imshow] " + std::to_string(options.pixels) + " pixels an element; 1 to 64 are possible");
    const std::vector<double> values = values_of<double>(memory, where);
    double least = INFINITY, greatest = -INFINITY;
    for (const double v : values)
        if (std::isfinite(v)) least = std::min(least, v), greatest = std::max(greatest, v);
    least = options.vmin.value_or(least), greatest = options.vmax.value_or(greatest);
    const auto pixels = static_cast<std::uint32_t>(options.pixels);
    pixel_picture shown{picture.rows * pixels, picture.columns * pixels, 3, {}};
    for (std::uint32_t r = 0; r < picture.rows; ++r) {
        const std::size_t begin = shown.bytes.size();
        for (std::uint32_t c = 0; c < picture.columns; ++c) {
            const double v = values[std::size_t{r} * picture.columns + c];
            const double place = greatest > least ? std::clamp((v - least) / (greatest - least), 0.0, 1.0) : 0.0;
            for (std::uint32_t k = 0; k < pixels; ++k)
                if (std::isfinite(v))
                    append_colour(shown.bytes, options.colormap, place);
                else
                    shown.bytes.insert(shown.bytes.end(), 3, 255);
        }
        const std::vector<std::uint8_t> row(shown.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                            shown.bytes.end());
        for (std::uint32_t k = 1; k < pixels; ++k) shown.bytes.insert(shown.bytes.end(), row.begin(), row.end());
    }
    write_png("imshow", path, shown);
}

}  // namespace ingot::detail
