// Reductions, row programs and scans of large arrays on a GPU: the share of the memory's rate, or of a hand-written
// kernel's, that Ingot's kernels reach, their number, and the results' errors against double.
//   reductions RESULTS.jsonl [PART_OF_A_NAME]         the table; only measurements whose name contains this
//   reductions RESULTS.jsonl --draws SEED COUNT [PART_OF_A_NAME]
//                                                     random shapes, axes and reductions (reduction_draws.hpp)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "reduction_draws.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "session.hpp"

namespace {

using namespace ingot;
using bench::median;
using bench::promise;
using bench::rounds;
using bench::time_in_turn;
using bench::uniform;

constexpr std::uint64_t elements = std::uint64_t{1} << 28;
constexpr double low = -4, high = 4;

/// The baseline of a measurement: the roof for its bytes, or a hand-written kernel.
struct job {
    const char* name;
    std::uint64_t read, written;  // bytes that it must move
    double goal;                  // share of the baseline
    bench::work by_hand = {};
    const char* what_by_hand = "hand-written";
};

/// Times `make`, which returns an array; `error` compares one with double's result and throws where it is wrong.
template <class Make, class Error>
void measure(bench::session& s, const job& j, Make make, Error error) {
    const auto before = counters().kernel_launches;
    auto result = make();
    const auto kernels = counters().kernel_launches - before;
    const double worst = error(result);
    std::vector<bench::work> candidates{[&](int) { result = make(); }};
    if (j.by_hand) candidates.push_back(j.by_hand);
    const auto times = time_in_turn(candidates, rounds);
    char note[64];
    std::snprintf(note, sizeof note, "%d kernel%s, error %.2g", static_cast<int>(kernels), kernels == 1 ? "" : "s",
                  worst);
    bench::row r{.section = "reductions",
                 .name = j.name,
                 .unit = "us",
                 .time = median(times[0]),
                 .kind = promise::share,
                 .goal = j.goal,
                 .elements = result.size() == 0 ? 0 : elements,
                 .bytes = j.read + j.written,
                 .note = note};
    if (j.by_hand) {
        r.baseline = j.what_by_hand;
        r.baseline_time = median(times[1]);
        r.reached = bench::paired_ratio(times[1], times[0]);
    } else {
        r.baseline = s.roof.name_of(j.read, j.written);
        r.baseline_time = s.roof.time_of(j.read, j.written);
    }
    s.out.add(r);
}

/// sum over i of f(i), in double.
template <class F>
double total(std::size_t n, F f) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) sum += f(i);
    return sum;
}

double require_number(const char* what, double got, double wanted, double bound) {
    return bench::require(what, 1, bound, [&](std::size_t) { return std::abs(got - wanted) / std::abs(wanted); });
}

/// Compares every `step`-th row of a result; `exact(row, values)` gives the right values from the row of x.
template <class Exact>
double compare_rows(const char* what, const array<float>& result, const std::vector<float>& x, std::size_t length,
                    double bound, Exact exact) {
    const std::size_t rows = x.size() / length, step = std::max<std::size_t>(1, rows / 64);
    double worst = 0;
    for (std::size_t r = 0; r < rows; r += step) {
        const auto i = static_cast<index_t>(r);
        const std::vector<float> got = ravel(result(slice(i, i + 1))).to_host();
        const std::vector<double> wanted = exact(std::span(x).subspan(r * length, length));
        worst = std::max(worst, bench::require(what, got.size(), bound,
                                               [&](std::size_t k) { return std::abs(got[k] - wanted[k]); }));
    }
    return worst;
}

struct row_moments {
    double mean, deviation;
};
row_moments moments_of(std::span<const float> row) {
    double mean = 0, squares = 0;
    for (const float v : row) mean += v;
    mean /= static_cast<double>(row.size());
    for (const float v : row) squares += (v - mean) * (v - mean);
    return {mean, std::sqrt(squares / static_cast<double>(row.size()))};
}
std::vector<double> exact_softmax(std::span<const float> row) {
    double sum = 0;
    for (const float v : row) sum += std::exp(double{v});
    std::vector<double> out;
    for (const float v : row) out.push_back(std::exp(double{v}) / sum);
    return out;
}

class table {
public:
    table(bench::session& s, const char* only, const array<float>& x, const array<float>& y,
          const std::vector<float>& x_host, const std::vector<float>& y_host)
        : s_(s), only_(only), x_(x), y_(y), x_host_(x_host), y_host_(y_host) {}

