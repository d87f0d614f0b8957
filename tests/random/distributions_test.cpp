// Distributions against their distribution functions, by 10^6 draws; expressions as parameters; and refused parameters.
#include <functional>
#include <memory>
#include <numbers>

#include "tests/arrays/expect.hpp"
#include "tests/random/sample.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using namespace ingot::testing;

namespace {

constexpr double none_known = NAN, euler = 0.57721566490153286;

/// log(x) for positive x.
double log_of(double x) { return x > 0 ? std::log(x) : -1e9; }

template <class T>
void check_transformed(std::uint64_t seed) {
    random::generator g(seed);
    const shape_like shape{draws()};
    {
        auto [uniform, normal, standard, lognormal, exponential, laplace] =
            eval(random::uniform<T>(-2, 3, shape, g), random::normal<T>(1, 2.5, shape, g),
                 random::standard_normal<T>(shape, g), random::lognormal<T>(0.5, 0.25, shape, g),
                 random::exponential<T>(2.5, shape, g), random::laplace<T>(1, 2, shape, g));
        check_sample("uniform", uniform, distribution{-2, 3, [](double x) { return (x + 2) / 5; }, 0.5, 25 / 12.0});
        check_sample("normal", normal,
                     distribution{-10, 12, [](double x) { return normal_below((x - 1) / 2.5); }, 1, 6.25});
        check_sample("standard_normal", standard, distribution{-5, 5, normal_below, 0, 1});
        const double square = 0.25 * 0.25;
        check_sample("lognormal", lognormal,
                     distribution{0, 6, [](double x) { return normal_below((log_of(x) - 0.5) / 0.25); },
                                  std::exp(0.5 + square / 2), std::expm1(square) * std::exp(1 + square)});
        check_sample("exponential", exponential,
                     distribution{0, 30, [](double x) { return -std::expm1(-x / 2.5); }, 2.5, 6.25});
        check_sample("laplace", laplace,
                     distribution{-20, 22,
                                  [](double x) {
                                      const double tail = std::exp(-std::abs(x - 1) / 2) / 2;
                                      return x < 1 ? tail : 1 - tail;
                                  },
                                  1, 8});
    }
    {
        auto [logistic, gumbel, rayleigh, weibull, pareto, power] = eval(
            random::logistic<T>(1, 2, shape, g), random::gumbel<T>(1, 2, shape, g), random::rayleigh<T>(2, shape, g),
            random::weibull<T>(1.5, shape, g), random::pareto<T>(6, shape, g), random::power<T>(2.5, shape, g));
        constexpr double pi = std::numbers::pi;
        check_sample(
            "logistic", logistic,
            distribution{-20, 22, [](double x) { return 1 / (1 + std::exp((1 - x) / 2)); }, 1, 4 * pi * pi / 3});
        check_sample("gumbel", gumbel,
                     distribution{-5, 25, [](double x) { return std::exp(-std::exp((1 - x) / 2)); }, 1 + 2 * euler,
                                  4 * pi * pi / 6});
        check_sample("rayleigh", rayleigh,
                     distribution{0, 10, [](double x) { return -std::expm1(-x * x / 8); }, 2 * std::sqrt(pi / 2),
                                  4 * (2 - pi / 2)});
        const double third = std::tgamma(1 + 2 / 3.0), two_thirds = std::tgamma(1 + 4 / 3.0);
        check_sample("weibull", weibull,
                     distribution{0, 5, [](double x) { return -std::expm1(-std::pow(x, 1.5)); }, third,
                                  two_thirds - third * third});
        check_sample("pareto", pareto,
                     distribution{0, 3, [](double x) { return 1 - std::pow(1 + x, -6); }, 0.2, 6 / (25 * 4.0)});
        check_sample("power", power,
                     distribution{0, 1, [](double x) { return std::pow(x, 2.5); }, 2.5 / 3.5, 2.5 / (3.5 * 3.5 * 4.5)});
    }
    auto [cauchy, triangular, rising] =
        eval(random::standard_cauchy<T>(shape, g), random::triangular<T>(-1, 0, 3, shape, g),
             random::triangular<T>(2, 3, 3, shape, g));
    check_sample(
        "standard_cauchy", cauchy,
        distribution{-50, 50, [](double x) { return 0.5 + std::atan(x) / std::numbers::pi; }, none_known, none_known});
    check_sample(
        "triangular", triangular,
        distribution{-1, 3, [](double x) { return x < 0 ? (x + 1) * (x + 1) / 4 : 1 - (3 - x) * (3 - x) / 12; },
                     2 / 3.0, (1 + 9 + 3) / 18.0});
    check_sample("triangular to its top", rising,
                 distribution{2, 3, [](double x) { return (x - 2) * (x - 2); }, 8 / 3.0, 1 / 18.0});
}

}  // namespace

