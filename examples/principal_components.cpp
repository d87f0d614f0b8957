// Principal components: points of many dimensions that lie near a plane, made here, and the plane that the singular
// value decomposition finds. principal_components [POINTS]
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const index_t points = argc > 1 ? std::atoll(argv[1]) : 2000, dimensions = 20, kept = 2;
    random::generator g(3);
    // Two axes at right angles, along which the points scatter by 5 and by 2; noise of 0.1 everywhere.
    const auto [plane, unused] = linalg::qr(g.normal<double>({dimensions, kept}));
    const array<double> along = g.normal<double>({points, kept}) * array<double>{5, 2};
    const array<double> x = matmul(along, transpose(plane)) + 0.1 * g.normal<double>({points, dimensions}) + 3.0;

    const array<double> centred = x - mean(x, 0);
    const auto [u, s, vh] = linalg::svd(centred, false);
    const array<double> variance = square(s) / static_cast<double>(points - 1);
    const array<double> share = variance / sum(variance);
    const array<double> axes_found = vh(slice(0, kept));
    const array<double> scores = matmul(centred, transpose(axes_found));
    const array<double> rest = centred - matmul(scores, axes_found);

    std::printf("%lld points of %lld dimensions\n", static_cast<long long>(points), static_cast<long long>(dimensions));
    std::printf("deviations along the first axes: %.3f %.3f %.3f\n", sqrt(variance)(0).item(), sqrt(variance)(1).item(),
                sqrt(variance)(2).item());
    std::printf("two of them hold %.4f of the variance\n", sum(share(slice(0, kept))).item());
    std::printf("left of a point on average: %.3f\n", sqrt(mean(square(rest))).item());
    // The singular values of the product of two planes' axes are the cosines of the angles between them.
    std::printf("cosine of the greater angle between the planes: %.5f\n",
                min(linalg::svdvals(matmul(axes_found, plane))).item());
}
