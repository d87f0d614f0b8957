// Quantiles of elements that are infinite, NaN or far apart, by every method.
#include <limits>

#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"

using namespace ingot;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), missing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a discrete quantile is an element, whatever is beside it") {
    using enum quantile_method;
    const array<double> up{1, 2, inf}, down{0, -inf, 1}, both{inf, -inf, 3, -inf, inf};
    testing::numpy_cases c;
    const std::vector<double> parts{0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1};
    const std::string q = "[0, .1, .25, .4, .5, .6, .75, .9, 1]";
    const std::pair<quantile_method, const char*> methods[] = {{lower, "lower"},
                                                               {higher, "higher"},
                                                               {inverted_cdf, "inverted_cdf"},
                                                               {closest_observation, "closest_observation"}};
    for (const auto& [method, name] : methods) {
        const std::string how = "(a, " + q + ", method='" + name + "')";
        for (const array<double>& x : {up, down, both}) {
            c.add("np.quantile" + how, quantile(x, parts, {}, method), x);
            c.add("np.quantile" + how, nanquantile(x, parts, {}, method), x);
        }
        const array<double> holes{missing, 1, 2, missing, inf};
        c.add("np.nanquantile" + how, nanquantile(holes, parts, {}, method), holes);
        // Long enough for selecting.
        const array<double> long_row = repeat(both, 500);
        c.add("np.quantile" + how, quantile(long_row, parts, {}, method), long_row);
    }
    c.run();
    CHECK(quantile(up, 0.6, {}, lower).item() == 2);
    CHECK(quantile(up, 1, {}, inverted_cdf).item() == inf);
    CHECK(quantile(down, {0, 0.5, 0.6, 1}, {}, nearest).to_host() == std::vector<double>{-inf, 0, 0, 1});
    CHECK(nanquantile(array<float>{NAN, 1, INFINITY}, 0, {}, nearest).item() == 1);
    // The mean of two elements, or one of them.
    CHECK(quantile(up, 0.5, {}, midpoint).item() == 2);
    CHECK(quantile(up, 0.5, {}, averaged_inverted_cdf).item() == 2);
    CHECK(quantile(array<double>{1, 3, inf}, 1 / 3.0, {}, averaged_inverted_cdf).item() == 2);
}

TEST_CASE("quantiles of float32 are rounded once") {
    const array<float> x{-1, 1.0000001f}, far{16777216, 16777218, -3e38f, 3e38f};
    const array<double> wide = astype<double>(x), far_wide = astype<double>(far);
    for (const double q : {0.1, 0.3, 0.49999999, 0.5, 0.7})
        for (const auto method : {quantile_method::linear, quantile_method::hazen, quantile_method::weibull}) {
            CHECK(quantile(x, q, {}, method).item() == static_cast<float>(quantile(wide, q, {}, method).item()));
            CHECK(quantile(far, q, {}, method).item() == static_cast<float>(quantile(far_wide, q, {}, method).item()));
        }
}
