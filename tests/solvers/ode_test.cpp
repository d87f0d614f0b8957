// Initial value problems: SciPy's steps and states, the orders of the methods, ensembles, and why they end.
#include <ingot/solvers.hpp>

#include "tests/arrays/expect.hpp"
#include "tests/has_scipy.hpp"
#include "tests/joins/numpy_cases.hpp"

using namespace ingot;
using testing::numpy_cases;

namespace {

/// y'' = (1 - y^2) y' - y, along the first axis.
const auto van_der_pol = [](const auto&, const auto& y) {
    return concatenate({lazy(y(slice(1, 2))), lazy((1 - square(y(slice(0, 1)))) * y(slice(1, 2)) - y(slice(0, 1)))}, 0);
};
const char* const van_der_pol_in_python = "lambda t, y: np.array([y[1], (1 - y[0] ** 2) * y[1] - y[0]])";
const auto driven = [](const auto& t, const auto& y) { return cos(t) * y - sin(2 * t); };
const char* const driven_in_python = "lambda t, y: np.cos(t) * y - np.sin(2 * t)";

}  // namespace

TEST_CASE("rk45 takes the steps of SciPy's solve_ivp") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    // Rounding grows along the solutions.
    c.forgive(1 << 20);
    const array<double> two{2, 0}, three{1, -2, 0.5};
    const auto add = [&](const char* f, const std::string& interval, const std::string& how, const auto& s,
                         const auto& y0) {
        const std::string call = std::string("integrate.solve_ivp(") + f + ", " + interval + ", a" + how + ")";
        c.add(call + ".y[:, -1]", s.y, y0);
        c.add("np.array([" + call + ".nfev, " + call + ".t[-1]])",
              array<double>{static_cast<double>(s.evaluations), max(s.t).item()}, y0);
        CHECK(s.reason == integrate::ending::reached);
    };
    add(van_der_pol_in_python, "(0, 10)", "", integrate::rk45(van_der_pol, 0, 10, two), two);
    add(van_der_pol_in_python, "(0, 20)", ", rtol=1e-7, atol=1e-9",
        integrate::rk45(van_der_pol, 0, 20, two, {.rtol = 1e-7, .atol = 1e-9}), two);
    add(driven_in_python, "(3, -4)", ", rtol=1e-6", integrate::rk45(driven, 3, -4, three, {.rtol = 1e-6}), three);
    add(driven_in_python, "(0, 4)", ", max_step=.1, first_step=.01",
        integrate::rk45(driven, 0, 4, three, {.max_step = 0.1, .first_step = 0.01}), three);
    using complex = std::complex<double>;
    const array<complex> z{complex(1, 1), complex(0, -2)};
    add("lambda t, y: 1j * y", "(0, 5)", "",
        integrate::rk45([](const auto&, const auto& y) { return y * std::complex<double>(0, 1); }, 0, 5, z), z);
    c.run();
}

TEST_CASE("an ensemble's systems have the steps that each has alone") {
    const array<double> many{{2, 0.5, -1}, {0, 3, 1}};
    const integrate::ode_options o{.rtol = 1e-6, .ensemble = true};
    const auto all_of_them = integrate::rk45(van_der_pol, 0, 6, many, o);
    CHECK(all_of_them.t.shape() == shape_like{3});
    index_t most = 0;
    for (index_t j = 0; j < 3; ++j) {
        const auto one = integrate::rk45(van_der_pol, 0, 6, many(all, j), {.rtol = 1e-6});
        CHECK(max(abs(one.y - all_of_them.y(all, j))).item() < 1e-11);
        most = std::max(most, one.steps);
    }
    CHECK(all_of_them.steps == most);
    // Systems of one component.
    const array<double> rates{-1, -100, 2};
    const auto decay = integrate::rk45([&](const auto&, const auto& y) { return rates * y; }, 0, 1, ones(3), o);
    CHECK(max(abs(decay.y - exp(rates))).item() < 1e-4);
}

