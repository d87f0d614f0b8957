// Results to look at: a damped oscillation as curves, a diffraction pattern in the colours of a map, its grey levels as
// PNG and PGM. pictures [FOLDER]
#include <cstdio>
#include <string>
#include <tuple>

#include <ingot/ingot.hpp>

using namespace ingot;

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const std::string folder = argc > 1 ? argv[1] : ".";
    const array<double> t = linspace(0.0, 12.0, 400);
    plot(t, stack(std::tuple(exp(-t / 4) * cos(3 * t), exp(-t / 4), -exp(-t / 4)), 0), folder + "/oscillation.svg",
         {.title = "A damped oscillation",
          .xlabel = "time",
          .ylabel = "displacement",
          .labels = {"displacement", "envelope"}});

    // Light through a round hole: (2 J1(r) / r)^2, on a logarithmic scale.
    const auto [y, x] = ogrid(grid_points(-20, 20, 301), grid_points(-20, 20, 301));
    const auto r = hypot(x, y) + 1e-9;
    const array<double> intensity = square(2 * j1(r) / r);
    imshow(log10(intensity + 1e-6), folder + "/diffraction.png", {.colormap = colormap::inferno});
    save_png(folder + "/grey.png", pow(intensity, 0.25));
    save_pgm(folder + "/grey.pgm", pow(intensity, 0.25));
    std::printf("brightest %.3f; %lld grey levels\n", max(intensity).item(),
                static_cast<long long>(unique(load_png(folder + "/grey.png")).size()));
}
