// Distributions that are made of others against their distribution functions, by draws; choices by chances; generators
// that split.
#include <algorithm>
#include <functional>
#include <numbers>
#include <set>

#include "tests/arrays/expect.hpp"
#include "tests/random/sample.hpp"

using namespace ingot;
using namespace ingot::testing;

namespace {

constexpr double not_known = NAN;

shape_like of_draws() { return {draws() / 4}; }

/// The integral from `low`, by Simpson's rule, of a density that need not integrate to 1.
class integrated {
public:
    integrated(double low, double high, const std::function<double(double)>& height) : low_(low), high_(high) {
        const double step = (high - low) / steps;
        for (int j = 0; j < steps; ++j) {
            const double x = low + j * step;
            sums_.push_back(sums_.back() + (height(x) + 4 * height(x + step / 2) + height(x + step)) * step / 6);
        }
    }
    double operator()(double x) const {
        const double at = (x - low_) / (high_ - low_) * steps;
        const auto j = static_cast<std::size_t>(std::clamp(std::floor(at), 0.0, steps - 1.0));
        return (sums_[j] + (at - static_cast<double>(j)) * (sums_[j + 1] - sums_[j])) / sums_.back();
    }

private:
    static constexpr int steps = 20000;
    double low_, high_;
    std::vector<double> sums_{0};
};

auto negative_binomial_of(double n, double p, int high) {
    const auto log_p = [=](double k) {
        return std::lgamma(n + k) - std::lgamma(n) - std::lgamma(k + 1) + n * std::log(p) + k * std::log(1 - p);
    };
    return of_integers(0, high, summed(0, high, log_p), n * (1 - p) / p, n * (1 - p) / (p * p));
}
auto hypergeometric_of(double good, double bad, double drawn, int low, int high) {
    const auto choose = [](double n, double k) {
        return k < 0 || k > n ? -INFINITY : std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    };
    const auto log_p = [=](double k) { return choose(good, k) + choose(bad, drawn - k) - choose(good + bad, drawn); };
    const double all = good + bad, share = good / all;
    return of_integers(low, high, summed(low, high, log_p), drawn * share,
                       drawn * share * (1 - share) * (all - drawn) / (all - 1));
}

}  // namespace

TEST_CASE("numbers made of normal and gamma ones have their distributions") {
    random::generator g(31);
    const shape_like shape = of_draws();
    auto [one, t, f, few, many, inverse] =
        eval(random::standard_exponential<double>(shape, g), random::standard_t<double>(10, shape, g),
             random::f<float>(6, 20, shape, g), random::noncentral_chisquare<double>(3, 2, shape, g),
             random::noncentral_chisquare<double>(0.5, 5, shape, g), random::wald<double>(2, 3, shape, g));
    check_sample("standard_exponential", one, distribution{0, 15, [](double x) { return -std::expm1(-x); }, 1, 1});
    const auto t_below = [](double x) {
        const double tail = beta_below(5, 0.5, 10 / (10 + x * x)) / 2;
        return x < 0 ? tail : 1 - tail;
    };
    check_sample("standard_t", t, distribution{-8, 8, t_below, 0, 1.25, 200});
    check_sample("f", f,
                 distribution{0, 8, [](double x) { return beta_below(3, 10, 6 * x / (6 * x + 20)); }, 20 / 18.0,
                              2.0 * 400 * 24 / (6 * 324 * 16), 200});
    const auto mixed = [](double df, double nonc) {
        return [=](double x) {
            double sum = 0, weight = std::exp(-nonc / 2);
            for (int i = 0; i < 60; weight *= nonc / 2 / ++i) sum += weight * gamma_below(df / 2 + i, x / 2);
            return sum;
        };
    };
    check_sample("noncentral_chisquare", few, distribution{0, 40, mixed(3, 2), 5, 14, 200});
    check_sample("noncentral_chisquare below 1", many, distribution{0, 50, mixed(0.5, 5), 5.5, 21, 200});
    const auto wald_below = [](double x) {
        if (x <= 0) return 0.0;
        const double root = std::sqrt(3 / x);
        return normal_below(root * (x / 2 - 1)) + std::exp(3.0) * normal_below(-root * (x / 2 + 1));
    };
    check_sample("wald", inverse, distribution{0, 20, wald_below, 2, 8 / 3.0});
}

