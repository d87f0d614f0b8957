// Histograms and counts on the current device: microseconds, each the least of seven calls with a wait behind it.
//   histograms RESULTS.jsonl [SHRINK]
// SHRINK divides the lengths by 2^SHRINK.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <ingot/ingot.hpp>

#include "report.hpp"

namespace {

using namespace ingot;

template <class F>
double least_time(const F& call) {
    using clock = std::chrono::steady_clock;
    double least = 0;
    for (int turn = 0; turn < 7; ++turn) {
        const auto begin = clock::now();
        call();
        synchronize();
        const double taken = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
        least = turn == 0 ? taken : std::min(least, taken);
    }
    return least;
}

void run(bench::report& out, int shrink) {
    const auto time = [&](const std::string& name, const auto& call) {
        out.add({.section = "histograms", .name = name, .unit = "us", .time = least_time(call)});
    };
    const index_t many = (index_t{1} << 28) >> shrink, some = (index_t{1} << 26) >> shrink;
    const array<float> y = random::uniform<float>(many);
    time("histogram of 2^28 float32, 256 bins", [&] { return histogram(y, 256, {0.0, 1.0}); });
    time("histogram of 1 - 2^28, 256 bins", [&] { return histogram(1 - y, 256, {0.0, 1.0}); });
    for (const int places : {256, 1024, 4096, 16384, 65536}) {
        const array<int> x = random::integers<int>(0, places, some);
        array<index_t> counts = zeros<index_t>(places);
        const std::string of = std::to_string(places) + " places";
        time("bincount of 2^26 int32, with extremes, " + of, [&] { return bincount(x); });
        time("scatter_add of 1 at 2^26, " + of, [&] { scatter_add(counts(x), 1); });
    }
    const array<int> same = full<int>(some, 7);
    time("bincount of 2^26, all in one of 1024", [&] { return bincount(same, 1024); });
}

}  // namespace

int main(int count, char** given) try {
    const int shrink = count > 2 ? std::atoi(given[2]) : 0;
    if (count < 2 || shrink < 0 || shrink > 20)
        return std::fprintf(stderr, "usage: histograms RESULTS.jsonl [SHRINK, 0 to 20]\n"), 2;
    bench::report out(given[1]);
    run(out, shrink);
} catch (const std::exception& reason) {
    std::fprintf(stderr, "histograms: %s\n", reason.what());
    return 1;
}
