// The Mandelbrot set, 800 x 600, 200 iterations, to a PNG.
// mandelbrot [FILE]
//
// Five iterations are one kernel, as many as it holds: `lazy` trees share what is used twice, and eval computes all
// three results at once. It is compiled once and launched forty times. The plane is a row of real and a column of
// imaginary parts, which broadcasting makes into a grid in registers.
#include <cstdint>
#include <cstdio>
#include <tuple>

#include <ingot/ingot.hpp>

#include "measured.hpp"

using namespace ingot;

namespace {

constexpr int width = 800, height = 600, iterations = 200, iterations_a_kernel = 5;
constexpr double left = -2.4, right = 0.8, top = 1.2;

/// Where each point of the plane is after all iterations, and at which it went beyond |z|^2 = 64.
struct escape {
    array<float> x, y;
    array<int> steps;
};

escape iterate(const lazy<float>& real, const lazy<float>& imaginary) {
    escape z{zeros<float>({height, width}), zeros<float>({height, width}), zeros<int>({height, width})};
    for (int i = 0; i < iterations; i += iterations_a_kernel) {
        lazy x = z.x, y = z.y;
        lazy steps = z.steps;
        for (int k = 0; k < iterations_a_kernel; ++k) {
            const lazy xx = x * x, yy = y * y, xy = x * y;
            const lazy inside = xx + yy < 64;
            x = where(inside, xx - yy + real, x);  // a point outside stays where it left
            y = where(inside, xy + xy + imaginary, y);
            steps = steps + inside;
        }
        std::tie(z.x, z.y, z.steps) = eval(x, y, steps);
    }
    return z;
}

/// Bytes of red, green and blue: black inside, else a phase for each colour over how soon the point left.
array<std::uint8_t> paint(const escape& z) {
    const auto smooth = 1 + z.steps - log2(log2(z.x * z.x + z.y * z.y) / 2);
    const array<float> brightness = where(z.steps < iterations, log2(maximum(smooth, 1)), 0);
    const array<float> phase{3.1f, 2.5f, 1.9f};
    const auto wave = 0.5f - 0.5f * cos(brightness(all, all, newaxis) * 1.7f + phase);
    return astype<std::uint8_t>(where(brightness(all, all, newaxis) > 0, 255 * wave, 0));
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const char* const path = argc > 1 ? argv[1] : "mandelbrot.png";
    const array<float> real = linspace<float>(left, right, width);
    const array<float> imaginary = reshape(linspace<float>(top, -top, height), {-1, 1});

    escape z;
    const measured m = measure([&] { z = iterate(real, imaginary); });
    const double pixel = (right - left) / (width - 1) * 2 * top / (height - 1);
    std::printf("%d x %d points, %d iterations on %s, %s\n", width, height, iterations,
                to_string(current_device()).c_str(), current_device().name().c_str());
    std::printf("%llu kernels, %llu compiled, %.1f us\n", static_cast<unsigned long long>(m.kernels),
                static_cast<unsigned long long>(m.compiles), m.microseconds);
    std::printf("Area inside: %.4f (of the set itself: 1.5066)\n",
                static_cast<double>(sum(z.steps == iterations).item()) * pixel);
    save_png(path, paint(z));
    std::printf("See %s\n", path);
}
