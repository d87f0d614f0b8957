// Filters on a picture: blur, sharpen, the edges by Sobel, and the median of each neighbourhood, which takes specks
// away. Each is one kernel on a GPU; on the host another one computes the borders. Reads a PNG, or draws a picture;
// writes one PNG for each filter. filters FOLDER [PICTURE.png]
#include <cstdint>
#include <cstdio>
#include <string>

#include <ingot/ingot.hpp>
#include <ingot/ndimage.hpp>

using namespace ingot;

namespace {

using picture = array<float>;  // grey, 0 to 1

picture read_grey(const std::string& path) {
    const array<std::uint8_t> p = load_png(path);
    if (p.shape().size() == 2) return astype<float>(p) / 255;
    return mean(astype<float>(p(all, all, slice(0, p.shape()[2] > 2 ? 3 : 1))), 2) / 255;
}

/// Rings, a square and a slope of light.
picture drawn() {
    const auto [y, x] = ogrid(grid_points(-1, 1, 240), grid_points(-1.25, 1.25, 300));
    const auto rings = 0.5 + 0.5 * cos(30 * hypot(x, y));
    const auto square = abs(x - 0.7) < 0.25 && abs(y + 0.5) < 0.25;
    return astype<float>(where(square, 0.9, where(hypot(x, y) < 0.6, rings, 0.4 + 0.2 * x)));
}

// The edge goes on beyond the picture.
constexpr auto beyond = ndimage::border::nearest;

/// The mean of a neighbourhood by weights that fall from the middle.
lazy<float> blurred(const picture& p) {
    return ndimage::correlate(p, {{1 / 16., 1 / 8., 1 / 16.}, {1 / 8., 1 / 4., 1 / 8.}, {1 / 16., 1 / 8., 1 / 16.}},
                              {.mode = beyond});
}
lazy<float> sharpened(const picture& p) { return p + 1.5f * (p - blurred(p)); }
lazy<float> edges(const picture& p) {
    return hypot(ndimage::sobel(p, 0, {.mode = beyond}), ndimage::sobel(p, 1, {.mode = beyond}));
}
lazy<float> median_of_nine(const picture& p) { return ndimage::median_filter(p, 3, {.mode = beyond}); }

double error_of(const picture& p, const picture& wanted) { return mean(abs(astype<double>(p) - wanted)).item(); }

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const std::string folder = argc > 1 ? argv[1] : ".";
    if (argc < 3) save_png(folder + "/picture.png", drawn());
    const picture clean = read_grey(argc > 2 ? argv[2] : folder + "/picture.png");
    std::printf("%lld by %lld points\n", static_cast<long long>(clean.shape()[1]),
                static_cast<long long>(clean.shape()[0]));

    random::seed(3);
    const array<float> speck = random::uniform<float>(clean.shape());
    const picture specked = where(speck < 0.03f, 0.0f, where(speck > 0.97f, 1.0f, clean));
    save_png(folder + "/specked.png", specked);
    const auto run = [&](const char* name, const picture& from, const auto& filter) {
        const auto before = counters().kernel_launches;
        const picture result = filter(from);
        const auto launched = counters().kernel_launches - before;
        std::printf("%s: %llu kernel%s\n", name, static_cast<unsigned long long>(launched), launched == 1 ? "" : "s");
        save_png(folder + '/' + name + ".png", result);
        return result;
    };
    const picture soft = run("blurred", specked, blurred), middle = run("median", specked, median_of_nine);
    run("sharpened", clean, sharpened);
    const picture outline = run("edges", clean, edges);
    std::printf("off the clean picture: specked %.4f, blurred %.4f, median %.4f\n", error_of(specked, clean),
                error_of(soft, clean), error_of(middle, clean));
    std::printf("strongest edge: %.2f\n", static_cast<double>(max(outline).item()));
}
