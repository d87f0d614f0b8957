// Minimisers: known minima, the number of steps, and why they end.
#include <string>

#include <ingot/ingot.hpp>
#include <ingot/solvers.hpp>

#include "tests/arrays/expect.hpp"

using namespace ingot;
using optimize::ending;

namespace {

/// Rosenbrock's function of neighbouring elements, whose minimum is 0 at 1, 1, ...
const auto rosenbrock = [](const auto& x) {
    const auto a = x(slice(0, -1)), b = x(slice(1, none));
    return sum(100 * square(b - a * a) + square(1 - a));
};
const auto its_gradient = [](const auto& x) {
    const auto a = x(slice(0, -1)), b = x(slice(1, none));
    return pad(-400 * a * (b - a * a) - 2 * (1 - a), {{0, 1}}) + pad(200 * (b - a * a), {{1, 0}});
};
const auto its_curvature = [](const array<double>& x) {
    const index_t n = x.size();
    const array<double> a = x(slice(0, -1)), b = x(slice(1, none));
    const array<double> on = pad(1200 * a * a - 400 * b + 2, {{0, 1}}) + pad(200 * ones(n - 1), {{1, 0}});
    const array<double> beside = -400 * a;
    return array<double>(diag(on) + diag(beside, 1) + diag(beside, -1));
};

}  // namespace

TEST_CASE("lbfgs finds the minimum of Rosenbrock's function") {
    for (const index_t n : {2, 50}) {
        const auto found =
            optimize::lbfgs(rosenbrock, its_gradient, array<double>(full<double>(n, -1.2)), {.gtol = 1e-8, .ftol = 0});
        CAPTURE(n);
        CHECK(found.reason == ending::gradient_small);
        CHECK(found.gradient <= 1e-8);
        // SciPy's L-BFGS-B takes 29 and 288 iterations of 36 and 337 evaluations.
        CHECK(found.iterations < (n == 2 ? 40 : 320));
        CHECK(found.evaluations < (n == 2 ? 55 : 380));
        CHECK(found.fun < 1e-15);
        CHECK(max(abs(found.x - 1)).item() < 1e-6);
    }
}

TEST_CASE("newton finds it in fewer steps, by matrices and by products") {
    const array<double> start = full<double>(10, -1.2);
    const auto found = optimize::newton(rosenbrock, its_gradient, its_curvature, start, {.gtol = 1e-9, .ftol = 0});
    CHECK(found.reason == ending::gradient_small);
    CHECK(max(abs(found.x - 1)).item() < 1e-8);
    CHECK(found.iterations < 60);
    const auto product = [](const array<double>& x, const array<double>& p) { return matmul(its_curvature(x), p); };
    const auto again = optimize::newton(rosenbrock, its_gradient, product, start, {.gtol = 1e-9, .ftol = 0});
    CHECK(again.reason == ending::gradient_small);
    CHECK(max(abs(again.x - 1)).item() < 1e-8);
}

TEST_CASE("a quadratic of any shape, in float32, of value and gradient together") {
    const array<float> target{{1, -2, 3}, {4, 5, -6}}, weights{{1, 2, 3}, {4, 50, 6}};
    const auto both = [&](const auto& x) {
        const auto apart = x - target;
        return std::tuple(sum(weights * square(apart)), 2 * weights * apart);
    };
    const auto found = optimize::lbfgs(both, zeros<float>({2, 3}), {.gtol = 1e-3, .ftol = 0});
    CHECK(found.reason == ending::gradient_small);
    CHECK(found.x.shape() == shape_like{2, 3});
    CHECK(max(abs(found.x - target)).item() < 1e-3f);
}

TEST_CASE("a minimiser says why it ended") {
    const auto fun = [](const auto& x) { return sum(x * x); };
    const auto jac = [](const auto& x) { return 2 * x; };
    const auto wrong = [](const auto& x) { return -2 * x; };
    const array<double> x0{3, -4};
    CHECK(optimize::lbfgs(fun, wrong, x0).reason == ending::line_search_failed);
    CHECK(optimize::lbfgs(rosenbrock, its_gradient, x0, {.maxiter = 3}).reason == ending::iterations_spent);
    CHECK(optimize::lbfgs(rosenbrock, its_gradient, x0, {.gtol = 0, .ftol = 1e-2}).reason == ending::value_settled);
    CHECK(optimize::lbfgs(fun, jac, zeros(2)).iterations == 0);
    CHECK(optimize::lbfgs(fun, jac, zeros(0)).reason == ending::gradient_small);
    const auto of_three = [](const auto&...) { return zeros(3); };
    const std::string wrong_gradient =
        "a value of shape () and a gradient of shape (3,); one number, and the shape of the place, are wanted";
    CHECK_THROWS_WITH_AS(optimize::lbfgs(fun, of_three, x0), ("[lbfgs] " + wrong_gradient).c_str(), shape_error);
    CHECK_THROWS_WITH_AS(optimize::newton(fun, of_three, of_three, x0), ("[newton] " + wrong_gradient).c_str(),
                         shape_error);
    CHECK_THROWS_WITH_AS(optimize::newton(fun, jac, of_three, x0),
                         "[newton] second derivatives of shape (3,); (2,) is wanted", shape_error);
    CHECK_THROWS_WITH_AS(optimize::newton(
                             fun, jac, [](const array<double>&) { return zeros(3); }, x0),
                         "[newton] second derivatives of shape (3,); (2, 2) is wanted", shape_error);
}
