// Permutations and choices: that they are valid, that all have the right probability, and refused arguments.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/arrays/expect.hpp"
#include "tests/random/sample.hpp"

using namespace ingot;
using namespace ingot::testing;

namespace {

/// Pearson's sum over counts that are expected to be in these proportions.
double chi_square(const std::vector<index_t>& counts, const std::vector<double>& shares) {
    const double all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), index_t{0}));
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double expected = all * shares[i];
        sum += (static_cast<double>(counts[i]) - expected) * (static_cast<double>(counts[i]) - expected) / expected;
    }
    return sum;
}

std::vector<index_t> counted(const std::vector<std::int64_t>& numbers, std::size_t kinds) {
    std::vector<index_t> counts(kinds);
    for (const std::int64_t n : numbers) ++counts.at(static_cast<std::size_t>(n));
    return counts;
}

}  // namespace

TEST_CASE("a permutation has every number once, and all orders are as likely") {
    random::generator g(1);
    const auto order = random::permutation(10'000, g);
    const auto once = eval(order).to_host(), again = eval(order).to_host();
    CHECK(once == again);
    CHECK_FALSE(std::ranges::is_sorted(once));
    CHECK(eval(random::permutation(10'000, g)).to_host() != once);
    auto sorted = once;
    std::ranges::sort(sorted);
    std::vector<std::int64_t> wanted(10'000);
    std::iota(wanted.begin(), wanted.end(), 0);
    CHECK(sorted == wanted);
    CHECK(random::permutation(0, g).eval().size() == 0);

    std::map<std::vector<std::int64_t>, index_t> seen;
    for (int i = 0; i < 6000; ++i) ++seen[eval(random::permutation(3, g)).to_host()];
    std::vector<index_t> counts;
    for (const auto& [_, n] : seen) counts.push_back(n);
    REQUIRE(counts.size() == 6);
    CHECK(chi_square(counts, std::vector<double>(6, 1 / 6.0)) < 25.7);  // one of 10,000 exceeds this at five degrees
}

TEST_CASE("slices of an array are permuted and shuffled whole") {
    random::generator g(2);
    const array<int> m = reshape(arange<int>(15), {5, 3});
    const array<int> rows = random::permutation(m, g);
    CHECK(rows.shape() == shape_like{5, 3});
    CHECK(all(rows(all, 1) == rows(all, 0) + 1).item());
    CHECK(eval(sort(rows(all, 0))).to_host() == std::vector<int>{0, 3, 6, 9, 12});
    array<int> mine = m;
    random::shuffle(mine, g);
    CHECK(eval(sort(mine(all, 2))).to_host() == std::vector<int>{2, 5, 8, 11, 14});
    CHECK(eval(sum(m)).item() == eval(sum(mine)).item());
    const auto twice = eval(random::permutation(m * 2, g)(all, 0) / 6).to_host();
    CHECK(std::set<double>(twice.begin(), twice.end()) == std::set<double>{0, 1, 2, 3, 4});
}

TEST_CASE("choices with putting back and without, evenly and by weights") {
    random::generator g(3);
    constexpr index_t n = 40'000;
    const array<double> weights{3, 0, 1, 4};
    const auto even = eval(random::choice(4, {n}, true, g)).to_host();
    CHECK(chi_square(counted(even, 4), {0.25, 0.25, 0.25, 0.25}) < 21.1);
    const auto weighed = counted(eval(random::choice(4, {n / 4, 4}, weights, true, g)).to_host(), 4);
    CHECK(weighed[1] == 0);
    CHECK(chi_square({weighed[0], weighed[2], weighed[3]}, {3 / 8.0, 1 / 8.0, 4 / 8.0}) < 18.4);

    const auto few = eval(random::choice(1000, {10, 20}, false, g)).to_host();
    CHECK(std::set<std::int64_t>(few.begin(), few.end()).size() == 200);
    CHECK(random::choice(1000, {10, 20}, false, g).shape() == shape_like{10, 20});
    // The first is drawn by its share, the second by its share of the rest.
    std::vector<double> shares;
    for (const double a : {3, 1, 4})
        for (const double b : {3, 1, 4})
            if (a != b) shares.push_back(a / 8 * b / (8 - a));
    std::vector<index_t> found;
    std::map<std::vector<std::int64_t>, index_t> orders;
    for (int i = 0; i < 6000; ++i) ++orders[eval(random::choice(4, {2}, weights, false, g)).to_host()];
    for (const std::int64_t a : {0, 2, 3})
        for (const std::int64_t b : {0, 2, 3})
            if (a != b) found.push_back(orders[{a, b}]);
    CHECK(chi_square(found, shares) < 25.7);

    const array<float> values{1.5F, 2.5F};
    const auto taken = eval(random::choice(values, {100}, true, g)).to_host();
    CHECK(std::ranges::all_of(taken, [](float x) { return x == 1.5F || x == 2.5F; }));
    CHECK(random::choice(0, {0}, true, g).eval().size() == 0);
    CHECK(random::choice(0, {0}, zeros<double>({0}), true, g).eval().size() == 0);
}

TEST_CASE("few of many are drawn without replacement, all orders of them as likely") {
    random::generator g(4);
    const auto some = random::choice(1'000'000, {1000}, false, g);
    const auto once = eval(some).to_host(), again = eval(some).to_host();
    CHECK(once == again);
    CHECK(std::set<std::int64_t>(once.begin(), once.end()).size() == 1000);
    CHECK(std::ranges::all_of(once, [](std::int64_t i) { return i >= 0 && i < 1'000'000; }));
    CHECK(eval(random::choice(1'000'000, {1000}, false, g)).to_host() != once);

    // They are the different ones of draws with replacement, in order.
    for (const auto& [n, wanted] : {std::pair<int, std::size_t>{1 << 20, 5000}, {9, 4}, {6000, 3000}}) {
        random::generator same(11), other(11);
        std::vector<std::int64_t> different;
        std::set<std::int64_t> seen;
        for (const int i : eval(random::integers<int>(0, n, {30'000}, other)).to_host())
            if (different.size() < wanted && seen.insert(i).second) different.push_back(i);
        CHECK(eval(random::choice(n, {static_cast<index_t>(wanted)}, false, same)).to_host() == different);
        CHECK(array_equal(same.bits<std::uint32_t>({8}), other.bits<std::uint32_t>({8})).item());
    }

    if (current_device().is_cuda()) return;  // the numbers are those of the host

    std::map<std::vector<std::int64_t>, index_t> pairs;
    for (int i = 0; i < 6000; ++i) ++pairs[eval(random::choice(8, {2}, false, g)).to_host()];
    std::vector<index_t> counts;
    for (const auto& [pair, n] : pairs) {
        CHECK(pair[0] != pair[1]);
        counts.push_back(n);
    }
    REQUIRE(counts.size() == 56);
    CHECK(chi_square(counts, std::vector<double>(56, 1 / 56.0)) < 103);  // one of 10,000 exceeds this at 55 degrees

    // A half of the population, where many draws are repeated: each is drawn as often.
    std::vector<std::int64_t> drawn;
    for (int i = 0; i < 200; ++i) {
        const auto half = eval(random::choice(200, {10, 10}, false, g)).to_host();
        CHECK(std::set<std::int64_t>(half.begin(), half.end()).size() == 100);
        drawn.insert(drawn.end(), half.begin(), half.end());
    }
    CHECK(chi_square(counted(drawn, 200), std::vector<double>(200, 1 / 200.0)) < 281);

    const array<double> values = arange<double>(1000) / 2;
    const auto taken = eval(random::choice(values, {50}, false, g)).to_host();
    CHECK(std::set<double>(taken.begin(), taken.end()).size() == 50);
    CHECK(random::choice(1000, {0}, false, g).eval().size() == 0);
    CHECK(random::choice(1, {}, false, g).eval().item() == 0);
}

TEST_CASE("normal vectors have their mean and covariance, of full rank or less") {
    random::generator g(5);
    const array<double> about{1, -2, 3}, covariance{{4, 1, 0}, {1, 2, 0.5}, {0, 0.5, 1}};
    const array<double> v = random::multivariate_normal(about, covariance, {100, 1000}, g);
    CHECK(v.shape() == shape_like{100, 1000, 3});
    const array<double> rows = reshape(v, {-1, 3}), off = rows - mean(rows, 0);
    CHECK(all(abs(mean(rows, 0) - about) < 5 * 2 / std::sqrt(1e5)).item());
    CHECK(all(abs(matmul(transpose(off), off) / 1e5 - covariance) < 5 * 6 / std::sqrt(1e5)).item());
    const array<double> flat = random::multivariate_normal(array<double>{0, 0}, array<double>{{1, 1}, {1, 1}}, {10}, g);
    CHECK(all(abs(flat(all, 0) - flat(all, 1)) < 1e-7).item());
    CHECK(random::multivariate_normal(about, covariance, {}, g).shape() == shape_like{3});
}

TEST_CASE("what cannot be chosen from is said") {
    const auto thrown = [](auto f) -> std::string {
        try {
            f();
        } catch (const error& e) {
            return e.what();
        }
        return "nothing was thrown";
    };
    CHECK(thrown([] { (void)random::choice(3, {4}, false); }) ==
          "[choice] 4 of 3 elements are wanted, without replacement");
    CHECK(thrown([] { (void)random::choice(0, {4}); }) == "[choice] 4 of 0 elements are wanted");
    CHECK(thrown([] { (void)random::choice(3, {2}, array<double>{1, 2}); }) ==
          "[choice] weights of shape (2,): one for each of 3 is wanted");
    const array<double> one_weight{0, 1, 0};
    CHECK(thrown([&] { (void)random::choice(3, {2}, one_weight, false); }) ==
          "[choice] 2 of 3 elements are wanted without replacement, and 1 have a weight above 0");
    CHECK(random::choice(3, {1}, one_weight, false).to_host() == std::vector<std::int64_t>{1});
    CHECK(random::choice(3, {0}, zeros<double>({3}), false).size() == 0);
    CHECK(thrown([] { (void)random::permutation(-1); }) ==
          "[permutation] a count that is not negative is wanted, or an array of one axis or more");
    CHECK_THROWS_AS((void)random::permutation(full<int>({}, 3)), shape_error);
    CHECK_THROWS_AS((void)random::multivariate_normal(array<double>{1}, array<double>{{1, 0}, {0, 1}}), shape_error);
    CHECK(thrown([] { (void)random::multivariate_normal(array<double>{0, 0}, array<double>{{1, 2}, {2, 1}}); }) ==
          "[multivariate_normal] the covariance has eigenvalues from -1 to 3: none is to be negative");
}