    void run() {
        measure_everything();
        measure_rows();
        measure_weighting();
        measure_columns();
        measure_scan();
        measure_gradient();
        measure_column_scans();
        measure_other_dtypes();
    }

private:
    static constexpr std::uint64_t bytes = 4 * elements;

    template <class Make, class Error>
    void add(const job& j, Make make, Error error) {
        if (std::strstr(j.name, only_) == nullptr) return;
        s_.attempt(j.name, [&] { measure(s_, j, make, error); });
    }

    const bench::hand_kernel& by_hand(const char* name) {
        return *hand_.emplace_back(std::make_unique<bench::hand_kernel>("reductions.cu", name));
    }
    template <class T>
    static T* place(array<T>& a) {
        return a.mutable_data();
    }

    /// Reductions of all 2^28 numbers.
    void measure_everything() {
        const std::size_t n = elements, vectors = n / 4;
        const unsigned blocks = 132 * 8;
        array<double> partial = zeros<double>(2 * blocks);
        array<std::uint32_t> arrived = zeros<std::uint32_t>(64);
        array<float> z = empty<float>(n), found = empty<float>(2);
        const auto &x = x_host_, &y = y_host_;
        const auto *a = x_.data(), *b = y_.data();

        const auto &distance = by_hand("squared_distance"), &moments = by_hand("moments"),
                   &standardise = by_hand("standardise");
        add(
            {"sum((x - y)^2)", 2 * bytes, 0, 0.99,
             [=, &distance, p = place(partial), c = place(arrived), to = place(found)](int) {
                 distance(blocks, 256, a, b, to, p, c, vectors);
             }},
            [&] { return eval(sum(square(x_ - y_))); },
            [&](const array<float>& r) {
                const double wanted = total(n, [&](std::size_t i) {
                    const double d = double{x[i]} - double{y[i]};
                    return d * d;
                });
                return require_number("sum", r.item(), wanted, 1e-6);
            });

        const double mean_host = total(n, [&](std::size_t i) { return x[i]; }) / static_cast<double>(n);
        const double var_host =
            total(n, [&](std::size_t i) { return (x[i] - mean_host) * (x[i] - mean_host); }) / static_cast<double>(n);
        add(
            {"var(x)", bytes, 0, 0.95}, [&] { return eval(var(x_)); },
            [&](const array<float>& r) { return require_number("var", r.item(), var_host, 1e-5); });
        add(
            {"(x - mean(x)) / stddev(x) + y", 3 * bytes, bytes, 1 / 1.03,
             [=, &moments, &standardise, p = place(partial), c = place(arrived), to = place(z), m = place(found)](int) {
                 moments(blocks, 256, a, m, p, c, vectors);
                 standardise(vectors / 256, 256, a, b, m, to, vectors);
             }},
            [&] { return eval((x_ - mean(x_)) / stddev(x_) + y_); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                return bench::require("standardised", n, 1e-5, [&](std::size_t i) {
                    return std::abs(got[i] - ((x[i] - mean_host) / std::sqrt(var_host) + y[i]));
                });
            });
        add(
            {"x / norm(x)", 2 * bytes, bytes, 0.95}, [&] { return eval(x_ / norm(x_)); },
            [&](const array<float>& r) {
                const double norm_host =
                    std::sqrt(total(n, [&](std::size_t i) { return double{x[i]} * double{x[i]}; }));
                const std::vector<float> got = r.to_host();
                return bench::require("normalised", n, 1e-6,
                                      [&](std::size_t i) { return std::abs(got[i] * norm_host - x[i]); });
            });
        add(
            {"(x - min(x)) / (max(x) - min(x))", 2 * bytes, bytes, 0.95},
            [&] { return eval((x_ - min(x_)) / (max(x_) - min(x_))); },
            [&](const array<float>& r) {
                const auto [least, most] = std::minmax_element(x.begin(), x.end());
                const double from = *least, range = double{*most} - from;
                const std::vector<float> got = r.to_host();
                return bench::require("between 0 and 1", n, 1e-6,
                                      [&](std::size_t i) { return std::abs(got[i] - (x[i] - from) / range); });
            });

        const auto largest = std::max_element(x.begin(), x.end());
        const auto exactly = [](auto got, auto wanted) {
            return bench::require("an exact result", 1, 0, [&](std::size_t) { return got == wanted ? 0.0 : 1.0; });
        };
        add(
            {"argmax(x)", bytes, 0, 0.95}, [&] { return eval(argmax(x_)); },
            [&](const array<std::int64_t>& r) { return exactly(r.item(), largest - x.begin()); });
        add(
            {"any(x > 5)", bytes, 0, 0.95}, [&] { return eval(any(x_ > 5)); },
            [&](const array<bool>& r) { return exactly(r.item(), false); });
        add(
            {"sum, max and min at once", bytes, 0, 0.95}, [&] { return std::get<1>(eval(sum(x_), max(x_), min(x_))); },
            [&](const array<float>& r) { return exactly(r.item(), *largest); });
        add(
            {"x * y and sum(x * x) at once", 2 * bytes, bytes, 0.95},
            [&] { return std::get<1>(eval(x_ * y_, sum(x_ * x_))); },
            [&](const array<float>& r) {
                return require_number("sum", r.item(),
                                      total(n, [&](std::size_t i) { return double{x[i]} * double{x[i]}; }), 1e-6);
            });
    }

