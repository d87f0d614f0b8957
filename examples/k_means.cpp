// Clusters points of the plane by k-means: every point goes to its nearest centre, every centre to the mean of its
// points, until the sum of squared distances (the inertia) stays: one kernel assigns, one moves the centres, one adds.
// k_means [POINTS]
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

#include "measured.hpp"

using namespace ingot;

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const device d = current_device();
    const index_t n = argc > 1 ? std::atoll(argv[1]) : index_t{1} << (d.is_cuda() ? 24 : 18);
    constexpr int k = 5;

    // Five clouds of points around a circle of radius 3; the first points are the first centres.
    random::seed(7);
    const array<std::int64_t> cloud = astype<std::int64_t>(random::uniform<double>({n}) * k);
    const array<double> angle = cloud * (2 * 3.141592653589793 / k);
    const array<float> x = 3 * cos(angle) + 0.7 * random::normal<double>({n});
    const array<float> y = 3 * sin(angle) + 0.7 * random::normal<double>({n});
    const array<std::int64_t> centres = arange<std::int64_t>(k);
    array<float> cx = x(slice(0, k)), cy = y(slice(0, k));

    std::printf("%lld points, %d centres, on %s, %s\n\n%10s %14s %9s\n", static_cast<long long>(n), k,
                to_string(d).c_str(), d.name().c_str(), "iteration", "inertia", "kernels");
    double last = 0;
    for (int iteration = 1; iteration <= 100; ++iteration) {
        const auto before = counters().kernel_launches;
        const auto distances = square(x(all, newaxis) - cx) + square(y(all, newaxis) - cy);
        const auto [nearest, distance] = eval(argmin(distances, 1), min(distances, 1));

        const auto belongs = nearest(all, newaxis) == centres;
        const auto count = sum(belongs, 0);
        const auto mean_of = [&](const array<float>& v, const array<float>& old) {
            return astype<float>(where(count > 0, sum(where(belongs, v(all, newaxis), 0), 0) / count, old));
        };
        std::tie(cx, cy) = eval(mean_of(x, cx), mean_of(y, cy));

        const double inertia = sum(astype<double>(distance)).item() / static_cast<double>(n);
        std::printf("%10d %14.8f %9llu\n", iteration, inertia,
                    static_cast<unsigned long long>(counters().kernel_launches - before));
        if (iteration > 1 && last - inertia < 1e-7 * inertia) break;
        last = inertia;
    }

    // The centres stand on the circle again: the clouds were found, if each has one.
    const std::vector<float> found_x = cx.to_host(), found_y = cy.to_host();
    std::printf("\ncentres:");
    for (std::size_t c = 0; c < k; ++c)
        std::printf(" (%.2f, %.2f)", static_cast<double>(found_x[c]), static_cast<double>(found_y[c]));
    std::printf("\nradius: %.3f\n", static_cast<double>(mean(sqrt(cx * cx + cy * cy)).item()));
}