TEST_CASE("a sample of other parameters is found out") {
    random::generator g(1);
    const auto sample = eval(random::normal<double>(0, 1, {draws()}, g)).to_host();
    const auto of = [](double loc, double scale) {
        return distribution{-5, 5, [=](double x) { return normal_below((x - loc) / scale); }, loc, scale * scale};
    };
    CHECK(distance(sample, of(0, 1)) < most_distance(sample.size()));
    if (draws() < 1'000'000) return;  // too few to find out
    CHECK(distance(sample, of(0, 1.02)) > most_distance(sample.size()));
    CHECK(distance(sample, of(0.01, 1)) > most_distance(sample.size()));
}

TEST_CASE("transformed float64 have their distributions") { check_transformed<double>(11); }

TEST_CASE("transformed float32 have their distributions") { check_transformed<float>(12); }

TEST_CASE("numbers by rejection have their distributions") {
    random::generator g(13);
    const shape_like shape{draws()};
    {
        auto [wide, narrow, squares, beta, mixed] =
            eval(random::gamma<double>(2.5, 2, shape, g), random::gamma<double>(0.5, 1, shape, g),
                 random::chisquare<float>(3, shape, g), random::beta<double>(2.5, 4, shape, g),
                 random::beta<double>(0.5, 1.5, shape, g));
        check_sample("gamma", wide, distribution{0, 40, [](double x) { return gamma_below(2.5, x / 2); }, 5, 10});
        check_sample("gamma below 1", narrow,
                     distribution{0, 10, [](double x) { return gamma_below(0.5, x); }, 0.5, 0.5});
        check_sample("chisquare", squares, distribution{0, 30, [](double x) { return gamma_below(1.5, x / 2); }, 3, 6});
        const auto variance = [](double a, double b) { return a * b / ((a + b) * (a + b) * (a + b + 1)); };
        check_sample(
            "beta", beta,
            distribution{0, 1, [](double x) { return beta_below(2.5, 4, x); }, 2.5 / 6.5, variance(2.5, 4), 100});
        check_sample(
            "beta below 1", mixed,
            distribution{0, 1, [](double x) { return beta_below(0.5, 1.5, x); }, 0.25, variance(0.5, 1.5), 100});
    }
    // Both gamma numbers of such a ratio are too small for a double.
    const array<double> ends = random::beta<double>(1e-9, 2e-9, 10000, g);
    CHECK(all((ends < 1e-300) | (ends > 1 - 1e-15)).item());
    CHECK(std::abs(mean(ends).item() - 1 / 3.0) < 0.03);
    auto [few, some, many, huge, of_20, of_1000] =
        eval(random::poisson(3.5, shape, g), random::poisson<int>(20, shape, g), random::poisson(5000, shape, g),
             random::poisson(1e12, shape, g), random::binomial(20, 0.3, shape, g),
             random::binomial<int>(1000, 0.6, shape, g));
    check_sample("poisson(3.5)", few, poisson_of(3.5, 0, 30));
    check_sample("poisson(20)", some, poisson_of(20, 0, 80));
    check_sample("poisson(5000)", many, poisson_of(5000, 4000, 6000));
    check_sample(
        "poisson(1e12)", huge,
        distribution{1e12 - 5e6, 1e12 + 5e6, [](double x) { return normal_below((x - 1e12) / 1e6); }, 1e12, 1e12});
    check_sample("binomial(20, 0.3)", of_20, binomial_of(20, 0.3, 0, 20));
    check_sample("binomial(1000, 0.6)", of_1000, binomial_of(1000, 0.6, 0, 1000));
}