    void measure_rows() {
        const std::size_t rows = 1 << 16, length = 1 << 12;
        const array<float> m = reshape(x_, {rows, length});
        array<float> norms = empty<float>(rows);
        const auto& row_norms = by_hand("row_norms");
        add(
            {"sqrt(sum(a * a, -1)), (65536, 4096)", bytes, 0, 0.99,
             [=, this, &row_norms, to = place(norms)](int) { row_norms(rows, 256, x_.data(), to); }},
            [&] { return eval(sqrt(sum(m * m, -1))); },
            [&](const array<float>& r) {
                return compare_rows("norms", r, x_host_, length, 1e-4, [](std::span<const float> row) {
                    double sum = 0;
                    for (const float v : row) sum += double{v} * v;
                    return std::vector<double>{std::sqrt(sum)};
                });
            });
        add(
            {"softmax, (65536, 4096)", bytes, bytes, 1 / 1.02}, [&] { return eval(softmax(m)); },
            [&](const array<float>& r) { return compare_rows("softmax", r, x_host_, length, 1e-6, exact_softmax); });
        add(
            {"softmax of what a mask leaves, (65536, 4096)", bytes, bytes, 0.95},
            [&] { return eval(softmax(where(m < 0, -std::numeric_limits<float>::infinity(), m))); },
            [&](const array<float>& r) {
                return compare_rows("masked", r, x_host_, length, 1e-6, [](std::span<const float> row) {
                    std::vector<float> left(row.begin(), row.end());
                    for (float& v : left)
                        if (v < 0) v = -std::numeric_limits<float>::infinity();
                    return exact_softmax(left);
                });
            });
        add(
            {"standardise rows, (65536, 4096)", bytes, bytes, 1 / 1.02},
            [&] { return eval((m - mean(m, -1, keepdims)) / stddev(m, -1, keepdims)); },
            [&](const array<float>& r) {
                return compare_rows("standardised", r, x_host_, length, 1e-5, [](std::span<const float> row) {
                    const row_moments of = moments_of(row);
                    std::vector<double> out;
                    for (const float v : row) out.push_back((v - of.mean) / of.deviation);
                    return out;
                });
            });
        add(
            {"cumsum of rows, (65536, 4096)", bytes, bytes, 1 / 1.02}, [&] { return eval(cumsum(m, 1)); },
            [&](const array<float>& r) {
                return compare_rows("cumsum", r, x_host_, length, 1e-3, [](std::span<const float> row) {
                    double sum = 0;
                    std::vector<double> out;
                    for (const float v : row) out.push_back(sum += v);
                    return out;
                });
            });
        add(
            {"logcumsumexp of rows, (65536, 4096)", bytes, bytes, 0.5}, [&] { return eval(logcumsumexp(m, 1)); },
            [&](const array<float>& r) {
                return compare_rows("logcumsumexp", r, x_host_, length, 2e-5, [](std::span<const float> row) {
                    double sum = 0;
                    std::vector<double> out;
                    for (const float v : row) out.push_back(std::log(sum += std::exp(double{v})));
                    return out;
                });
            });
        measure_softmax_of_long_rows("softmax, (4096, 65536)", 1 << 16, 1 / 1.04);
        measure_softmax_of_long_rows("softmax, (512, 524288)", 1 << 19, 0.70);

        const std::size_t many = std::size_t{1} << 24, odd = 17;
        if (std::strstr("logsumexp, (2^24, 17)", only_) == nullptr) return;
        const std::vector<float> short_host = uniform<float>(many * odd, 3, low, high);
        const array<float> short_rows = asarray(short_host, {many, odd});
        add(
            {"logsumexp, (2^24, 17)", 4 * many * odd, 4 * many, 1 / 1.06},
            [&] { return eval(logsumexp(short_rows, -1)); },
            [&](const array<float>& r) {
                return compare_rows("logsumexp", r, short_host, odd, 1e-5, [](std::span<const float> row) {
                    double sum = 0;
                    for (const float v : row) sum += std::exp(double{v});
                    return std::vector<double>{std::log(sum)};
                });
            });
    }

