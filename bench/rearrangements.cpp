// Two hundred random statements of views, gathers and joins (rearrangements/draw.hpp). Each is compared with plain
// copies, timed, and compared with the roof for the bytes that it must move, in sectors of 32 bytes. There are no
// goals: the program prints the share of each statement, and the text and the plan of the twenty worst.
//   rearrangements RESULTS.jsonl [--seed N] [--count N] [--only K] [--shrink N] [--seconds N] [--check LEVEL]
// The options are those of statements.cpp.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>

#include <ingot/ingot.hpp>

#include "drawn_set.hpp"
#include "host_data.hpp"
#include "rearrangements/build.hpp"
#include "rearrangements/draw.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "session.hpp"
#include "statements/stopwatch.hpp"

namespace {

using namespace ingot;
using bench::rearrangement;
using bench::rearrangement_pools;
using bench::rearrangement_trees;

/// A statement and its measurements.
struct drawn {
    std::uint64_t number = 0;
    rearrangement what;
    std::uint64_t read = 0;
    bool checked = false;
    std::string failure = {};
    std::uint64_t kernels = 0;
    double time = 0, by_bytes = 0;

    std::uint64_t written() const { return what.bytes_written(); }
    double share() const { return by_bytes / time; }
    std::string name() const { return std::to_string(number) + ": " + shape_text(what); }
};

void check(drawn& d, const rearrangement_pools& pools, bool compare = true) {
    d.read = d.what.bytes_read();
    bench::with_type_of(d.what, [&]<class T>(T) {
        const rearrangement_trees<T> trees(d.what, pools);
        const array<T> got = trees.whole(0);
        if (compare) bench::require_right(d.what, trees, got, 0);
    });
}

/// Checks one statement after the other; returns the number of failures.
int check_one_by_one(std::vector<drawn>& all, const rearrangement_pools& pools, bool compare) {
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

void measure(drawn& d, const rearrangement_pools& pools, const bench::roofs& roof, const bench::stopwatch& watch) {
    d.by_bytes = roof.time_of(d.read, d.written()) + watch.smallest_kernel();
    bench::with_type_of(d.what, [&]<class T>(T) {
        const rearrangement_trees<T> trees(d.what, pools);
        const auto before = counters().kernel_launches;
        array<T>(trees.whole(0));
        d.kernels = counters().kernel_launches - before;
        // Results of some calls stay, so that they too are written elsewhere than in a cache.
        std::vector<array<T>> kept(std::clamp<std::size_t>((std::size_t{1} << 28) / d.written(), 1, 16));
        d.time = watch.time([&](std::uint64_t turn) { kept[turn % kept.size()] = trees.whole(turn); },
                            d.by_bytes < 100 ? 4 : 2);
    });
}

void print_plan(const drawn& d, const rearrangement_pools& pools) {
    std::ostringstream plan;
    bench::with_type_of(d.what, [&]<class T>(T) { plan << explain(rearrangement_trees<T>(d.what, pools).whole(0)); });
    std::printf("\n%.3f  %s, %.1f us; bytes %.1f us, read %.1f MB, written %.1f MB; %d kernels\n%s\n%s", d.share(),
                d.name().c_str(), d.time, d.by_bytes, static_cast<double>(d.read) * 1e-6,
                static_cast<double>(d.written()) * 1e-6, static_cast<int>(d.kernels), text_of(d.what).c_str(),
                plan.str().c_str());
    std::fflush(stdout);
}

void report_all(bench::report& out, std::vector<drawn> all, const rearrangement_pools& pools, double smallest,
                double goal) {
    constexpr std::size_t worst = 20;
    std::erase_if(all, [](const drawn& d) { return !d.failure.empty(); });
    std::vector<double> shares, small;
    // If the roof is little more than a launch, the time is mostly the launch's, so these are reported separately.
    for (const drawn& d : all) (d.by_bytes < 4 * smallest ? small : shares).push_back(d.share());
    std::ranges::sort(all, {}, [](const drawn& d) { return d.share(); });
    std::printf("\nshare, us, us by bytes, kernels:\n");
    for (const drawn& d : all)
        std::printf("%.3f %9.1f %9.1f %3d  %s  %s\n", d.share(), d.time, d.by_bytes, static_cast<int>(d.kernels),
                    d.name().c_str(), text_of(d.what).substr(0, 200).c_str());
    std::printf("\nThe worst, with their plans:\n");
    for (std::size_t i = 0; i < std::min(worst, all.size()); ++i) print_plan(all[i], pools);
    std::printf("\n%d of %d statements are below 0.6 of the roof\n",
                static_cast<int>(std::ranges::count_if(all, [](const drawn& d) { return d.share() < 0.6; })),
                static_cast<int>(all.size()));
    for (std::size_t i = 0; i < std::min(worst, all.size()); ++i)
        out.add({.section = "drawn views",
                 .name = all[i].name(),
                 .unit = "us",
                 .time = all[i].time,
                 .baseline = "roof of its bytes",
                 .baseline_time = all[i].by_bytes,
                 .bytes = all[i].read + all[i].written(),
                 .note = std::to_string(all[i].kernels) + " kernels, share " + std::to_string(all[i].share()) + ": " +
                         text_of(all[i].what)});
    bench::summarise(out, "views", "drawn, views, gathers and joins", shares, {goal});
    bench::summarise(out, "views", "drawn, hardly more than a launch", small, {});
}

int run(int argc, char** argv) {
    const bench::drawing_options o = bench::drawing_options_of("rearrangements", argc, argv);
    const bench::rearrangement_limits limits{20.0 - o.shrink, 27.0 - o.shrink, 28.0 - o.shrink};
    std::vector<drawn> all;
    for (std::uint64_t k = o.only.value_or(0); k < (o.only ? *o.only + 1 : o.count); ++k)
        all.push_back({.number = k, .what = bench::rearrangement_draw(o.seed, k, limits).next()});
    const rearrangement_pools pools(std::size_t{1} << (28 - o.shrink));
    if (o.check) return check_one_by_one(all, pools, *o.check > 0) == 0 ? 0 : 1;

    bench::report out(o.path);
    const bench::roofs roof = [&] {
        const auto values = asarray(bench::uniform<float>(std::size_t{1} << (28 - o.shrink), 499, 1, 4));
        return bench::roofs(out, values, values);
    }();
    bench::session s{out, roof};
    const bench::stopwatch watch(out);
    // Largest first, because each holds several copies of its arrays.
    std::ranges::sort(all, std::greater{}, &drawn::written);
    bench::check_all(all, o.checking, 6, [&](drawn& d) { check(d, pools); });
    if (const auto left_out = std::erase_if(all, [](const drawn& d) { return !d.checked; }); left_out > 0)
        std::printf("%d statements are left out: there was no time to check them\n", static_cast<int>(left_out));
    std::ranges::sort(all, {}, &drawn::number);
    for (drawn& d : all)
        s.attempt("seed " + std::to_string(o.seed) + ", " + d.name() + ", " + text_of(d.what), [&] {
            if (!d.failure.empty()) throw std::runtime_error(d.failure);
            measure(d, pools, roof, watch);
        });
    report_all(out, std::move(all), pools, watch.smallest_kernel(), o.shrink == 0 ? 0.90 : 0);
    return s.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "rearrangements: %s\n", reason.what());
    return 1;
}
