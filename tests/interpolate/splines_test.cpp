// Splines compared with SciPy's: boundaries, axes, derivatives, integrals, short and uneven rows of knots.
#include "tests/arrays/expect.hpp"
#include "tests/interpolate/scipy.hpp"

using namespace ingot;
using interpolate::boundary;
using testing::increasing;
using testing::numpy_cases;
using testing::places_among;
using testing::values_of;

namespace {

struct boundary_case {
    const char* python;
    boundary ends;
};

/// A third of all numbers, other ones in each run.
bool is_drawn() {
    static unsigned long number = test::drawing_seed();
    return std::getenv("INGOT_TEST_ALL") != nullptr || number++ % 3 == 0;
}

}  // namespace

TEST_CASE("cubic_spline is SciPy's CubicSpline, for every boundary and number of knots") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(1 << 12);
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    const boundary_case ends[] = {{"'not-a-knot'", interpolate::not_a_knot},
                                  {"'natural'", interpolate::natural},
                                  {"'clamped'", interpolate::clamped},
                                  {"'periodic'", interpolate::periodic},
                                  {"((1, np.full(3, 0.5)), (2, np.full(3, -3)))", {{1, 0.5}, {2, -3}}},
                                  {"('not-a-knot', (1, np.full(3, 2)))", {interpolate::not_a_knot, {1, 2}}}};
    for (const boundary_case& b : ends)
        for (const index_t n : {2, 3, 4, 5, 37}) {
            if (!is_drawn()) continue;
            const array<double> x = increasing(n, ++seed), at = places_among(x, {4, 6}, seed);
            array<double> y = values_of<double>({n, 3}, seed);
            if (b.ends.first() == interpolate::periodic) y(-1) = array<double>(y(0));
            const std::string how = std::string(", bc_type=") + b.python;
            const auto s = interpolate::cubic_spline(x, y, {.bc_type = b.ends});
            c.add("interpolate.CubicSpline(a, b" + how + ")(c)", s(at), x, y, at);
            // The second derivative of two points may be 0, which has no relative error.
            const int nu = n == 2 ? 1 : 2;
            c.add("interpolate.CubicSpline(a, b" + how + ")(c, " + std::to_string(nu) + ", extrapolate=False)",
                  s(at, nu, false), x, y, at);
            c.add("interpolate.CubicSpline(a, b.T, axis=1" + how + ").c",
                  interpolate::cubic_spline(x, transpose(y), {.axis = 1, .bc_type = b.ends}).c(), x, y);
        }
    const array<double> x = increasing(600, 8), y = values_of<double>({600}, 5), at = places_among(x, {70}, 5);
    c.add("interpolate.CubicSpline(a, b)(c)", interpolate::cubic_spline(x, y)(at), x, y, at);
    // Distances of knots that grow by half from one to the next.
    const array<double> uneven = power(1.5, arange<double>(40)), z = values_of<double>({40}, 6);
    c.add("interpolate.CubicSpline(a, b).c", interpolate::cubic_spline(uneven, z).c(), uneven, z);
    c.run();
}

TEST_CASE("axes of splines, complex values, and halves of float32") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(1 << 12);
    const array<double> x = increasing(6, 11), at = places_among(x, {2, 3}, 11);
    const auto wide = values_of<float>({2, 6, 3}, 12);
    const auto z = values_of<std::complex<double>>({2, 6}, 13);
    c.add("interpolate.CubicSpline(a, b, axis=1)(c)", interpolate::cubic_spline(x, wide, {.axis = 1})(at), x, wide, at);
    c.add("interpolate.CubicSpline(a, b, axis=-1)(c)", interpolate::cubic_spline(x, z, {.axis = -1})(at), x, z, at);
    c.add("interpolate.PchipInterpolator(a, b, axis=1)(c)", interpolate::pchip(x, wide, {.axis = 1})(at), x, wide, at);
    const array<double> slopes = values_of<double>({6, 2}, 14), y = values_of<double>({6, 2}, 15);
    c.add("interpolate.CubicHermiteSpline(a, b, c)(d)", interpolate::cubic_hermite_spline(x, y, slopes)(at), x, y,
          slopes, at);
    const array<double> empty = zeros({6, 0});
    c.add("np.zeros((2, 3, 0))", interpolate::cubic_spline(x, empty)(at));
    c.run();
}