    void measure_softmax_of_long_rows(const char* name, std::size_t length, double goal) {
        const array<float> m = reshape(x_, {elements / length, length});
        add(
            {name, bytes, bytes, goal}, [&] { return eval(softmax(m)); },
            [&](const array<float>& r) { return compare_rows("softmax", r, x_host_, length, 1e-7, exact_softmax); });
    }

    /// Operands that only a later phase reads wait on the chip.
    void measure_weighting() {
        measure_weighted_sums("sum(softmax(x) * y, -1), (2048, 131072)", 1 << 17);
        measure_weighted_sums("sum(softmax(x) * y, -1), (8192, 32768)", 1 << 15);
        const std::size_t length = 1 << 12, rows = elements / length;
        const array<float> m = reshape(x_, {rows, length}), w = reshape(y_, {rows, length});
        add(
            {"softmax(x) * y, (65536, 4096)", 2 * bytes, bytes, 0.92}, [&] { return eval(softmax(m) * w); },
            [&](const array<float>& r) {
                return compare_rows("weighted", r, x_host_, length, 1e-6, [this](std::span<const float> row) {
                    std::vector<double> weighted = exact_softmax(row);
                    const float* y = y_host_.data() + (row.data() - x_host_.data());
                    for (double& share : weighted) share *= *y++;
                    return weighted;
                });
            });
    }
    void measure_weighted_sums(const char* name, std::size_t length) {
        const std::size_t rows = elements / length;
        const array<float> m = reshape(x_, {rows, length}), w = reshape(y_, {rows, length});
        add(
            {name, 2 * bytes, 0, 0.90}, [&] { return eval(sum(softmax(m) * w, -1)); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                return bench::require("weighting", 64, 1e-4, [&](std::size_t k) {
                    const std::size_t row = k * (rows - 1) / 63;
                    const auto shares = exact_softmax(std::span(x_host_).subspan(row * length, length));
                    double sum = 0;
                    for (std::size_t i = 0; i < length; ++i) sum += shares[i] * y_host_[row * length + i];
                    return std::abs(got[row] - sum);
                });
            });
    }

