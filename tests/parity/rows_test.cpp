// The parity of the operator table with NumPy 2: every row over every dtype and arrangement, in strict arithmetic,
// bit for bit where the row is exact and within its bound else. The rows of a group are outputs of few kernels.
//
// A case is one row, dtypes of its operands, arrangement of these and combination of special values; random operands
// are computed too and not counted. Every case is interpreted. Compiled for the current device is each row over the
// dtypes that it computes in, and over two pairs of dtypes that are promoted, in arrangements that every run draws; on
// the host over three of the eight integer dtypes, one of the two 16-bit floats and one of the two complex dtypes,
// which are drawn too. Where INGOT_TEST_ALL is set all is compiled.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <iostream>
#include <map>
#include <queue>
#include <random>
#include <thread>

#include <ingot/core/device.hpp>

#include "tests/parity/sweep.hpp"

namespace {

using namespace ingot;
using detail::evaluator;
using testing::arrangement;
using testing::sweep_case;
using testing::sweep_group;

constexpr std::size_t together = 16;

bool tests_all() { return std::getenv("INGOT_TEST_ALL") != nullptr && std::getenv("INGOT_TEST_DRAWN") == nullptr; }

evaluator compiled() { return current_device().is_cuda() ? evaluator::cuda : evaluator::host; }

std::vector<const sweep_case*> pointers(const sweep_group& g, auto wanted) {
    std::vector<const sweep_case*> cases;
    for (const sweep_case& c : g.cases)
        if (wanted(c)) cases.push_back(&c);
    return cases;
}

/// The worst errors seen, where INGOT_PRINT_ULP is set.
std::map<std::string, double>& worst_errors() {
    static std::map<std::string, double> worst;
    return worst;
}
void print_worst_errors(const char* where) {
    if (std::getenv("INGOT_PRINT_ULP") != nullptr)
        for (const auto& [row, ulp] : worst_errors()) std::cout << where << ' ' << row << ": " << ulp << " ulp\n";
    worst_errors().clear();
}

using evaluation = decltype(testing::evaluate)*;

/// The number of cases, in the first sense above.
std::size_t check(const sweep_group& g, std::span<const sweep_case* const> cases, arrangement a, evaluation evaluate,
                  evaluator where, std::size_t most = testing::all_elements) {
    const std::size_t count = testing::elements(g, a, most);
    const std::vector<testing::bytes> values = evaluate(g, cases, a, most);
    std::vector<testing::verdict> verdicts(cases.size());
    const auto judge = [&](std::size_t k) {
        verdicts[k] = testing::judge(g, *cases[k], values[k], count, cases[k]->bound(where));
    };
    if (count < 10'000)  // sooner done than threads begin
        for (std::size_t k = 0; k < cases.size(); ++k) judge(k);
    else
        testing::on_all_cores(cases.size(), judge);
    for (std::size_t k = 0; k < cases.size(); ++k) {
        const sweep_case& c = *cases[k];
        const testing::verdict& v = verdicts[k];
        CHECK_MESSAGE(v.wrong == 0, v.first_wrong, "; ", v.wrong, " in all of ", count, ", ", testing::name(a));
        if (!c.exact) {
            double& worst = worst_errors()[g.name(c)];
            worst = std::max(worst, v.worst_ulp);
        }
    }
    return cases.size() * std::max<std::size_t>(g.grid_size(), g.grid.empty() ? count : 0);
}

std::vector<arrangement> those_of(const sweep_group& g) {
    std::vector<arrangement> all;
    for (const arrangement a : testing::arrangements)
        if (testing::elements(g, a) > 0) all.push_back(a);
    return all;
}

/// The dtypes that a run on the host compiles.
struct drawn_dtypes {
    explicit drawn_dtypes(std::mt19937_64& random)
        : first_integer_(random() % 8),
          others_{random() % 2 == 0 ? dtype::f2 : dtype::bf, random() % 2 == 0 ? dtype::c8 : dtype::c16} {
        for (std::vector<dtype>& pair : pairs) {
            const auto one = static_cast<dtype>(random() % detail::dtype_count);
            const std::size_t apart = 1 + random() % (detail::dtype_count - 1);
            pair = {one, static_cast<dtype>((static_cast<std::size_t>(one) + apart) % detail::dtype_count)};
        }
    }
    bool has(const sweep_group& g) const {
        return tests_all() || current_device().is_cuda() ||
               std::ranges::all_of(g.types, [&](dtype t) { return has(t) || (t == dtype::i8 && g.places == "ldexp"); });
    }

    std::vector<dtype> pairs[2];

private:
    bool has(dtype t) const {
        if (t == dtype::b1 || t == dtype::f4 || t == dtype::f8) return true;
        if (detail::kind_of(t) != detail::kind::integer) return t == others_[0] || t == others_[1];
        const std::size_t number = static_cast<std::size_t>(t) - static_cast<std::size_t>(dtype::i1);
        return (number + 8 - first_integer_) % 8 < 3;
    }

    std::size_t first_integer_;
    dtype others_[2];
};

}  // namespace

TEST_CASE("every row compiled for the current device computes what NumPy computes, over every dtype") {
    const char* const given = std::getenv("INGOT_TEST_SEED");
    const unsigned long seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device()();
    MESSAGE("INGOT_TEST_SEED=", seed);
    std::mt19937_64 random(seed);
    const drawn_dtypes drawn(random);
    std::size_t cases = 0;
    for (const sweep_group& g : testing::sweep_groups()) {
        const bool promoted = tests_all() || g.types == drawn.pairs[0] || g.types == drawn.pairs[1];
        if (!promoted && !drawn.has(g)) continue;
        const std::vector<arrangement> all = those_of(g);
        const auto own = pointers(g, [&](const sweep_case& c) { return promoted || !g.promotes(c); });
        for (std::size_t first = 0; first < own.size(); first += together) {
            const auto some = std::span(own).subspan(first, std::min(together, own.size() - first));
            // One arrangement with all elements; for few kernels, only the grid, broadcast.
            const arrangement chosen = all[random() % std::min(all.size(), std::size(testing::arrangements) - 1)];
            const bool broadcasts = random() % 8 == 0;
            for (const arrangement a : all)
                if (tests_all() || a == chosen || (broadcasts && a == arrangement::across_axes))
                    cases += check(g, some, a, testing::evaluate, compiled());
        }
    }
    CHECK(cases > 100'000);
    MESSAGE(cases, " cases compiled");
    print_worst_errors(current_device().is_cuda() ? "cuda" : "host");
}

TEST_CASE("every row that has a bound keeps it over a million random bit patterns") {
    const unsigned last = testing::draws();
    if (last == 1) return;  // they are in the case above
    // NumPy's answers take longer than anything else: as many seeds at once as there are cores.
    std::queue<std::future<std::vector<sweep_group>>> asked;
    unsigned next = 1;
    const auto ask = [&] {
        if (next <= last)
            asked.push(std::async(std::launch::async, testing::ask_numpy, testing::sweep_options{next++, true}));
    };
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) ask();
    std::size_t patterns = 0;
    while (!asked.empty()) {
        const std::vector<sweep_group> groups = asked.front().get();
        asked.pop();
        ask();
        for (const sweep_group& g : groups) {
            const auto all = pointers(g, [](const sweep_case&) { return true; });
            for (std::size_t first = 0; first < all.size(); first += together)
                check(g, std::span(all).subspan(first, std::min(together, all.size() - first)), arrangement::contiguous,
                      testing::evaluate, compiled());
            patterns += all.size() * g.count;
        }
    }
    MESSAGE(patterns, " results of ", last, " draws");
    print_worst_errors(current_device().is_cuda() ? "cuda, all draws," : "host, all draws,");
}

TEST_CASE("every row interpreted computes what NumPy computes, over every combination of dtypes and arrangement") {
    std::size_t cases = 0;
    for (const sweep_group& g : testing::sweep_groups())
        for (const arrangement a : those_of(g))
            cases += check(g, pointers(g, [](const sweep_case&) { return true; }), a, testing::interpret,
                           evaluator::interpreter, a == arrangement::contiguous ? testing::all_elements : 4096);
    MESSAGE(cases, " cases interpreted");
    CHECK(cases > 1'000'000);
    print_worst_errors("interpreter");
}
