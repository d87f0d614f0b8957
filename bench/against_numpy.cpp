// Statements of README's table on the host target, whose times bench/against_numpy.py prints beside NumPy's: a line for
// each, `name<TAB>microseconds`, the median of 15 runs into the same array.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <ingot/ingot.hpp>

namespace {

using namespace ingot;

void time(const char* name, const std::function<void()>& statement) {
    statement();  // compiled, and the memory of the result is there
    std::vector<double> all;
    for (int run = 0; run < 15; ++run) {
        const auto from = std::chrono::steady_clock::now();
        statement();
        all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count());
    }
    std::nth_element(all.begin(), all.begin() + 7, all.end());
    std::printf("%s\t%.1f\n", name, all[7]);
}

}  // namespace

int main() {
    const with_device on_the_host(device::host());
    const array<float> x = random::normal<float>({1 << 26}), y = random::uniform<float>({1 << 26});
    const array<float> m = random::normal<float>({1 << 14, 1 << 12});
    array<float> r, s;
    time("where(x - 2 > y, x * y, x + y)", [&] { r = where(x - 2 > y, x * y, x + y); });
    time("sum(square(x - y))", [&] { s = sum(square(x - y)); });
    time("softmax of rows of 4096", [&] { r = softmax(m, 1); });
    time("(x - mean(x)) / std(x) + y", [&] { r = (x - mean(x)) / stddev(x) + y; });
    time("var(m, 0)", [&] { s = var(m, 0); });
    time("cumsum(x * x)", [&] { r = cumsum(x * x); });
}