    void measure_columns() {
        const std::size_t rows = 1 << 16, width = 1 << 12, splits = 33;
        const array<float> m = reshape(x_, {rows, width});
        array<float> norms = empty<float>(width), partial = empty<float>(splits * width);
        array<std::uint32_t> arrived = zeros<std::uint32_t>(32);
        const auto& column_norms = by_hand("column_norms");
        add(
            {"sqrt(sum(a * a, 0)), (65536, 4096)", bytes, 0, 0.99,
             [=, this, &column_norms, to = place(norms), p = place(partial), c = place(arrived)](int) {
                 column_norms(32 * splits, 256, x_.data(), to, p, c, static_cast<unsigned>(rows));
             }},
            [&] { return eval(sqrt(sum(m * m, 0))); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                return bench::require("norms", 64, 1e-3, [&](std::size_t k) {
                    const std::size_t column = 61 * k;
                    double sum = 0;
                    for (std::size_t i = 0; i < rows; ++i) {
                        const double v = x_host_[i * width + column];
                        sum += v * v;
                    }
                    return std::abs(got[column] - std::sqrt(sum));
                });
            });

        const array<float> weights = random::uniform<float>({rows, 1});
        const std::vector<float> weights_host = weights.to_host();
        add(
            {"sum(a * g, 0), (65536, 4096), g (65536, 1)", bytes, 0, 0.95}, [&] { return eval(sum(m * weights, 0)); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                return bench::require("weighted sums", 64, 1e-2, [&](std::size_t k) {
                    double sum = 0;
                    for (std::size_t i = 0; i < rows; ++i) sum += double{x_host_[i * width + 61 * k]} * weights_host[i];
                    return std::abs(got[61 * k] - sum);
                });
            });

        measure_variance("var(x, 0), (2^22, 64)", 64, 1 / 1.04);
        measure_variance("var(x, 0), (2^19, 512)", 512, 0.95);
        const std::size_t side = 512, length = elements / side;
        const array<float> columns = reshape(x_, {length, side});
        add(
            {"argmax(x, 0), (2^19, 512)", bytes, 0, 0.80}, [&] { return eval(argmax(columns, 0)); },
            [&](const array<std::int64_t>& r) {
                const std::vector<std::int64_t> got = r.to_host();
                return bench::require("argmax", side, 0, [&](std::size_t c) {
                    std::size_t greatest = 0;
                    for (std::size_t i = 1; i < length; ++i)
                        if (x_host_[i * side + c] > x_host_[greatest * side + c]) greatest = i;
                    return std::abs(static_cast<double>(got[c]) - static_cast<double>(greatest));
                });
            });
    }
    void measure_variance(const char* name, std::size_t width, double goal) {
        const std::size_t length = elements / width;
        const array<float> columns = reshape(x_, {length, width});
        add(
            {name, bytes, 0, goal}, [&] { return eval(var(columns, 0)); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                return bench::require("var", 64, 1e-5, [&](std::size_t k) {
                    const std::size_t c = k * width / 64;
                    double mean = 0, squares = 0;
                    for (std::size_t i = 0; i < length; ++i) mean += x_host_[i * width + c];
                    mean /= static_cast<double>(length);
                    for (std::size_t i = 0; i < length; ++i) {
                        const double d = x_host_[i * width + c] - mean;
                        squares += d * d;
                    }
                    const double wanted = squares / static_cast<double>(length);
                    return std::abs(got[c] - wanted) / wanted;
                });
            });
    }

    void measure_scan() {
        add(
            {"cumsum(x * x), 2^28", bytes, bytes, 1 / 1.30}, [&] { return eval(cumsum(x_ * x_)); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                std::vector<double> wanted(elements);
                double sum = 0;
                for (std::size_t i = 0; i < elements; ++i) wanted[i] = sum += double{x_host_[i]} * x_host_[i];
                return bench::require("cumsum", elements, 1e-5,
                                      [&](std::size_t i) { return std::abs(got[i] - wanted[i]) / wanted[i]; });
            });
    }

    void measure_gradient() {
        const std::size_t side = 1 << 14;
        const array<float> m = reshape(x_, {side, side});
        add(
            {"gradient(x * x, 1, 0) * 2 + 1, (16384, 16384)", bytes, bytes, 0.75},
            [&] { return eval(gradient(m * m, 1.0, 0) * 2 + 1); },
            [&](const array<float>& r) {
                return compare_every(r, side, [&](std::size_t i, std::size_t j) {
                    const std::size_t above = i == 0 ? 0 : i - 1, below = std::min(i + 1, side - 1);
                    const double a = x_host_[above * side + j], b = x_host_[below * side + j];
                    return (b * b - a * a) / static_cast<double>(below - above) * 2 + 1;
                });
            });
    }
    /// Compares some elements of a square result, including its first and last row.
    template <class Exact>
    static double compare_every(const array<float>& result, std::size_t side, Exact exact) {
        const std::vector<float> got = result.to_host();
        return bench::require("gradient", 4096, 1e-4, [&](std::size_t k) {
            const std::size_t i = k % 64 * (side - 1) / 63, j = k / 64 * (side - 1) / 63;
            return std::abs(got[i * side + j] - exact(i, j));
        });
    }

