// Two hundred random statements (statements/draw.hpp). Each is checked against double, timed, and compared with the
// roof for the bytes of its inputs and outputs and with the count of its operations. There are no goals: the program
// prints the share of each statement, and the text and the plan of the twenty worst.
//   statements RESULTS.jsonl [--seed N] [--count N] [--only K] [--shrink N] [--seconds N] [--check LEVEL]
// --only K runs number K alone and prints its plan; --shrink N divides the sizes by 2^N, by default by 2^10 on the
// host; --check times nothing and evaluates one statement after the other, each named before it runs, for sanitizers;
// at level 1 results are compared with double's, at level 0 they are not. Statements that are not checked within
// --seconds (90) are left out and counted.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>

#include <ingot/ingot.hpp>

#include "drawn_set.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "session.hpp"
#include "statements/build.hpp"
#include "statements/draw.hpp"
#include "statements/exact.hpp"
#include "statements/judge.hpp"
#include "statements/stopwatch.hpp"

namespace {

using namespace ingot;
using bench::statement;
using bench::statement_trees;

/// A statement and its measurements.
struct drawn {
    std::uint64_t number = 0;
    statement what;
    bool checked = false;
    std::string failure = {};
    double closest = 0, blunt = 0;  // the largest ones of its results' verdicts
    std::uint64_t kernels = 0;
    double time = 0, by_bytes = 0, by_operations = 0;
    double by_bytes_again = 0;  // where arrays are read again after folds that no chip holds

