// Reductions and row programs of the host target: reductions against the rate at which a loop copies, row programs
// against NumPy's statements where there is a python3 that has it (INGOT_PYTHON names another). Results are compared
// with float64's before they are timed.
//   host_folds RESULTS.jsonl [LOG2_OF_ELEMENTS [NAME]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <ingot/ingot.hpp>

#include "hand/host_loops.hpp"
#include "host_data.hpp"
#include "host_turns.hpp"
#include "report.hpp"

namespace {

using namespace ingot;
using bench::median;
using bench::promise;
using bench::uniform;

constexpr index_t row_length = 4096;

class measuring {
public:
    measuring(const char* results, int log2_elements, std::string only)
        : out_(results), only_(std::move(only)), n_(std::size_t{1} << log2_elements) {}

    void run() {
        reductions();
        row_programs();
    }

private:
    bool wanted(const std::string& name) const { return name.find(only_) != name.npos; }

    void add(const std::string& name, const std::vector<double>& times, double reached, double goal,
             const std::string& baseline, double baseline_time, std::uint64_t bytes) {
        out_.add({.section = "host folds",
                  .name = name,
                  .unit = "us",
                  .time = median(times),
                  .baseline = baseline,
                  .baseline_time = baseline_time,
                  .kind = goal > 0 ? promise::share : promise::none,
                  .reached = reached,
                  .goal = goal,
                  .elements = n_,
                  .bytes = bytes,
                  .note = std::to_string(std::thread::hardware_concurrency()) + " threads"});
    }

    /// Times `run`, which moves `bytes`, and compares its rate with that of a copy of 2^log2 floats.
    void against_copy(const std::string& name, std::uint64_t bytes, double goal, const std::function<void()>& run) {
        if (!wanted(name)) return;
        run();
        float* const to = copied_.mutable_data();
        const auto copy = [&] { bench::copy_loop(x_.data(), to, static_cast<std::ptrdiff_t>(n_)); };
        const bench::pair_of_times times = bench::time_in_turn(run, copy, 11);
        const double share = static_cast<double>(bytes) / static_cast<double>(8 * n_);
        add(name, times.ingot, share * bench::paired_ratio(times.other, times.ingot), goal, "copy loop",
            median(times.other), bytes);
    }

    void reductions() {
        const array<float> rows = reshape(x_, {-1, row_length});
        const array<std::int8_t> bytes = astype<std::int8_t>(x_ * 30);
        const array<bool> none = x_ > 100;
        const array<double> wide = x_;
        double exact = 0, squares = 0;
        for (const float v : host_) exact += v, squares += static_cast<double>(v) * v;
        const auto close = [&](double a, double b) { return std::abs(a - b) <= 1e-6 * static_cast<double>(n_); };
        const auto check = [](bool right, const char* what) {
            if (!right) throw std::runtime_error(std::string(what) + " is wrong");
        };
        check(close(sum(x_).item(), exact), "sum");
        check(close(sum(sum(rows, 1)).item(), exact), "sum of rows");
        check(close(sum(sum(rows, 0)).item(), exact), "sum of columns");
        check(host_[static_cast<std::size_t>(argmax(x_).item())] == max(x_).item(), "argmax");
        check(!any(none).item(), "any");
        const double middle = exact / static_cast<double>(n_);
        check(std::abs(var(x_).item() - (squares / static_cast<double>(n_) - middle * middle)) < 1e-4, "var");

        array<float> r, s;
        array<double> d;
        array<std::int64_t> i;
        array<std::int8_t> b;
        array<bool> t;
        const double goal = 0.85;
        against_copy("sum", 4 * n_, goal, [&] { r = sum(x_); });
        against_copy("sum of rows", 4 * n_, goal, [&] { r = sum(rows, 1); });
        against_copy("sum over axis 0", 4 * n_, goal, [&] { r = sum(rows, 0); });
        against_copy("sum((x - 1)^2)", 4 * n_, goal, [&] { r = sum(square(x_ - 1)); });
        against_copy("sum of float64", 8 * n_, goal, [&] { d = sum(wide); });
        against_copy("max, int8", n_, goal, [&] { b = max(bytes); });
        against_copy("max of rows, float32", 4 * n_, goal, [&] { r = max(rows, 1); });
        against_copy("any", n_, goal, [&] { t = any(none); });
        against_copy("any of rows, bool", n_, goal, [&] { t = any(reshape(none, {-1, row_length}), 1); });
        against_copy("argmax", 4 * n_, goal, [&] { i = argmax(x_); });
        against_copy("argmin of rows", 4 * n_, goal, [&] { i = argmin(rows, 1); });
        against_copy("argmax over axis 0", 4 * n_, goal, [&] { i = argmax(rows, 0); });
        against_copy("sum, max and count at once", 4 * n_, goal,
                     [&] { std::tie(r, s, i) = eval(sum(x_), max(x_), count_nonzero(x_)); });
        against_copy("logsumexp of rows of 17", 4 * (n_ / 17 * 17), 0,
                     [&] { r = logsumexp(reshape(x_(slice(0, static_cast<index_t>(n_ / 17 * 17))), {-1, 17}), 1); });
    }

