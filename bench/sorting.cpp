// Sorting and selecting on a GPU: microseconds, each the median of seven calls between two events, and the results
// checked on the host.
//   sorting RESULTS.jsonl [SHRINK [PART_OF_A_NAME]]
// SHRINK divides the lengths by 2^SHRINK.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
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

/// CUB's kernels as CUB launches them, for float32 keys: the comparison for Ingot's launches of their agents.
class cub_sort {
public:
    cub_sort(std::size_t n, bool pairs)
        : n_(n),
          tile_(384 * (pairs ? 23 : 19)),
          portion_(((std::size_t{1} << 28) - 1) / tile_ * tile_),
          histogram_("cub_sort.cu", "cub_histogram", options(pairs)),
          sums_("cub_sort.cu", "cub_sums", options(pairs)),
          pass_("cub_sort.cu", "cub_pass", options(pairs)),
          bins_(ingot::detail::allocate_buffer((portions() + 1) * 4 * 1028 + 4096)),
          lookback_(ingot::detail::allocate_buffer((std::min(n, portion_) / tile_ + 1) * 1024)),
          keys_{ingot::detail::allocate_buffer(4 * n), ingot::detail::allocate_buffer(4 * n)} {
        if (pairs)
            for (ingot::detail::buffer_ref& values : values_) values = ingot::detail::allocate_buffer(4 * n);
    }

    /// With values 0, 1, ...; their order is not checked.
    void operator()(const float* from) const {
        constexpr std::size_t bins_of_pass = 256 * sizeof(unsigned);
        const std::size_t counters = portions() * 4 * sizeof(int);
        auto* const begin = static_cast<std::byte*>(bins_->data);
        const auto clear = [](void* at, std::size_t bytes) {
            runtime::check(
                runtime::driver()->cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(at), 0, bytes, bench::native_stream()),
                "clearing");
        };
        std::byte* const bins = begin + (counters + 255) / 256 * 256;
        clear(begin, static_cast<std::size_t>(bins - begin) + 4 * bins_of_pass);
        int blocks = 1;
        runtime::check(
            runtime::driver()->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_of(histogram_), 128, 0),
            "asking for blocks");
        histogram_(static_cast<std::size_t>(blocks) * runtime::processors_of(current_device()), 128, bins, from,
                   static_cast<unsigned>(n_));
        sums_(4, 256, bins);
        const void* keys = from;
        for (std::size_t pass = 0; pass < 4; ++pass) {
            for (std::size_t portion = 0; portion < portions(); ++portion) {
                const std::size_t first = portion * portion_, length = std::min(portion_, n_ - first),
                                  tiles = (length + tile_ - 1) / tile_;
                clear(lookback_->data, tiles * 1024);
                const bool last = portion + 1 == portions();
                pass_(tiles, 384, lookback_->data, begin + (portion * 4 + pass) * sizeof(int),
                      last ? nullptr : bins + ((portion + 1) * 4 + pass) * bins_of_pass,
                      bins + (portion * 4 + pass) * bins_of_pass, keys_[pass % 2]->data,
                      static_cast<const float*>(keys) + first, data_of(values_[pass % 2]),
                      static_cast<const unsigned*>(data_of(values_[(pass + 1) % 2])) + (values_[0] ? first : 0),
                      static_cast<int>(length), static_cast<int>(pass) * 8, 8);
            }
            keys = keys_[pass % 2]->data;
        }
    }

private:
    static std::vector<std::string> options(bool pairs) {
        const std::string include = std::string("-I") + INGOT_BUILD_CUDA_ROOT + "/include";
        std::vector<std::string> all{"-std=c++17", "-default-device", include, include + "/cccl"};
        if (pairs) all.emplace_back("-DPAIRS");
        return all;
    }
    static CUfunction function_of(const bench::hand_kernel& kernel) {
        CUfunction function = nullptr;
        runtime::check(runtime::driver()->cuKernelGetFunction(&function, reinterpret_cast<CUkernel>(kernel.function())),
                       "finding a function");
        return function;
    }
    static void* data_of(const ingot::detail::buffer_ref& b) { return b ? b->data : nullptr; }
    std::size_t portions() const { return (n_ + portion_ - 1) / portion_; }

    std::size_t n_, tile_, portion_;
    bench::hand_kernel histogram_, sums_, pass_;
    ingot::detail::buffer_ref bins_, lookback_, keys_[2], values_[2];
};

class table {
public:
    table(bench::report& out, int shrink, std::string_view only) : out_(out), shrink_(shrink), only_(only) {}

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

    /// Times `statement`, whose result `check` has verified, beside CUB's own kernels where there are any.
    template <class Statement, class Check>
    void measure(const std::string& name, Statement statement, Check check, const bench::work& cub = {}) try {
        check(statement());
        const auto kernels = counters().kernel_launches, calls = counters().library_calls;
        statement();
        const auto launches = counters().kernel_launches - kernels, library_calls = counters().library_calls - calls;
        std::vector<bench::work> candidates{[&](int) { statement(); }};
        if (cub) candidates.push_back(cub);
        std::vector<std::vector<double>> times = bench::time_in_turn(candidates, 7);
        std::ranges::sort(times[0]);
        char note[96];
        std::snprintf(note, sizeof note, "least %.1f, most %.1f; %llu kernels, %llu library calls", times[0].front(),
                      times[0].back(), static_cast<unsigned long long>(launches),
                      static_cast<unsigned long long>(library_calls));
        out_.add({.section = "sorting",
                  .name = name,
                  .unit = "us",
                  .time = times[0][3],
                  .baseline = cub ? "CUB's own kernels" : "",
                  .baseline_time = cub ? bench::median(times[1]) : 0,
                  .note = note});
        std::printf("    %s", note);
        if (cub) std::printf("; CUB's own kernels %.1f us", bench::median(times[1]));
        std::printf("\n");
        std::fflush(stdout);
    } catch (const std::exception& reason) {
        std::fprintf(stderr, "%s FAILED: %s\n", name.c_str(), reason.what());
        out_.add({.section = "failed", .name = name, .unit = "us", .time = std::nan(""), .note = reason.what()});
        ++failures_;
    }
    /// CUB's own kernels, where the toolkit's headers are.
    static bench::work cub(const array<float>& x, bool pairs) try {
        if (!current_device().is_cuda()) return {};
        const auto sort = std::make_shared<cub_sort>(static_cast<std::size_t>(x.size()), pairs);
        return [sort, x](int) { (*sort)(x.data()); };
    } catch (const std::exception& reason) {
        std::printf("    CUB's own kernels: not measured: %.300s\n", reason.what());
        return {};
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
            },
            cub_beside(x));
    }
    static bench::work cub_beside(const array<float>& x) { return cub(x, false); }
    static bench::work cub_beside(const array<double>&) { return {}; }
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
            },
            cub(x, true));
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

    bench::report& out_;
    int shrink_, failures_ = 0;
    std::string_view only_;
};

int run(int argc, char** argv) {
    const int shrink = argc > 2 ? std::atoi(argv[2]) : 0;
    if (argc < 2 || shrink < 0 || shrink > 20)
        return std::fprintf(stderr, "usage: sorting RESULTS.jsonl [SHRINK, 0 to 20 [PART]]\n"), 2;
    bench::report out(argv[1]);
    std::printf("%s; CUB's kernels: %s\n", current_device().name().c_str(),
                runtime::has_radix_sort(current_device()) ? "yes" : "no");
    return table(out, shrink, argc > 3 ? argv[3] : "").run() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "sorting: %s\n", reason.what());
    return 1;
}