TEST_CASE("angles and truncated normal numbers have their distributions") {
    random::generator g(32);
    const shape_like shape = of_draws();
    constexpr double pi = std::numbers::pi;
    auto [any_angle, wide, narrow, inside, tail, side] =
        eval(random::vonmises<double>(0, 0, shape, g), random::vonmises<double>(0.5, 2, shape, g),
             random::vonmises<double>(-3, 1e7, shape, g), random::truncated_normal<double>(-1, 2, shape, g),
             random::truncated_normal<float>(3, 5, shape, g),
             random::truncated_normal<double>(0, std::numeric_limits<double>::infinity(), shape, g));
    check_sample("vonmises of 0", any_angle,
                 distribution{-pi, pi, [](double x) { return (x + pi) / (2 * pi); }, 0, pi * pi / 3});
    const integrated of_2(-pi, pi, [](double x) { return std::exp(2 * std::cos(x - 0.5)); });
    check_sample("vonmises of 2", wide, distribution{-pi, pi, of_2, not_known, not_known});
    check_sample(
        "vonmises of 1e7", narrow,
        distribution{-3.002, -2.998, [](double x) { return normal_below((x + 3) * std::sqrt(1e7)); }, -3, 1e-7});
    const auto truncated = [](double a, double b) {
        const double from = normal_below(-b), width = normal_below(-a) - from;
        return [=](double x) { return (normal_below(-a) - normal_below(-x)) / width; };
    };
    const auto normal_density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * pi); };
    const double z = normal_below(2) - normal_below(-1), middle = (normal_density(-1) - normal_density(2)) / z;
    check_sample("truncated_normal", inside,
                 distribution{-1, 2, truncated(-1, 2), middle,
                              1 - (2 * normal_density(2) + normal_density(-1)) / z - middle * middle});
    check_sample("truncated_normal of a tail", tail, distribution{3, 5, truncated(3, 5), not_known, not_known});
    check_sample("truncated_normal of one side", side,
                 distribution{0, 6, truncated(0, 40), std::sqrt(2 / pi), 1 - 2 / pi});
    CHECK(all(tail >= 3 && tail <= 5).item());
    const array<double> far = random::truncated_normal<double>(array<double>{-60, 50}, array<double>{-50, 60}, {9, 2});
    CHECK(all(abs(far) >= 50 && abs(far) <= 60).item());
    CHECK(all(sign(far) == array<double>{-1, 1}).item());
}

TEST_CASE("counts have their distributions") {
    random::generator g(33);
    const shape_like shape = of_draws();
    auto [failures, drawn, few, many, most, nearly_all] =
        eval(random::negative_binomial(4, 0.3, shape, g), random::hypergeometric(15, 25, 20, shape, g),
             random::hypergeometric(30, 50, 4, shape, g), random::hypergeometric<int>(5000, 3000, 700, shape, g),
             random::hypergeometric(3000, 5000, 7500, shape, g), random::hypergeometric(6, 5, 9, shape, g));
    check_sample("negative_binomial", failures, negative_binomial_of(4, 0.3, 120));
    check_sample("hypergeometric(15, 25, 20)", drawn, hypergeometric_of(15, 25, 20, 0, 15));
    check_sample("hypergeometric(30, 50, 4)", few, hypergeometric_of(30, 50, 4, 0, 4));
    check_sample("hypergeometric(5000, 3000, 700)", many, hypergeometric_of(5000, 3000, 700, 300, 600));
    check_sample("hypergeometric(3000, 5000, 7500)", most, hypergeometric_of(3000, 5000, 7500, 2700, 3000));
    check_sample("hypergeometric(6, 5, 9)", nearly_all, hypergeometric_of(6, 5, 9, 4, 6));
    auto [ranks, series, only_ones] =
        eval(random::zipf(7, shape, g), random::logseries(0.7, shape, g), random::logseries(0, shape, g));
    double zeta = 0, zeta_less = 0, zeta_two_less = 0;
    for (int k = 1; k < 2000; ++k)
        zeta += std::pow(k, -7.0), zeta_less += std::pow(k, -6.0), zeta_two_less += std::pow(k, -5.0);
    const double rank = zeta_less / zeta;
    check_sample("zipf", ranks,
                 of_integers(1, 30, summed(1, 30, [&](double k) { return -7 * std::log(k) - std::log(zeta); }), rank,
                             zeta_two_less / zeta - rank * rank));
    const double log_rest = std::log(0.3);
    check_sample(
        "logseries", series,
        of_integers(1, 60,
                    summed(1, 60, [&](double k) { return k * std::log(0.7) - std::log(k) - std::log(-log_rest); }),
                    -0.7 / (0.3 * log_rest), -0.7 * (0.7 + log_rest) / (0.09 * log_rest * log_rest)));
    CHECK(all(only_ones == 1).item());
    // None drawn, all drawn, and parameters that leave no choice.
    const array<std::int64_t> known =
        random::hypergeometric(array<int>{0, 7, 3, 4}, array<int>{5, 0, 4, 4}, array<int>{3, 6, 7, 0}, {4}, g);
    CHECK(known.to_host() == std::vector<std::int64_t>{0, 6, 3, 0});
}

