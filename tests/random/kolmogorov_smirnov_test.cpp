// The Kolmogorov-Smirnov distance of very many draws, counted in parts: an error of one in ten thousand shows among
// 10^8.
#include <algorithm>
#include <functional>

#include "tests/random/sample.hpp"

using namespace ingot;

namespace {

/// Counts the numbers that are at most low + j * step, in parts, so that they are not all in memory.
class counted_draws {
public:
    counted_draws(double low, double high) : low_(low), step_((high - low) / steps), counts_(steps + 2) {}

    template <class T>
    void add(const array<T>& part) {
        for (const T x : part.to_host()) {
            const double at = std::ceil((static_cast<double>(x) - low_) / step_);
            ++counts_[static_cast<std::size_t>(std::clamp(at, 0.0, steps + 1.0))];
        }
    }
    /// The largest difference from a distribution function.
    double distance(const std::function<double(double)>& below) const {
        double all = 0, most = 0, sum = 0;
        for (const index_t n : counts_) all += static_cast<double>(n);
        for (int j = 0; j <= steps; ++j) {
            sum += static_cast<double>(counts_[static_cast<std::size_t>(j)]);
            most = std::max(most, std::abs(sum / all - below(low_ + j * step_)));
        }
        return most;
    }

private:
    static constexpr int steps = 1 << 16;

    double low_, step_;
    std::vector<index_t> counts_;
};

/// 10^8 draws where INGOT_TEST_ALL is set, else 2 * 10^6; what INGOT_TEST_DRAWS says.
index_t very_many() {
    if (std::getenv("INGOT_TEST_DRAWS") != nullptr) return testing::draws();
    return std::getenv("INGOT_TEST_ALL") != nullptr ? 100'000'000 : 2'000'000;
}

template <class T>
void check_distances() {
    random::generator g(2024);
    counted_draws uniform(0, 1), normal(-6, 6), exponential(0, 20);
    const index_t n = very_many(), part = std::min<index_t>(n, 2'000'000);
    for (index_t i = 0; i < n; i += part) {
        auto [u, v, w] = eval(g.uniform<T>({part}), g.normal<T>({part}), random::exponential<T>(1.0, {part}, g));
        uniform.add(u), normal.add(v), exponential.add(w);
    }
    const double most = testing::most_distance(static_cast<std::size_t>((n + part - 1) / part * part));
    CHECK(uniform.distance([](double x) { return x; }) < most);
    CHECK(normal.distance(testing::normal_below) < most);
    CHECK(exponential.distance([](double x) { return -std::expm1(-x); }) < most);
    CHECK(exponential.distance([most](double x) { return -std::expm1(-x * (1 + 6 * most)); }) > most);  // it can fail
}

}  // namespace

TEST_CASE("10^8 draws are as far from their distributions as draws are") {
    check_distances<float>();
    check_distances<double>();
}
