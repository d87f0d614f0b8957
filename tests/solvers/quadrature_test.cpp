// Integrals of samples compared with SciPy's: axes, places, odd and even numbers of samples.
#include <ingot/solvers.hpp>

#include "tests/arrays/expect.hpp"
#include "tests/has_scipy.hpp"
#include "tests/joins/numpy_cases.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

TEST_CASE("simpson and cumulative_trapezoid are SciPy's for every number of samples") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(32);
    for (const index_t n : {1, 2, 3, 4, 5, 6, 9, 30}) {
        const array<double> y = drawn<double>({2, n, 3}, static_cast<unsigned>(n)), line = drawn<double>({n}, 7),
                            x = cumsum(abs(drawn<double>({n}, 9)) + 0.5);
        const array<double> grid = cumsum(abs(drawn<double>({2, n, 3}, 8)) + 0.25, 1);
        c.add("integrate.simpson(a, dx=.5)", integrate::simpson(line, {.dx = 0.5}), line);
        c.add("integrate.simpson(a, axis=1)", integrate::simpson(y, {.axis = 1}), y);
        c.add("integrate.simpson(a, x=b, axis=1)", integrate::simpson(y, x, {.axis = 1}), y, x);
        c.add("integrate.simpson(a, x=b, axis=1)", integrate::simpson(y, grid, {.axis = 1}), y, grid);
        c.add("integrate.cumulative_trapezoid(a, dx=.5)", integrate::cumulative_trapezoid(line, {.dx = 0.5}), line);
        c.add("integrate.cumulative_trapezoid(a, axis=1, initial=0)",
              integrate::cumulative_trapezoid(y, {.axis = 1, .initial = 0}), y);
        c.add("integrate.cumulative_trapezoid(a, b, axis=1)", integrate::cumulative_trapezoid(y, x, {.axis = 1}), y, x);
        c.add("integrate.cumulative_trapezoid(a, b, axis=1, initial=0)",
              integrate::cumulative_trapezoid(y, grid, {.axis = 1, .initial = 0}), y, grid);
    }
    const array<int> whole = drawn<int>({8}, 3);
    c.add("integrate.simpson(a)", integrate::simpson(whole), whole);
    const auto single = drawn<float>({3, 8}, 4);
    c.add("integrate.simpson(a, dx=.1).astype('f4')", integrate::simpson(single, {.dx = 0.1}), single);
    c.add("integrate.cumulative_trapezoid(a, dx=.1)", integrate::cumulative_trapezoid(single, {.dx = 0.1}), single);
    const auto z = drawn<std::complex<double>>({7}, 5);
    c.add("integrate.simpson(a)", integrate::simpson(z), z);
    c.add("integrate.cumulative_trapezoid(a)", integrate::cumulative_trapezoid(z), z);
    // Two samples at one place.
    const array<double> y{1, 2, 4, 8, 3, 1}, x{0, 1, 1, 2, 3, 3};
    c.add("integrate.simpson(a, x=b)", integrate::simpson(y, x), y, x);
    c.run();
}

TEST_CASE("an integral of samples is one kernel") {
    const array<double> y = drawn<double>({40, 31}, 1), x = arange<double>(31);
    array<double> result;
    const auto kernels = [&](const auto& e) {
        const auto before = counters().kernel_launches;
        result = e;
        return counters().kernel_launches - before;
    };
    CHECK(kernels(integrate::simpson(y * y) + 1) == 1);
    CHECK(kernels(integrate::simpson(y, x)) == 1);
    CHECK(kernels(integrate::cumulative_trapezoid(y * y, x)) == 1);
}

TEST_CASE("samples that do not fit are said") {
    const array<double> y = zeros({3, 4});
    CHECK_THROWS_WITH_AS(integrate::simpson(zeros({3, 0})), "[simpson] no samples along axis 1; at least one is wanted",
                         shape_error);
    CHECK_THROWS_AS(integrate::simpson(y, zeros(3)), shape_error);
    CHECK_THROWS_AS(integrate::cumulative_trapezoid(y, zeros({4, 3})), shape_error);
    CHECK_THROWS_WITH_AS(integrate::cumulative_trapezoid(y, {.initial = 2}),
                         "[cumulative_trapezoid] an initial value of 2.000000; 0 or none is wanted", error);
}
