// Rules for the number of bins against NumPy 2.
#include <cstdlib>
#include <limits>

#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

constexpr std::pair<bin_rule, const char*> rules[] = {{bin_rule::automatic, "'auto'"},  {bin_rule::fd, "'fd'"},
                                                      {bin_rule::doane, "'doane'"},     {bin_rule::scott, "'scott'"},
                                                      {bin_rule::stone, "'stone'"},     {bin_rule::rice, "'rice'"},
                                                      {bin_rule::sturges, "'sturges'"}, {bin_rule::sqrt, "'sqrt'"}};

template <class T>
void add_edges(numpy_cases& c, const array<T>& x) {
    for (const auto& [rule, text] : rules)
        c.add("np.histogram_bin_edges(a, " + std::string(text) + ")", histogram_bin_edges(x, rule), x);
}

}  // namespace

TEST_CASE("the bins that rules make are NumPy's") {
    numpy_cases c;
    c.forgive(4);
    const array<double> few{1, 2, 2, 3, 3, 3, 4, 9, -1.5}, equal = full({5}, 2.5), one{7};
    array<double> skewed = exp(linspace(-2, 2.5, 400));
    array<double> with_nan = skewed + 0.0;
    with_nan(slice(none, none, 7)) = std::numeric_limits<double>::quiet_NaN();
    add_edges(c, few);
    add_edges(c, skewed);
    add_edges(c, equal);
    add_edges(c, one);
    add_edges(c, zeros(0));
    add_edges(c, drawn<int>({200}, 1));
    add_edges(c, array<std::uint8_t>(astype<std::uint8_t>(arange<int>(300) % 11)));
    for (const auto& [rule, text] : rules) {
        const std::string name(text);
        c.add("np.histogram(a, " + name + ", (0.5, 4))[0]", std::get<0>(histogram(with_nan, rule, {0.5, 4})), with_nan);
        c.add("np.histogram_bin_edges(a, " + name + ", (20, 30))", histogram_bin_edges(skewed, rule, {20, 30}), skewed);
    }
    c.add("np.histogram(a, 'fd', density=True)[0]", std::get<0>(histogram(skewed, bin_rule::fd, density)), skewed);
    c.add("np.histogram(a, 'rice', (1, 5), density=True)[0]",
          std::get<0>(histogram(skewed, bin_rule::rice, {1, 5}, density)), skewed);
    c.run();
}

TEST_CASE("bins so narrow that a place is rounded past them are NumPy's") {
    numpy_cases c;
    random::generator g(3);
    const array<float> x = g.uniform<float>({3000}), far = 1000 + x;
    for (const char* const bins : {"1000000", "100000"}) {
        const int n = std::atoi(bins);
        c.add("np.histogram(a, " + std::string(bins) + ", (0.1, 0.9))[0]", std::get<0>(histogram(x, n, {0.1, 0.9})), x);
    }
    c.add("np.histogram(a, 3000)[0]", std::get<0>(histogram(far, 3000)), far);
    c.add("np.histogram(a, 3000)[0]", std::get<0>(histogram(astype<double>(far), 3000)), astype<double>(far));
    // A range wider than float32 can hold.
    const array<float> ends = (x - 0.5f) * 3.4e38f;
    const array<index_t> counts = std::get<0>(histogram(ends, 10, {-3e38, 3e38}));
    c.add("np.histogram(a.astype('f8'), 10, (-3e38, 3e38))[0]", counts, ends);
    c.run();
}

TEST_CASE("rules for bins refuse what has no finite range") {
    const array<double> x{1, std::numeric_limits<double>::quiet_NaN()};
    CHECK_THROWS_AS((void)histogram(x, bin_rule::fd), error);
    CHECK_THROWS_AS((void)histogram(x, bin_rule::sqrt, {3, 2}), error);
    CHECK_THROWS_AS((void)histogram_bin_edges(array<double>{0, 1e-300, 2e-300, 3e-300, 1e300}, bin_rule::fd), error);
}