TEST_CASE("shares, counts of outcomes and outcomes along a last axis") {
    random::generator g(34);
    const index_t n = draws() / 4;
    const array<double> alpha{0.5, 1.5, 3};
    const array<double> shares = random::dirichlet<double>(alpha, {n}, g);
    CHECK(shares.shape() == shape_like{n, 3});
    CHECK(all(abs(sum(shares, 1) - 1) < 1e-12).item());
    const double a[] = {0.5, 1.5, 3};
    for (const index_t j : {0, 1, 2}) {
        const double own = a[j], rest = 5 - own;
        check_sample("dirichlet", array<double>(shares(all, j)),
                     distribution{0, 1, [&](double x) { return beta_below(own, rest, x); }, own / 5,
                                  own * rest / (25 * 6), 100});
    }
    // The parameters are so small that their gamma numbers are 0 in float64.
    const array<double> tiny = random::dirichlet<double>(full({4}, 1e-4), {200}, g);
    CHECK(all(isfinite(tiny)).item());
    CHECK(all(abs(sum(tiny, 1) - 1) < 1e-12).item());

    const array<double> p{0.2, 0, 0.5, 0.3};
    const array<std::int64_t> counts = random::multinomial(20, p, {n}, g);
    CHECK(all(sum(counts, 1) == 20).item());
    check_sample("multinomial", array<std::int64_t>(counts(all, 0)), binomial_of(20, 0.2, 0, 20));
    check_sample("multinomial", array<std::int64_t>(counts(all, 2)), binomial_of(20, 0.5, 0, 20));
    check_sample("multinomial", array<std::int64_t>(counts(all, 3)), binomial_of(20, 0.3, 0, 20));
    CHECK(max(counts(all, 1)).item() == 0);
    const array<std::int64_t> rows =
        random::multinomial(array<int>{0, 5}, array<double>{{0.5, 0.5}, {1, 0}}, {3, 2}, g);
    CHECK(rows.shape() == shape_like{3, 2, 2});
    CHECK(rows.to_host() == std::vector<std::int64_t>{0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0});
    CHECK(random::multinomial(3, p).shape() == shape_like{4});

    const array<std::int64_t> outcomes = random::categorical(log(p) + 7, {n}, g);
    for (const index_t k : {0, 1, 2, 3}) {
        const double share = p(k).item(), found = mean(astype<double>(outcomes == k)).item();
        CHECK(std::abs(found - share) <= deviations * std::sqrt(share * (1 - share) / static_cast<double>(n)));
    }
    CHECK(random::categorical(zeros({5, 2, 3}), g).shape() == shape_like{5, 2});
    CHECK(random::categorical(zeros({2, 3}), {7, 2}, g).shape() == shape_like{7, 2});
}

TEST_CASE("composed numbers are the same however they are seen, and take parameters that are expressions") {
    random::generator g(35);
    const auto times = random::wald<double>(array<double>{{1}, {2}}, 3, {2, 50}, g);
    const auto counts = random::negative_binomial(array<double>{{1}, {8}}, 0.4, {2, 50}, g);
    const array<double> a = times;
    const array<std::int64_t> b = counts;
    CHECK(allclose(times(all, slice(3, none, 2)), a(all, slice(3, none, 2)), 1e-12).item());
    CHECK(array_equal(transpose(counts), transpose(b)).item());
    const array<double> bad{-1, NAN, 2};
    CHECK(array_equal(isnan(random::vonmises<double>(0, bad, {3}, g)), array<bool>{true, true, false}).item());
}

