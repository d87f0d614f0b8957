// Sorting and selecting on a GPU: microseconds, each the median of seven calls between two events, and the results
// checked on the host.
//   sorting [SHRINK [PART_OF_A_NAME]]
// SHRINK divides the lengths by 2^SHRINK.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "runtime/sorting/radix_sort.hpp"

namespace {

using namespace ingot;
using bench::require;
using bench::uniform;

/// 0 where it holds, for `require`.
double unless(bool holds) { return holds ? 0 : 1; }

template <class T>
void require_same_elements(const std::vector<T>& given, const std::vector<T>& sorted) {
    std::uint64_t sum = 0, squares = 0;
#pragma omp parallel for reduction(+ : sum, squares)
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto a = std::bit_cast<std::uint32_t>(given[i]), b = std::bit_cast<std::uint32_t>(sorted[i]);
        sum += a - std::uint64_t{b};
        squares += std::uint64_t{a} * a - std::uint64_t{b} * b;
    }
    if (sum != 0 || squares != 0) throw std::runtime_error("other elements than were given");
}

class table {
public:
    table(int shrink, std::string_view only) : shrink_(shrink), only_(only) {}

    int run() {
        sort_floats();
        sort_doubles();
        argsort_floats();
        sort_rows();
        argsort_rows();
        sort_long_rows();
        select_greatest();
        select_greatest_of_rows();
        find_unique();
        find_median();
        return failures_;
    }

private:
    std::size_t shrunk(std::size_t n) const { return std::max<std::size_t>(n >> shrink_, 1); }

    /// Prints the time of `statement`, whose result `check` has looked at.
    template <class Statement, class Check>
    void measure(const std::string& name, Statement statement, Check check) try {
        check(statement());
        const auto kernels = counters().kernel_launches, calls = counters().library_calls;
        statement();
        const auto launches = counters().kernel_launches - kernels, library_calls = counters().library_calls - calls;
        std::vector<double> times = bench::time_in_turn({[&](int) { statement(); }}, 7)[0];
        std::ranges::sort(times);
        std::printf("%-44s %10.1f us  (least %.1f, most %.1f)  %llu kernels, %llu library calls\n", name.c_str(),
                    times[3], times.front(), times.back(), static_cast<unsigned long long>(launches),
                    static_cast<unsigned long long>(library_calls));
        std::fflush(stdout);
    } catch (const std::exception& reason) {
        std::printf("%-44s FAILED: %s\n", name.c_str(), reason.what());
        ++failures_;
    }
    bool wanted(std::string_view name) const { return name.find(only_) != name.npos; }

    template <class T>
    void sort_values(const char* name, std::size_t n, std::uint64_t seed) {
        if (!wanted(name)) return;
        const auto x_host = uniform<T>(n, seed, -1, 1);
        const array<T> x = asarray(x_host);
        measure(
            name, [&] { return eval(sort(x)); },
            [&](const array<T>& r) {
                const std::vector<T> got = r.to_host();
                require("the order", n - 1, 0, [&](std::size_t i) { return unless(got[i] <= got[i + 1]); });
                if constexpr (sizeof(T) == 4) require_same_elements(x_host, got);
            });
    }
    void sort_floats() { sort_values<float>("sort 2^28 float32", shrunk(std::size_t{1} << 28), 201); }
    void sort_doubles() { sort_values<double>("sort 2^26 float64", shrunk(std::size_t{1} << 26), 202); }

    void argsort_floats() {
        const char* const name = "argsort 2^26 float32";
        if (!wanted(name)) return;
        const std::size_t n = shrunk(std::size_t{1} << 26);
        const auto x_host = uniform<float>(n, 203, 0, 1);
        const array<float> x = asarray(x_host);
        measure(
            name, [&] { return eval(argsort(x)); },
            [&](const array<index_t>& r) {
                const std::vector<index_t> got = r.to_host();
                std::vector<bool> seen(n);
                for (const index_t i : got) seen.at(static_cast<std::size_t>(i)) = true;
                if (std::ranges::count(seen, true) != static_cast<std::ptrdiff_t>(n))
                    throw std::runtime_error("no permutation");
                require("the order", n - 1, 0, [&](std::size_t i) {
                    const float a = x_host[static_cast<std::size_t>(got[i])],
                                b = x_host[static_cast<std::size_t>(got[i + 1])];
                    return unless(a < b || (a == b && got[i] < got[i + 1]));
                });
            });
    }

