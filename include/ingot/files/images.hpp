// Images and plots in files: PNG, PGM, and curves as SVG.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ingot/core/reductions.hpp>
#include <ingot/files/npy.hpp>

namespace ingot {

/// The colours of `imshow`, from the least value to the greatest: Matplotlib's.
enum class colormap : std::uint8_t { grey, viridis, magma, inferno, plasma, cividis, coolwarm };

/// The options of `imshow`.
struct imshow_options {
    ingot::colormap colormap = ingot::colormap::viridis;
    std::optional<double> vmin = {};  ///< the value of the first colour; by default the least finite element
    std::optional<double> vmax = {};  ///< the value of the last colour; by default the greatest finite element
    index_t pixels = 1;               ///< of an element along either axis
};

/// The options of `plot`.
struct plot_options {
    std::string title = "";
    std::string xlabel = "";
    std::string ylabel = "";
    std::vector<std::string> labels = {};  ///< names of the first curves, for a legend
    int width = 640;                       ///< of the picture, in pixels
    int height = 400;
};

namespace detail {

INGOT_API void save_png(const std::string& path, dtype, const buffer_ref&, const layout&);
INGOT_API void save_pgm(const std::string& path, dtype, const buffer_ref&, const layout&);
INGOT_API void load_png(const std::string& path, destination to);
INGOT_API void show_image(const std::string& path, const imshow_options&, const buffer_ref&, const layout&);
INGOT_API void plot_curves(const std::string& path, const plot_options&, const buffer_ref& x, const layout& x_where,
                           const buffer_ref& y, const layout& y_where);

/// dtypes of pixels: bool is black and white, floats go from 0 to 1.
template <class E>
concept pixels = array_expression<E> &&
                 (std::same_as<typename E::value_type, bool> || std::same_as<typename E::value_type, std::uint8_t> ||
                  std::same_as<typename E::value_type, std::uint16_t> || std::floating_point<typename E::value_type>);

}  // namespace detail

/// Writes a picture as PNG: (rows, columns) in grey, or (rows, columns, channels) with 1 to 4 channels: grey, grey and
/// alpha, RGB, RGBA. Elements are uint8, bool, or floats from 0 to 1, which are clipped and rounded to 8 bits; of
/// uint16 the upper 8 bits are kept. libpng is opened for it. The file appears when it is complete. Throws shape_error
/// for another shape, library_error where libpng is missing, file_error where the name has another ending than .png or
/// the file cannot be written.
///
///     save_png("slope.png", linspace<float>(0, 1, 256) * ones<float>({64, 1}));
///     std::cout << load_png("slope.png")(0, slice(0, 4));
///     // prints: [0 1 2 3]
template <detail::pixels E>
void save_png(const std::string& path, const E& e) {
    const auto values = detail::contiguous_values_as<typename E::value_type>(e);
    detail::save_png(path, E::type, values.memory(), values.where());
}

/// A PNG as uint8, on the current device: (rows, columns) of a grey picture, else (rows, columns, channels) with grey
/// and alpha, RGB or RGBA. Palettes become RGB, 16 bits become 8. Throws library_error where libpng is missing,
/// file_error where the file cannot be read or is no PNG.
///
///     save_png("dot.png", array<std::uint8_t>{{0, 255}, {7, 0}});
///     std::cout << load_png("dot.png");
///     // prints: [[  0 255]
///     //          [  7   0]]
inline array<std::uint8_t> load_png(const std::string& path) {
    detail::leaf<std::uint8_t> l;
    detail::load_png(path, {dtype::u1, l.memory(), l.where()});
    return array<std::uint8_t>(detail::adopted{}, std::move(l));
}

/// Writes a picture as PGM, or, with three channels, as PPM: headers and bytes that every tool reads, without a
/// library. Elements as those of `save_png`; uint16 keeps 16 bits. Throws shape_error for another shape, file_error
/// where the file cannot be written.
///
///     save_pgm("dot.pgm", array<std::uint8_t>{{0, 255}, {7, 0}});
///     std::cout << fromfile<std::uint8_t>("dot.pgm", {.offset = 11});
///     // prints: [  0 255   7   0]
template <detail::pixels E>
void save_pgm(const std::string& path, const E& e) {
    const auto values = detail::contiguous_values_as<typename E::value_type>(e);
    detail::save_pgm(path, E::type, values.memory(), values.where());
}

/// Writes an expression with two axes as a PNG in the colours of a map; row 0 is at the top. Elements that are not
/// finite are white. Throws shape_error for another number of axes, library_error where libpng is missing, file_error
/// where the name has another ending than .png or the file cannot be written.
///
///     const auto [y, x] = ogrid(grid_points(-2, 2, 200), grid_points(-2, 2, 300));
///     imshow(exp(-x * x - y * y), "hill.png", {.colormap = colormap::magma});
///     std::cout << load_png("hill.png").shape();
///     // prints: (200, 300, 3)
template <detail::real_expression E>
void imshow(const E& e, const std::string& path, const imshow_options& options = {}) {
    const auto values = detail::contiguous_values_as<double>(astype<double>(e));
    detail::show_image(path, options, values.memory(), values.where());
}

/// Writes curves of y over x as SVG, with axes and their numbers. y has the extent of x, or a row for each curve.
/// Elements that are not finite interrupt a curve. Throws shape_error where the extents differ, file_error where the
/// file cannot be written.
///
///     const array<double> x = linspace(0.0, 10.0, 200);
///     plot(x, stack(std::tuple(sin(x), cos(x)), 0), "waves.svg", {.title = "waves", .labels = {"sin", "cos"}});
///     std::cout << (fromfile<std::uint8_t>("waves.svg").size() > 1000);
///     // prints: 1
template <detail::real_expression X, detail::real_expression Y>
void plot(const X& x, const Y& y, const std::string& path, const plot_options& options = {}) {
    const auto along = detail::contiguous_values_as<double>(astype<double>(x)),
               curves = detail::contiguous_values_as<double>(astype<double>(y));
    detail::plot_curves(path, options, along.memory(), along.where(), curves.memory(), curves.where());
}

}  // namespace ingot