    /// Median microseconds of a statement over a float32 array `x` of these rows; 0 where there is no NumPy.
    double numpy(const std::string& statement) const {
        const char* const given = std::getenv("INGOT_PYTHON");
        const std::string command = std::string(given ? given : "python3") + " -c '" +
                                    "import numpy as np, time\n"
                                    "x = np.random.default_rng(1).random((" +
                                    std::to_string(n_ / row_length) + ", " + std::to_string(row_length) +
                                    "), np.float32)\n"
                                    "def run():\n    t = time.perf_counter(); " +
                                    statement +
                                    "; return time.perf_counter() - t\n"
                                    "print(sorted(run() for _ in range(7))[3] * 1e6)' 2>/dev/null";
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> answer(popen(command.c_str(), "r"), &pclose);
        double time = 0;
        return answer && std::fscanf(answer.get(), "%lf", &time) == 1 ? time : 0;
    }

    void row_program(const std::string& name, const std::string& statement, double goal,
                     const std::function<array<float>(const array<float>&)>& run,
                     const std::function<double(const float*, std::size_t)>& exact, int axis = 1) {
        if (!wanted(name)) return;
        const array<float> rows = reshape(x_, {-1, row_length});
        const std::vector<float> got = run(rows).to_host();
        const std::size_t step = axis == 1 ? 1 : row_length;
        const std::size_t length = axis == 1 ? row_length : n_ / row_length;
        std::vector<float> row(length);
        for (const std::size_t r : {std::size_t{0}, std::size_t{77}}) {
            const std::size_t first = axis == 1 ? r * row_length : r;
            for (std::size_t k = 0; k < length; ++k) row[k] = host_[first + k * step];
            bench::require(name, length, 2e-6, [&](std::size_t k) {
                const double e = exact(row.data(), k);
                return std::abs(got[first + k * step] - e) / std::max(1.0, std::abs(e));
            });
        }
        array<float> r;
        std::vector<double> times;
        for (int i = 0; i < 9; ++i) times.push_back(bench::microseconds([&] { r = run(rows); }));
        const double reference = statement.empty() ? 0 : numpy(statement);
        add(name, times, reference / median(times), reference > 0 ? goal : 0, reference > 0 ? "NumPy" : "", reference,
            8 * n_);
        against_copy(name + ", against a copy", 8 * n_, 0, [&] { r = run(rows); });
    }

    void row_programs() {
        const auto softmaxed = [](std::size_t n) {
            return [n](const float* x, std::size_t k) {
                double s = 0;
                for (std::size_t i = 0; i < n; ++i) s += std::exp(static_cast<double>(x[i]) - x[k]);
                return 1 / s;
            };
        };
        const auto standardised = [](const float* x, std::size_t k) {
            double s = 0, q = 0;
            for (std::size_t i = 0; i < row_length; ++i) s += x[i];
            const double mean = s / row_length;
            for (std::size_t i = 0; i < row_length; ++i) q += (x[i] - mean) * (x[i] - mean);
            return (x[k] - mean) / std::sqrt(q / row_length);
        };
        row_program(
            "softmax of rows", "e = np.exp(x - x.max(-1, keepdims=True)); y = e / e.sum(-1, keepdims=True)", 5,
            [](const array<float>& x) { return eval(softmax(x)); }, softmaxed(row_length));
        row_program(
            "softmax over axis 0", "e = np.exp(x - x.max(0, keepdims=True)); y = e / e.sum(0, keepdims=True)", 0,
            [](const array<float>& x) { return eval(softmax(x, 0)); }, softmaxed(n_ / row_length), 0);
        row_program(
            "standardised rows", "y = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)", 0,
            [](const array<float>& x) { return eval((x - mean(x, 1, keepdims)) / stddev(x, 1, keepdims)); },
            standardised);
    }

    bench::report out_;
    std::string only_;
    std::size_t n_;
    std::vector<float> host_ = uniform<float>(n_, 1, -4, 4);
    array<float> x_ = asarray(host_), copied_ = empty<float>(n_);
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) return std::fprintf(stderr, "usage: host_folds RESULTS.jsonl [LOG2 [NAME]]\n"), 2;
    const with_device on_host(device::host());
    measuring(argv[1], argc > 2 ? std::atoi(argv[2]) : 26, argc > 3 ? argv[3] : "").run();
} catch (const std::exception& reason) {
    std::fprintf(stderr, "host_folds: %s\n", reason.what());
    return 1;
}
