// Searches, bins, points between points and scattered sums where there is no compiler: the interpreter has the texts of
// the library's own kernels. A program of its own, so that no kernel of another test is there.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"

using namespace ingot;

namespace {

template <class F>
void check_interpreted(const char* what, const F& f) {
    const auto before = counters();
    f();
    CHECK_MESSAGE(counters().interpreter_runs > before.interpreter_runs, std::string(what));
    CHECK_MESSAGE(counters().compiles == before.compiles, std::string(what));
}

}  // namespace

TEST_CASE("without a compiler searches, bins and scattered sums of every dtype are interpreted") {
    const with_device host(device::host());
    const test::environment_variable no_compiler("INGOT_CXX", "/there/is/no/compiler");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const array<double> x{0.5, 3, 2.25, nan, -1, 9}, points{1, 2, 3, 4};
    check_interpreted("searchsorted", [&] {
        CHECK(holds(searchsorted(points, x * 1) + 100, {6}, {100, 102, 102, 104, 100, 104}));
        CHECK(holds(searchsorted(points, x * 1, search_side::right) + 100, {6}, {100, 103, 102, 104, 100, 104}));
        CHECK(holds(searchsorted(array<std::uint8_t>{1, 5, 9}, array<std::uint8_t>{5, 7} + std::uint8_t{0}) + 100, {2},
                    {101, 102}));
        const array<float16> halves{float16(1.0f), float16(2.0f)};
        CHECK(holds(searchsorted(halves, abs(array<float16>{float16(-1.5f)})) + 100, {1}, {101}));
    });
    check_interpreted("digitize", [&] {
        CHECK(holds(digitize(x * 1, points) + 100, {6}, {100, 103, 102, 104, 100, 104}));
        CHECK(holds(digitize(x * 1, flip(points, 0)) + 100, {6}, {104, 101, 102, 100, 104, 100}));
    });
    check_interpreted("interp", [&] {
        const array<double> y = interp(x * 1, points, points * 10) + 0;
        CHECK(holds(y(array<int>{0, 1, 2, 4, 5}), {5}, {10, 30, 22.5, 10, 40}));
        CHECK(std::isnan(y(3).item()));
    });
    check_interpreted("histogram", [&] {
        CHECK(holds(std::get<0>(histogram(array<double>{.1, .2, .9, .5, 1}, 4, {0, 1})), {4}, {2, 0, 1, 2}));
        CHECK(holds(std::get<0>(histogram(array<float>{1, 2, 3, 9}, array<float>{1, 2.5, 9})), {2}, {2, 2}));
    });
    check_interpreted("histogram2d", [&] {
        CHECK(holds(std::get<0>(histogram2d(array<double>{.1, .2, .9}, array<double>{.1, .8, .9}, 2)), {2, 2},
                    {1, 1, 0, 1}));
    });
    check_interpreted("scattered sums", [&] {
        const array<int> at{0, 0, 2};
        array<float16> half = zeros<float16>(3);
        scatter_add(half(at), float16(1.5f));
        scatter_max(half(array<int>{1, 1}), array<float16>{float16(3.0f), float16(2.0f)});
        CHECK(holds(astype<float>(half), {3}, {3, 3, 1.5}));
        array<bfloat16> brain = zeros<bfloat16>(3);
        scatter_add(brain(at), 1.5f);
        CHECK(holds(astype<float>(brain), {3}, {3, 0, 1.5}));
        array<std::complex<double>> pairs = zeros<std::complex<double>>(3);
        scatter_add(pairs(at), std::complex<double>(1, 2));
        CHECK(holds(real(pairs), {3}, {2, 0, 1}));
        CHECK(holds(imag(pairs), {3}, {4, 0, 2}));
    });
}