TEST_CASE("pchip and akima have SciPy's slopes") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(1 << 12);
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    for (const index_t n : {2, 3, 4, 20}) {
        const array<double> x = increasing(n, ++seed), at = places_among(x, {30}, seed);
        // Level stretches, peaks and steps.
        const array<double> y = floor(values_of<double>({n, 4}, seed));
        c.add("interpolate.PchipInterpolator(a, b)(c)", interpolate::pchip(x, y)(at), x, y, at);
        c.add("interpolate.PchipInterpolator(a, b, extrapolate=False)(c, 1)",
              interpolate::pchip(x, y, {.extrapolate = false})(at, 1), x, y, at);
        if (n == 2) continue;  // SciPy 1.15 reads slopes that it has not set
        c.add("interpolate.Akima1DInterpolator(a, b)(c)", interpolate::akima(x, y)(at), x, y, at);
        c.add("interpolate.Akima1DInterpolator(a, b, method='makima', extrapolate=True)(c)",
              interpolate::akima(x, y, {.method = interpolate::akima_method::makima, .extrapolate = true})(at), x, y,
              at);
    }
    c.run();
}

TEST_CASE("derivatives, antiderivatives and integrals") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(1 << 14);
    const array<double> x = increasing(9, 20), at = places_among(x, {25}, 20);
    array<double> y = values_of<double>({9, 2}, 21);
    const auto s = interpolate::cubic_spline(x, y);
    const auto add = [&](const std::string& made, const auto& result) {
        c.add("interpolate.CubicSpline(a, b)" + made, result, x, y, at);
    };
    for (const int nu : {1, 3, 4}) {
        add(".derivative(" + std::to_string(nu) + ")(c)", s.derivative(nu)(at));
        add("(c, " + std::to_string(nu) + ")", s(at, nu));
    }
    add(".antiderivative()(c)", s.antiderivative()(at));
    add(".antiderivative(2)(c)", s.antiderivative(2)(at));
    add(".derivative(-1)(c)", s.derivative(-1)(at));
    add(".integrate(-1, 2.25)", s.integrate(-1, 2.25));
    add(".integrate(3, -9)", s.integrate(3, -9));
    add(".integrate(3, -9, extrapolate=False)", s.integrate(3, -9, false));
    y(-1) = array<double>(y(0));
    const auto p = interpolate::cubic_spline(x, y, {.bc_type = interpolate::periodic});
    for (const auto& [a, b] : {std::pair{-1.0, 0.5}, {0.5, 19.25}, {30.0, -11.0}})
        c.add("interpolate.CubicSpline(a, b, bc_type='periodic').integrate(" + std::to_string(a) + ", " +
                  std::to_string(b) + ")",
              p.integrate(a, b), x, y);
    c.add("interpolate.CubicSpline(a, b, bc_type='periodic').antiderivative()(c)", p.antiderivative()(at), x, y, at);
    c.run();
}

TEST_CASE("a spline at places is one kernel, and its slopes take a few") {
    const array<double> x = increasing(1000, 7), y = values_of<double>({1000}, 3), at = linspace(0.0, 100.0, 500);
    array<double> result;
    auto before = counters().kernel_launches;
    const auto s = interpolate::cubic_spline(x, y);
    CHECK(counters().kernel_launches - before < 14);
    before = counters().kernel_launches;
    result = maximum(s(at * 2), 0) + 1;
    CHECK(counters().kernel_launches - before == 1);
}

TEST_CASE("knots and boundaries that do not fit are said") {
    const array<double> x{0, 1, 2}, y{0, 1, 4};
    CHECK_THROWS_WITH_AS(interpolate::cubic_spline(array<double>{0, 0, 1}, y),
                         "[cubic_spline] points that do not increase; finite ones that do are wanted", error);
    CHECK_THROWS_AS(interpolate::cubic_spline(array<double>{0}, array<double>{1}), shape_error);
    CHECK_THROWS_AS(interpolate::pchip(x, zeros({4, 3})), shape_error);
    CHECK_THROWS_AS(interpolate::akima(x, y, {.axis = 1}), shape_error);
    CHECK_THROWS_WITH_AS(interpolate::cubic_spline(x, y, {.bc_type = interpolate::periodic}),
                         "[cubic_spline] values at periodic ends that differ; equal ones are wanted", error);
    CHECK_THROWS_AS(interpolate::cubic_spline(x, y, {.bc_type = {interpolate::periodic, interpolate::natural}}), error);
    CHECK_THROWS_AS(interpolate::cubic_spline(x, y, {.bc_type = {{3, 0}, {1, 0}}}), error);
    CHECK_THROWS_AS(interpolate::cubic_spline(x, y)(x, -1), error);
    CHECK_THROWS_AS(interpolate::cubic_hermite_spline(x, y, zeros(4)), shape_error);
}
