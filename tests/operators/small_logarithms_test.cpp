// Products with logarithms: they meet the table's bound also where the logarithm is small and an error in its last
// place grows.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/arrays/expect.hpp"

using namespace ingot;

TEST_CASE("products with a logarithm keep their bound where the logarithm is small") {
    std::vector<float> places;  // around 0.87, where the logarithm begins a binade and the product ends one
    for (std::uint32_t bits = 0x3f5a0000; bits < 0x3f620000; bits += 3) places.push_back(std::bit_cast<float>(bits));
    const array<float> x = asarray(places);
    double worst = 0;
    const auto judge = [&](const std::vector<float>& got, auto wanted) {
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double right = wanted(static_cast<double>(places[i]));
            const double unit = std::ldexp(1.0, std::ilogb(right) - std::numeric_limits<float>::digits + 1);
            worst = std::max(worst, std::abs(static_cast<double>(got[i]) - right) / unit);
        }
    };
    judge(entr(x).to_host(), [](double a) { return -a * std::log(a); });
    judge(xlogy(x, x).to_host(), [](double a) { return a * std::log(a); });
    CHECK(worst <= detail::facts(detail::op::entr).ulp);
}
