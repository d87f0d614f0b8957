// Histograms and counts on the current device: microseconds, each the least of seven calls with a wait behind it.
//   histograms [SHRINK]
// SHRINK divides the lengths by 2^SHRINK.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

namespace {

using namespace ingot;

template <class F>
void time(const char* name, const F& call) {
    using clock = std::chrono::steady_clock;
    double least = 0;
    for (int turn = 0; turn < 7; ++turn) {
        const auto begin = clock::now();
        call();
        synchronize();
        const double taken = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
        least = turn == 0 ? taken : std::min(least, taken);
    }
    std::printf("%-40s %10.0f us\n", name, least);
}

}  // namespace

int main(int count, char** given) {
    const int shrink = count > 1 ? std::atoi(given[1]) : 0;
    const index_t many = (index_t{1} << 28) >> shrink, some = (index_t{1} << 26) >> shrink;
    const array<float> y = random::uniform<float>(many);
    time("histogram of 2^28 float32, 256 bins", [&] { return histogram(y, 256, {0.0, 1.0}); });
    time("histogram of 1 - 2^28, 256 bins", [&] { return histogram(1 - y, 256, {0.0, 1.0}); });
    for (const int places : {256, 1024, 4096, 16384, 65536}) {
        const array<int> x = random::integers<int>(0, places, some);
        array<index_t> counts = zeros<index_t>(places);
        std::printf("%d places: ", places);
        time("bincount of 2^26 int32, with extremes", [&] { return bincount(x); });
        std::printf("%d places: ", places);
        time("scatter_add of 1 at 2^26", [&] { scatter_add(counts(x), 1); });
    }
    const array<int> same = full<int>(some, 7);
    time("bincount of 2^26, all in one of 1024", [&] { return bincount(same, 1024); });
}
