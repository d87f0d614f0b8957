// Filters on a picture: blur, sharpen, the edges by Sobel, and the median of each neighbourhood, which takes specks
// away. Each is one kernel over slices of the padded picture. Reads a PNG, or draws a picture; writes one PNG for each
// filter. filters FOLDER [PICTURE.png]
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

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

/// The points of p one step up (-1) or down (1) and left or right of each point; the edge goes on beyond it.
lazy<float> beside(const picture& p, index_t down, index_t right) {
    const index_t rows = p.shape()[0], columns = p.shape()[1];
    return pad(p, 1, pad_mode::edge)(slice(1 + down, 1 + down + rows), slice(1 + right, 1 + right + columns));
}
/// The sum of what is beside each point, times a weight that falls from the middle: 1 2 1 down and to the right.
lazy<float> blurred(const picture& p) {
    lazy<float> sum = beside(p, 0, 0) * 0.25f;
    for (const index_t k : {-1, 1}) {
        sum = sum + (beside(p, k, 0) + beside(p, 0, k)) * 0.125f;
        sum = sum + (beside(p, k, k) + beside(p, k, -k)) * 0.0625f;
    }
    return sum;
}
lazy<float> sharpened(const picture& p) { return beside(p, 0, 0) + 1.5f * (beside(p, 0, 0) - blurred(p)); }
lazy<float> edges(const picture& p) {
    const auto slope = [&](index_t down, index_t right) {
        const index_t i = right, j = down;  // along the edge
        return beside(p, down + i, right + j) + 2 * beside(p, down, right) + beside(p, down - i, right - j);
    };
    return hypot(slope(0, 1) - slope(0, -1), slope(1, 0) - slope(-1, 0));
}
/// By a network of exchanges that leaves the fifth of nine in the middle (Paeth, 1990).
lazy<float> median_of_nine(const picture& p) {
    std::vector<lazy<float>> v;
    for (const index_t i : {-1, 0, 1})
        for (const index_t j : {-1, 0, 1}) v.push_back(beside(p, i, j));
    constexpr std::array<std::pair<int, int>, 19> exchanges{{{1, 2},
                                                             {4, 5},
                                                             {7, 8},
                                                             {0, 1},
                                                             {3, 4},
                                                             {6, 7},
                                                             {1, 2},
                                                             {4, 5},
                                                             {7, 8},
                                                             {0, 3},
                                                             {5, 8},
                                                             {4, 7},
                                                             {3, 6},
                                                             {1, 4},
                                                             {2, 5},
                                                             {4, 7},
                                                             {4, 2},
                                                             {6, 4},
                                                             {4, 2}}};
    for (const auto& [i, j] : exchanges) {
        auto &a = v[static_cast<std::size_t>(i)], &b = v[static_cast<std::size_t>(j)];
        const lazy<float> least = minimum(a, b), greatest = maximum(a, b);
        a = least, b = greatest;
    }
    return v[4];
}

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
        std::printf("%s: %llu kernel\n", name, static_cast<unsigned long long>(counters().kernel_launches - before));
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