    /// Scans across memory: the axis before the last `inner` elements, of every `outer`-th part of the array.
    void measure_column_scan(const char* name, std::size_t outer, std::size_t length, std::size_t inner) {
        const array<float> m = reshape(x_, {outer, length, inner});
        add(
            {name, bytes, bytes, 1 / 1.30}, [&] { return eval(cumsum(m * m, 1)); },
            [&](const array<float>& r) {
                const std::vector<float> got = r.to_host();
                return bench::require("cumsum", 64, 1e-5, [&](std::size_t k) {
                    const std::size_t column = k * (outer * inner - 1) / 63;
                    const std::size_t first = column / inner * length * inner + column % inner;
                    double sum = 0, worst = 0;
                    for (std::size_t i = 0; i < length; ++i) {
                        const std::size_t at = first + i * inner;
                        sum += double{x_host_[at]} * x_host_[at];
                        worst = std::max(worst, std::abs(got[at] - sum) / sum);
                    }
                    return worst;
                });
            });
    }
    void measure_column_scans() {
        measure_column_scan("cumsum(x * x, 0), (2^22, 64)", 1, 1 << 22, 64);
        measure_column_scan("cumsum(x * x, 0), (4096, 65536)", 1, 1 << 12, 1 << 16);
        measure_column_scan("cumsum(x * x, 0), (65536, 4096)", 1, 1 << 16, 1 << 12);
        measure_column_scan("cumsum(x * x, 1), (8, 2^23, 4)", 8, 1 << 23, 4);
        measure_column_scan("cumsum(x * x, 1), (512, 512, 1024)", 512, 512, 1024);
        measure_column_scan("cumsum(x * x, 1), (2^18, 256, 4)", 1 << 18, 256, 4);
        measure_column_scan("cumsum(x * x, 1), (2^17, 128, 16)", 1 << 17, 128, 16);
    }

    void measure_other_dtypes() {
        if (std::strstr("max of int8", only_) != nullptr) {
            const auto host = uniform<std::int8_t>(elements, 4, -100, 100);
            const array<std::int8_t> bytes_array = asarray(host);
            // A quarter of the bytes that the roofs were measured with, so that beginning and end count for more.
            const bench::hand_kernel& read = *hand_.emplace_back(std::make_unique<bench::hand_kernel>(
                "roof.cu", "read", std::vector<std::string>{"-DTHREADS=256", "-DVECTORS=1"}));
            array<float> nothing = empty<float>(4);
            const auto stream = [&, from = bytes_array.data(), to = nothing.mutable_data()](int) {
                read(bench::blocks_for(elements / 16, 256, 1), 256, from, to, elements / 16);
            };
            add(
                {"max of int8", elements, 0, 0.95, stream, "a stream of its bytes"},
                [&] { return eval(max(bytes_array)); },
                [&](const array<std::int8_t>& r) {
                    return bench::require("max", 1, 0, [&](std::size_t) {
                        return r.item() == *std::max_element(host.begin(), host.end()) ? 0.0 : 1.0;
                    });
                });
        }
        if (std::strstr("sum of float64", only_) != nullptr) {
            const auto host = uniform<double>(elements, 5, 0, 1);
            const array<double> doubles = asarray(host);
            add(
                {"sum of float64", 8 * elements, 0, 0.95}, [&] { return eval(sum(doubles)); },
                [&](const array<double>& r) {
                    return require_number("sum", r.item(), total(elements, [&](std::size_t i) { return host[i]; }),
                                          1e-12);
                });
        }
    }

    bench::session& s_;
    const char* only_;
    const array<float>&x_, &y_;
    const std::vector<float>&x_host_, &y_host_;
    std::vector<std::unique_ptr<bench::hand_kernel>> hand_;
};

int run(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr,
                     "usage: reductions RESULTS.jsonl [PART_OF_A_NAME | --draws SEED COUNT [PART_OF_A_NAME]]\n"
                     "       reductions --launch-draws SEED COUNT\n");
        return 2;
    }
    const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
    const auto x_host = uniform<float>(elements, 1, low, high);
    const array<float> x = asarray(x_host);
    if (argc > 3 && std::strcmp(argv[1], "--launch-draws") == 0)
        return bench::launch_draws(x, x_host, number(2), number(3)), 0;
    const auto y_host = uniform<float>(elements, 2, low, high);
    const array<float> y = asarray(y_host);
    bench::report out(argv[1]);
    const bench::roofs roof(out, x, y);
    bench::session s{out, roof};
    if (argc > 4 && std::strcmp(argv[2], "--draws") == 0)
        bench::measure_draws(s, x, x_host, number(3), number(4), argc > 5 ? argv[5] : "");
    else
        table(s, argc > 2 ? argv[2] : "", x, y, x_host, y_host).run();
    return s.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "reductions: %s\n", reason.what());
    return 1;
}