    void sort_rows_of(const char* name, std::size_t rows, std::size_t length, std::uint64_t seed) {
        if (!wanted(name)) return;
        const auto x_host = uniform<float>(rows * length, seed, -1, 1);
        const array<float> x = asarray(x_host, {rows, length});
        measure(
            name, [&] { return eval(sort(x)); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                require("the order", rows * length - 1, 0,
                        [&](std::size_t i) { return unless((i + 1) % length == 0 || got[i] <= got[i + 1]); });
                require_same_elements(x_host, got);
            });
    }
    void sort_rows() { sort_rows_of("sort rows (65536, 1024) float32", shrunk(65536), 1024, 204); }
    void sort_long_rows() {
        sort_rows_of("sort rows (8192, 8192) float32", shrunk(8192), 8192, 205);
        sort_rows_of("sort rows (64, 2^20) float32", 64, shrunk(std::size_t{1} << 20), 206);
        sort_rows_of("sort rows (2^20, 64) float32", shrunk(std::size_t{1} << 20), 64, 207);
    }
    void argsort_rows() {
        const char* const name = "argsort rows (65536, 1024) float32";
        if (!wanted(name)) return;
        const std::size_t rows = shrunk(65536), length = 1024;
        const auto x_host = uniform<float>(rows * length, 208, -1, 1);
        const array<float> x = asarray(x_host, {rows, length});
        measure(
            name, [&] { return eval(argsort(x)); },
            [&](const array<index_t>& r) {
                const std::vector<index_t> got = r.to_host();
                require("the order", rows * length - 1, 0, [&](std::size_t i) {
                    if ((i + 1) % length == 0) return 0.0;
                    const float* const row = x_host.data() + i / length * length;
                    const float a = row[got[i]], b = row[got[i + 1]];
                    return unless(a < b || (a == b && got[i] < got[i + 1]));
                });
            });
    }

    void check_greatest(const std::vector<float>& values, const std::vector<index_t>& places, const float* row,
                        std::size_t length) const {
        std::vector<float> sorted(row, row + length);
        std::ranges::partial_sort(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(values.size()), std::greater());
        require("the greatest", values.size(), 0,
                [&](std::size_t i) { return unless(values[i] == sorted[i] && row[places[i]] == values[i]); });
    }
    void select_greatest() {
        const char* const name = "topk 100 of 2^26 float32";
        if (!wanted(name)) return;
        const std::size_t n = shrunk(std::size_t{1} << 26);
        const auto x_host = uniform<float>(n, 209, -1, 1);
        const array<float> x = asarray(x_host);
        measure(
            name, [&] { return topk(x, 100); },
            [&](const auto& r) {
                check_greatest(std::get<0>(r).to_host(), std::get<1>(r).to_host(), x_host.data(), n);
            });
    }
    void select_greatest_of_rows() {
        const char* const name = "topk 8 of rows (65536, 1024) float32";
        if (!wanted(name)) return;
        const std::size_t rows = shrunk(65536), length = 1024;
        const auto x_host = uniform<float>(rows * length, 210, -1, 1);
        const array<float> x = asarray(x_host, {rows, length});
        measure(
            name, [&] { return topk(x, 8); },
            [&](const auto& r) {
                const auto& [values, places] = r;
                for (std::size_t row = 0; row < rows; row += std::max<std::size_t>(rows / 64, 1))
                    check_greatest(values(static_cast<index_t>(row)).eval().to_host(),
                                   places(static_cast<index_t>(row)).eval().to_host(), x_host.data() + row * length,
                                   length);
            });
    }

    void find_unique() {
        const char* const name = "unique of 2^26 int32 below 2^20";
        if (!wanted(name)) return;
        const std::size_t n = shrunk(std::size_t{1} << 26);
        const auto x_host = uniform<int>(n, 211, 0, 1 << 20);
        const array<int> x = asarray(x_host);
        measure(
            name, [&] { return unique(x); },
            [&](const array<int>& r) {
                std::vector<int> wanted_values = x_host;
                std::ranges::sort(wanted_values);
                wanted_values.erase(std::unique(wanted_values.begin(), wanted_values.end()), wanted_values.end());
                if (r.to_host() != wanted_values) throw std::runtime_error("other values");
            });
    }

    void find_median() {
        const char* const name = "median of 2^26 float32";
        if (!wanted(name)) return;
        const std::size_t n = shrunk(std::size_t{1} << 26);
        const auto x_host = uniform<float>(n, 212, -1, 1);
        const array<float> x = asarray(x_host);
        measure(
            name, [&] { return median(x); },
            [&](const array<float>& r) {
                std::vector<float> values = x_host;
                const auto middle = values.begin() + static_cast<std::ptrdiff_t>(n / 2);
                std::ranges::nth_element(values, middle);
                const float high = *middle, low = n % 2 == 1 ? high : *std::max_element(values.begin(), middle);
                if (r.item() != (low == high ? low : (low + high) / 2)) throw std::runtime_error("another median");
            });
    }

    int shrink_, failures_ = 0;
    std::string_view only_;
};

int run(int argc, char** argv) {
    const int shrink = argc > 1 ? std::atoi(argv[1]) : 0;
    if (shrink < 0 || shrink > 20) return std::fprintf(stderr, "usage: sorting [SHRINK, 0 to 20 [PART]]\n"), 2;
    std::printf("%s; CUB's kernels: %s\n", current_device().name().c_str(),
                runtime::has_radix_sort(current_device()) ? "yes" : "no");
    return table(shrink, argc > 2 ? argv[2] : "").run() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "sorting: %s\n", reason.what());
    return 1;
}