TEST_CASE("trials have their distributions") {
    random::generator g(14);
    const shape_like shape{draws()};
    auto [heads, first, never, always, at_once] =
        eval(random::bernoulli(0.3, shape, g), random::geometric(0.2, shape, g), random::bernoulli(0, shape, g),
             random::bernoulli(1, shape, g), random::geometric<std::int8_t>(1, shape, g));
    check_sample("bernoulli", astype<int>(heads),
                 of_integers(0, 1, [](double x) { return x < 0.5 ? 0.7 : 1; }, 0.3, 0.21));
    check_sample("geometric", first, of_integers(0, 60, [](double x) { return 1 - std::pow(0.8, x); }, 5, 0.8 / 0.04));
    CHECK(!any(never).item());
    CHECK(all(always).item());
    CHECK(all(at_once == 1).item());
}

TEST_CASE("parameters that are expressions give each element what a number would") {
    const with_math exactly(strict);  // else a product is rounded or not, as the compiler likes
    const array<double> one_or_two{{1}, {2}}, chance{0.25, 0.5, 1};
    const auto rows_of = [&](const auto& by) {
        const auto [given, one, two] = eval(by(one_or_two * 1), by(1), by(2));
        CHECK(array_equal(given(0), one(0)).item());
        CHECK(array_equal(given(1), two(1)).item());
        CHECK(!array_equal(one, two).item());
    };
    const shape_like shape{2, 300};
    const auto begun = [g = std::make_shared<random::generator>(0)]() -> random::generator& { return g->seed(5), *g; };
    rows_of([&](const auto& p) { return random::exponential<double>(p, shape, begun()); });
    rows_of([&](const auto& p) { return random::normal<double>(p, 3, shape, begun()); });
    rows_of([&](const auto& p) { return random::gamma<double>(3, p, shape, begun()); });
    rows_of([&](const auto& p) { return random::poisson(p, shape, begun()); });
    rows_of([&](const auto& p) { return random::uniform<double>(p, 4.0, shape, begun()); });
    random::generator g(9);
    const auto heads = eval(random::bernoulli(chance, {200, 3}, g));
    CHECK(all(heads(all, 2)).item());
    CHECK(!all(heads(all, 1)).item());
    // Parameters outside the domain give NaN, and the kernel ends.
    const array<double> bad{-1, NAN, INFINITY};
    const auto [k, lam, n] =
        eval(random::gamma<double>(bad, 1, 3, g), random::poisson(bad, 3, g), random::binomial(3, bad, 3, g));
    CHECK(isnan(k(0)).item());
    CHECK(lam.shape() == n.shape());
}

TEST_CASE("numbers do not depend on how they are seen, and take no kernel of their own") {
    random::generator g(21);
    const auto times = random::exponential<double>(2, {40, 50}, g);
    const auto counts = random::poisson<int>(30, {40, 50}, g);
    const auto sizes = random::gamma<float>(0.7, 2, {40, 50}, g);
    const auto [a, b, c] = eval(times, counts, sizes);
    const auto part = [](const auto& e) { return transpose(e)(slice(3, 40, 2), slice(none, none, -1)); };
    CHECK(array_equal(part(counts), part(b)).item());
    CHECK(allclose(part(times), part(a), 1e-14).item());
    CHECK(allclose(part(sizes), part(c), 1e-6).item());
    CHECK(launches([&] { (void)eval(sum(times * counts, 1)); }) == 1);
    CHECK(launches([&] { (void)eval(where(random::bernoulli(0.5, {40, 50}), times, 0) + sizes); }) == 1);
}