TEST_CASE("rk4 is of order 4, and float32 stays float32") {
    const array<double> y0{1, 2};
    const array<double> exact = y0 * std::exp(std::sin(2.0));
    const auto f = [](double t, const auto& y) { return std::cos(t) * y; };
    const auto error_of = [&](index_t steps) { return max(abs(integrate::rk4(f, 0, 2, y0, steps) - exact)).item(); };
    const double ratio = error_of(20) / error_of(40);
    CHECK(ratio > 13);
    CHECK(ratio < 19);
    const array<float> single{1, 2};
    CHECK(max(abs(integrate::rk4(f, 0, 2, single, 50) - astype<float>(exact))).item() < 1e-5f);
    const auto s =
        integrate::rk45([](const auto& t, const auto& y) { return cos(t) * y; }, 0, 2, single, {.rtol = 1e-4});
    CHECK(max(abs(s.y - astype<float>(exact))).item() < 2e-3f);
}

TEST_CASE("an integration says why it ended") {
    const array<double> y0{1};
    // A state that grows over all bounds at t = 1.
    const auto f = [](const auto&, const auto& y) { return y * y; };
    CHECK(integrate::rk45(f, 0, 2, y0).reason == integrate::ending::step_too_small);
    CHECK(integrate::rk45(f, 0, 0.5, y0, {.maxiter = 1}).reason == integrate::ending::steps_spent);
    const auto nothing = integrate::rk45(f, 1, 1, y0);
    CHECK(nothing.reason == integrate::ending::reached);
    CHECK(holds(nothing.y, {1}, {1}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(integrate::rk45(f, 0, 2, array<double>{nan}).reason == integrate::ending::step_too_small);
    const auto decay = [](const auto&, const auto& y) { return -y; };
    const auto some = integrate::rk45(decay, 0, 1, array<double>{1, nan, 2}, {.ensemble = true});
    CHECK(some.reason == integrate::ending::step_too_small);
    CHECK(some.t.shape() == shape_like{3});
    CHECK(some.t(0).item() == 1);
    CHECK(some.t(2).item() == 1);
    CHECK(integrate::rk45(decay, 0, 1, y0, {.rtol = 0, .atol = 0}).steps < 1000);
    CHECK(integrate::rk45(decay, 0, 1, zeros({0})).reason == integrate::ending::reached);
    CHECK(integrate::rk45(decay, 0, 1, astype<float16>(y0)).y.type == dtype::f4);
    CHECK_THROWS_WITH_AS(integrate::rk45(decay, 0, 1, y0, {.max_step = 0}),
                         "[rk45] max_step 0; a positive number is wanted", error);
    CHECK_THROWS_AS(integrate::rk45(decay, 0, nan, y0), error);
    CHECK_THROWS_AS(integrate::rk45(decay, 0, 1, y0, {.first_step = 2}), error);
    CHECK_THROWS_AS(integrate::rk4(f, 0, 1, y0, 0), shape_error);
    CHECK_THROWS_WITH_AS(integrate::rk45([](const auto&, const auto&) { return zeros(2); }, 0, 1, y0),
                         "[rk45] a derivative of shape (2,) for a state of shape (1,); that one is wanted",
                         shape_error);
}

TEST_CASE("solvers work on the device of their first value") {
    const array<double> x0 = array<double>{3, -4}.to(device::host());
    const auto fun = [](const auto& x) { return sum(x * x); };
    const auto jac = [](const auto& x) { return 2 * x; };
    CHECK(optimize::lbfgs(fun, jac, x0).x.device() == device::host());
    CHECK(integrate::rk4([](double, const auto& y) { return -y; }, 0, 1, x0, 3).device() == device::host());
    const auto s = integrate::rk45([](const auto&, const auto& y) { return -y; }, 0, 1, x0);
    CHECK(s.y.device() == device::host());
    CHECK(std::abs(s.y(0).item() - 3 * std::exp(-1.0)) < 5e-3);
}