    bool bytes_bound() const { return by_bytes >= by_operations; }
    double share() const { return std::max(by_bytes, by_operations) / time; }
    double share_again() const { return std::max(by_bytes_again, by_operations) / time; }
    std::string name() const { return std::to_string(number) + ": " + shape_text(what); }
};

void check(drawn& d, const bench::statement_pools& pools, bool compare = true) {
    bench::with_type_of(d.what, [&]<class T>(T) {
        std::vector<std::vector<T>> got;
        for (const array<T>& result : statement_trees<T>(d.what, pools, 0).evaluate())
            got.push_back(ravel(result).to_host());
        if (!compare) return;
        const bench::exact_results exact(d.what, pools.values());
        for (std::size_t k = 0; k < got.size(); ++k) {
            const bench::verdict v = bench::judge<T>(exact, k, got[k]);
            d.closest = std::max(d.closest, v.closest);
            d.blunt = std::max(d.blunt, v.blunt);
        }
    });
}

/// Checks one statement after the other; returns the number of failures.
int check_one_by_one(std::vector<drawn>& all, const bench::statement_pools& pools, bool compare) {
    int failures = 0;
    for (drawn& d : all) {
        std::printf("%s, %s\n", d.name().c_str(), text_of(d.what).c_str());
        std::fflush(stdout);
        try {
            check(d, pools, compare);
        } catch (const std::exception& reason) {
            ++failures;
            std::printf("FAILED: %s\n", reason.what());
        }
    }
    return failures;
}

void measure(drawn& d, const bench::statement_pools& pools, const bench::roofs& roof, const bench::stopwatch& watch) {
    const std::uint64_t read = d.what.bytes_read(), written = d.what.bytes_written();
    d.by_bytes = roof.time_of(read, written) + watch.smallest_kernel();
    d.by_bytes_again = roof.time_of(d.what.bytes_read_again(), written) + watch.smallest_kernel();
    d.by_operations =
        watch.time_of(d.what.operations() * (d.what.type == bench::dtype::f8 ? 2 : 1)) + watch.smallest_kernel();
    bench::with_type_of(d.what, [&]<class T>(T) {
        const auto before = counters().kernel_launches;
        statement_trees<T>(d.what, pools, 0).evaluate();
        d.kernels = counters().kernel_launches - before;
        // Results of some calls stay, so that they too are written elsewhere than in a cache.
        std::vector<std::vector<array<T>>> kept(std::clamp<std::size_t>((std::size_t{1} << 28) / written, 1, 16));
        d.time = watch.time(
            [&](std::uint64_t turn) { kept[turn % kept.size()] = statement_trees<T>(d.what, pools, turn).evaluate(); },
            std::max(d.by_bytes, d.by_operations) < 100 ? 4 : 2);
    });
}

std::string plan_of(const drawn& d, const bench::statement_pools& pools) {
    std::ostringstream text;
    bench::with_type_of(d.what, [&]<class T>(T) { text << statement_trees<T>(d.what, pools, 0).explain(); });
    return text.str();
}

void print_plan(const drawn& d, const bench::statement_pools& pools) {
    std::printf("\n%.3f  %s, %.1f us; bytes %.1f us, operations %.1f us; %d kernels\n%s\n%s", d.share(),
                d.name().c_str(), d.time, d.by_bytes, d.by_operations, static_cast<int>(d.kernels),
                text_of(d.what).c_str(), plan_of(d, pools).c_str());
    std::fflush(stdout);
}

void add_row(bench::report& out, const drawn& d) {
    out.add(
        {.section = "drawn whole",
         .name = d.name(),
         .unit = "us",
         .time = d.time,
         .baseline = d.bytes_bound() ? "roof of its bytes" : "its operations",
         .baseline_time = std::max(d.by_bytes, d.by_operations),
         .bytes = d.what.bytes_read() + d.what.bytes_written(),
         .note = std::to_string(d.kernels) + " kernels, share " + std::to_string(d.share()) + ": " + text_of(d.what)});
}

void report_all(bench::report& out, std::vector<drawn> all, const bench::statement_pools& pools, double smallest,
                double goal) {
    constexpr std::size_t worst = 20;
    std::erase_if(all, [](const drawn& d) { return !d.failure.empty(); });
    std::vector<double> by_bytes, by_bytes_again, by_operations, small;
    std::array<int, 6> kernels{};
    int blunt = 0;
    for (const drawn& d : all) {
        // If the roof is little more than a launch, the time is mostly the launch's, so these are reported separately.
        (std::max(d.by_bytes, d.by_operations) < 4 * smallest ? small
         : d.bytes_bound()                                    ? by_bytes
                                                              : by_operations)
            .push_back(d.share());
        if (by_bytes_again.size() < by_bytes.size()) by_bytes_again.push_back(d.share_again());
        ++kernels[std::min<std::size_t>(d.kernels, kernels.size() - 1)];
        blunt += d.blunt > 0.01;
    }
    std::ranges::sort(all, {}, [](const drawn& d) { return d.share(); });
    std::printf("\nshare, share where arrays are read again, us, us by bytes, us by operations, kernels:\n");
    for (const drawn& d : all)
        std::printf("%.3f %.3f %9.1f %9.1f %9.1f %3d  %s  %s\n", d.share(), d.share_again(), d.time, d.by_bytes,
                    d.by_operations, static_cast<int>(d.kernels), d.name().c_str(),
                    text_of(d.what).substr(0, 160).c_str());
    std::printf("\nThe worst, with their plans:\n");
    for (std::size_t i = 0; i < std::min(worst, all.size()); ++i) print_plan(all[i], pools);
    std::printf("\nkernels a statement:");
    for (std::size_t k = 1; k < kernels.size(); ++k)
        std::printf(" %d of %d%s", kernels[k], static_cast<int>(k), k + 1 == kernels.size() ? " and more" : ",");
    std::printf("; %d statements whose error may be over 1%%\n", blunt);
    for (std::size_t i = 0; i < std::min(worst, all.size()); ++i) add_row(out, all[i]);
    bench::summarise(out, "statements", "drawn, bound by bytes", by_bytes, {goal});
    bench::summarise(out, "statements", "drawn, read again after folds that no chip holds", by_bytes_again, {});
    bench::summarise(out, "statements", "drawn, bound by operations", by_operations, {});
    bench::summarise(out, "statements", "drawn, hardly more than a launch", small, {});
}

int run(int argc, char** argv) {
    const bench::drawing_options o = bench::drawing_options_of("statements", argc, argv);
    const std::size_t bytes = std::size_t{1} << (30 - o.shrink);
    const bench::statement_pools pools(
        bench::uniform<float>(bytes / 4, 201, -bench::pool_range, bench::pool_range),
        bench::uniform<double>(bytes / 8, 202, -bench::pool_range, bench::pool_range),
        bench::uniform<std::int32_t>(bytes / 4, 203, -bench::integer_range, bench::integer_range));
    std::vector<drawn> all;
    const bench::statement_limits limits{20.0 - o.shrink, 27.0 - o.shrink};
    for (std::uint64_t k = o.only.value_or(0); k < (o.only ? *o.only + 1 : o.count); ++k)
        all.push_back({.number = k, .what = bench::statement_draw(o.seed, k, limits).next()});
    if (o.check) return check_one_by_one(all, pools, *o.check > 0);

    bench::report out(o.path);
    const array<float>& floats = pools.on_device<float>();
    const bench::roofs roof(out, floats, floats);
    bench::session s{out, roof};
    const bench::stopwatch watch(out);
    // Longest first.
    std::ranges::sort(all, std::greater{}, [](const drawn& d) { return d.what.operations(); });
    bench::check_all(all, o.checking, 12, [&](drawn& d) { check(d, pools); });
    if (const auto left_out = std::erase_if(all, [](const drawn& d) { return !d.checked; }); left_out > 0)
        std::printf("%d statements are left out: there was no time to check them\n", static_cast<int>(left_out));
    std::ranges::sort(all, {}, &drawn::number);
    for (drawn& d : all)
        s.attempt("seed " + std::to_string(o.seed) + ", " + d.name() + ", " + text_of(d.what), [&] {
            if (!d.failure.empty()) throw std::runtime_error(d.failure);
            measure(d, pools, roof, watch);
        });
    report_all(out, std::move(all), pools, watch.smallest_kernel(), o.shrink == 0 ? 0.80 : 0);
    return s.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "statements: %s\n", reason.what());
    return 1;
}