TEST_CASE("bad parameters of composed distributions are refused by name") {
    const auto says = [](const std::function<void()>& f, const std::string& what) {
        CHECK(thrown<dtype_error>(f) == what);
    };
    const shape_like s{3};
    using namespace random;
    says([&] { (void)standard_t<double>(0, s); }, "[standard_t] df is 0: a finite number above 0 is wanted");
    says([&] { (void)random::f<double>(1, -1, s); }, "[f] dfden is -1: a finite number above 0 is wanted");
    says([&] { (void)noncentral_chisquare<double>(1, -1, s); },
         "[noncentral_chisquare] nonc is -1: a finite number that is not negative is wanted");
    says([&] { (void)wald<double>(0, 1, s); }, "[wald] mean is 0: a finite number above 0 is wanted");
    says([&] { (void)vonmises<double>(0, -1, s); },
         "[vonmises] kappa is -1: a finite number that is not negative is wanted");
    says([&] { (void)truncated_normal<double>(2, 1, s); },
         "[truncated_normal] lower is 2 and upper is 1: lower < upper is wanted");
    says([&] { (void)negative_binomial(2, 0, s); }, "[negative_binomial] p is 0: a number above 0, up to 1 is wanted");
    says([&] { (void)hypergeometric(2, 3, 6, s); },
         "[hypergeometric] nsample is 6, and ngood + nbad is 5: at most that many can be drawn");
    says([&] { (void)zipf(1, s); }, "[zipf] a is 1: a finite number above 1 is wanted");
    says([&] { (void)logseries(1, s); }, "[logseries] p is 1: a number from 0 to below 1 is wanted");
    says([&] { (void)multinomial(3, array<double>{0.7, 0.7, 0}); },
         "[multinomial] pvals from 0 to 0.7, of which all but the last add up to 1.4: probabilities "
         "from 0 to 1 are wanted, that add up to 1");
    CHECK_THROWS_AS((void)dirichlet<double>(full({}, 1.0)), shape_error);
    CHECK_THROWS_AS((void)categorical(full({}, 1.0)), shape_error);
    CHECK_THROWS_AS((void)standard_exponential<float>({-1}), shape_error);
}

TEST_CASE("a generator splits into others, and is seeded by several words") {
    random::generator g(7), again(7);
    std::vector<random::generator> parts = g.split(3), same = again.split(3), next = g.split(3);
    std::set<std::uint64_t> seen;
    for (std::vector<random::generator>* all_of : {&parts, &next})
        for (random::generator& one : *all_of)
            for (const std::uint64_t word : eval(one.bits<std::uint64_t>({4})).to_host()) seen.insert(word);
    for (const std::uint64_t word : eval(g.bits<std::uint64_t>({4})).to_host()) seen.insert(word);
    CHECK(seen.size() == 28);
    (void)same[0].bits<std::uint64_t>({4});
    (void)same[1].bits<std::uint64_t>({4});
    CHECK(array_equal(parts[1].bits<std::uint64_t>({4}), same[1].bits<std::uint64_t>({4})).item());
    CHECK(g.split(0).empty());

    const shape_like few{5};
    const auto first = [&](random::generator of) { return eval(of.bits<std::uint64_t>(few)).to_host(); };
    CHECK(first(random::generator(std::vector<int>{9})) == first(random::generator(9)));
    CHECK(first(random::generator(std::vector<int>{9, 1})) != first(random::generator(9)));
    CHECK(first(random::generator(std::vector<int>{9, 1})) != first(random::generator(std::vector<int>{1, 9})));
    CHECK(first(random::generator(array<std::uint32_t>{9, 1})) == first(random::generator(std::vector<long>{9, 1})));
    g.seed(std::vector<int>{9, 1});
    CHECK(eval(g.bits<std::uint64_t>(few)).to_host() == first(random::generator(std::vector<int>{9, 1})));
    random::seed(std::vector<int>{9, 1});
    CHECK(eval(random::bits<std::uint64_t>(few)).to_host() == first(random::generator(std::vector<int>{9, 1})));
    CHECK(random::split(2).size() == 2);
}