TEST_CASE("numbers like an array have its shape and dtype") {
    const array<float> e = zeros<float>({2, 3});
    random::generator g(4), again(4);
    CHECK(array_equal(random::uniform_like(e, 0, 1, g), again.uniform<float>({2, 3})).item());
    CHECK(array_equal(random::normal_like(e, 0, 1, g), again.normal<float>({2, 3})).item());
    CHECK(array_equal(random::integers_like(zeros<std::int16_t>({2, 3}), -5, 5, g),
                      random::integers<std::int16_t>(-5, 5, {2, 3}, again))
              .item());
    const auto half = random::exponential<float16>(1, {2, 3}, g);
    CHECK(name(half.eval().dtype()) == "float16");
}

TEST_CASE("bad parameters are refused by name") {
    const auto says = [](const std::function<void()>& f, const std::string& what) {
        CHECK(thrown<dtype_error>(f) == what);
    };
    const shape_like s{3};
    using namespace random;
    says([&] { (void)exponential<float>(-1, s); },
         "[exponential] scale is -1: a finite number that is not negative is wanted");
    says([&] { (void)normal<float>(0, -0.5, s); },
         "[normal] scale is -0.5: a finite number that is not negative is wanted");
    says([&] { (void)normal<float>(NAN, 1, s); }, "[normal] loc is nan: a finite number is wanted");
    says([&] { (void)lognormal<float>(0, -1, s); },
         "[lognormal] sigma is -1: a finite number that is not negative is wanted");
    says([&] { (void)uniform<double>(2, 2, s); }, "[uniform] low is 2 and high is 2: low < high is wanted");
    says([&] { (void)uniform<double>(-1e308, 1e308, s); },
         "[uniform] from -1e+308 to 1e+308: a width that the type can hold is wanted");
    says([&] { (void)uniform<float>(0, 1e39, s); },
         "[uniform] from 0 to inf: a width that the type can hold is wanted");
    says([&] { (void)triangular<double>(-1e308, 0, 1e308, s); },
         "[triangular] from -1e+308 to 1e+308: a width that the type can hold is wanted");
    CHECK(all(isfinite(uniform<double>(-8e307, 8e307, s))).item());
    says([&] { (void)triangular<double>(0, 4, 3, s); },
         "[triangular] mode is 4 and right is 3: mode <= right is wanted");
    says([&] { (void)bernoulli(1.5, s); }, "[bernoulli] p is 1.5: a number from 0 to 1 is wanted");
    says([&] { (void)geometric(0, s); }, "[geometric] p is 0: a number above 0, up to 1 is wanted");
    says([&] { (void)weibull<float>(0, s); }, "[weibull] a is 0: a finite number above 0 is wanted");
    says([&] { (void)gamma<float>(0, 1, s); }, "[gamma] k is 0: a finite number above 0 is wanted");
    says([&] { (void)beta<float>(1, -2, s); }, "[beta] b is -2: a finite number above 0 is wanted");
    says([&] { (void)poisson(INFINITY, s); }, "[poisson] lam is inf: a finite number that is not negative is wanted");
    says([&] { (void)binomial(-1, 0.5, s); }, "[binomial] n is -1: an integer from 0 to 2^53 is wanted");
    says([&] { (void)integers<int>(5, 5, s); },
         "[integers] from 5 to below 5: a range of int32 that is not empty is wanted");
    says([&] { (void)integers<int>(5, 4, s, true); },
         "[integers] from 5 up to 4: a range of int32 that is not empty is wanted");
    says([&] { (void)integers<std::int8_t>(0, 129, s); },
         "[integers] from 0 to below 129: a range of int8 that is not empty is wanted");
    says([&] { (void)integers<std::uint8_t>(-1, 5, s, true); },
         "[integers] from -1 up to 5: a range of uint8 that is not empty is wanted");
    says([&] { (void)integers<std::uint8_t>(array<int>{1, 2, 3}, 257, s); },
         "[integers] from low to below 257: a range of uint8 that is not empty is wanted");
    CHECK(thrown<shape_error>([&] { (void)exponential<float>(array<float>{1, 2}, s); }).find("[exponential]") == 0);
    CHECK(thrown<shape_error>([&] { (void)integers<int>(0, array<int>{1, 2}, s); }).find("[integers]") == 0);
    CHECK(thrown<shape_error>([&] { (void)poisson(3, {-1}); }).find("[poisson]") == 0);
}
