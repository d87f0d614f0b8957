// Users' whole statements: maps, folds inside folds, rows after scans, random leaves. Each is timed and compared with
// the roof for its bytes, a hand-written kernel, or the time that it is known to need on an H100; its kernels are
// counted, and some of its results are compared with double's.
//   whole_statements RESULTS.jsonl [PART_OF_A_NAME [SHRINK]]
// SHRINK divides the first extent of every shape by 2^SHRINK, for trials without goals.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include <ingot/core/philox.hpp>
#include <ingot/ingot.hpp>

#include "figure_table.hpp"
#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "session.hpp"

namespace {

using namespace ingot;
using bench::median;
using bench::promise;
using bench::uniform;

using bench::at_most;
using bench::share_of_roof;
using bench::times_by_hand;

class table : bench::figure_table {
public:
    table(bench::session& s, const char* only, int shrink) : figure_table(s, shrink), only_(only) {}

    void run() {
        attempt("gelu(x / sqrt(mean(x * x, -1, keepdims) + e) * g)", [&](auto& n) { measure_root_mean_square(n); });
        attempt("20 times t = t * 1.01 + 0.5 on a lazy", [&](auto& n) { measure_chain(n); });
        attempt("logsumexp of a mixture of 16", [&](auto& n) { measure_mixture(n); });
        attempt("N-body", [&](auto& n) { measure_attraction(n); });
        attempt("argmin of distances to 64 centres", [&](auto& n) { measure_nearest_centre(n); });
        attempt("min(p / cummax(p, 1) - 1, 1)", [&](auto& n) { measure_drawdown(n); });
        attempt("mean payoff of paths", [&](auto& n) { measure_paths(n); });
        attempt("pi by uniform pairs", [&](auto& n) { measure_circle(n); });
        attempt("grey from bytes", [&](auto& n) { measure_grey(n); });
    }

private:
    template <class Measure>
    void attempt(const std::string& name, Measure measure) {
        if (name.find(only_) != std::string::npos) figure_table::attempt(name, [&] { measure(name); });
    }

    void measure_root_mean_square(const std::string& name) {
        const std::size_t rows = shrunk(1 << 16), length = 1 << 12, n = rows * length;
        const auto x_host = uniform<float>(n, 101, -4, 4), g_host = uniform<float>(length, 102, 0.5, 1.5);
        const array<float> x = asarray(x_host, {rows, length}), g = asarray(g_host);
        const float e = 1e-5f;
        const auto gelu = [](const auto& t) {
            return 0.5f * t * (1 + tanh(0.79788456f * (t + 0.044715f * t * t * t)));
        };
        measure(
            {name, 4 * n, 4 * n, share_of_roof(711, 735)},
            [&] { return eval(gelu(x / sqrt(mean(x * x, -1, keepdims) + e) * g)); },
            [&](const array<float>& r) {
                return compare_rows(r, 64, 1e-5, [&](std::size_t row, std::span<const float> got) {
                    const float* const v = x_host.data() + row * length;
                    double squares = 0, worst = 0;
                    for (std::size_t i = 0; i < length; ++i) squares += double{v[i]} * v[i];
                    const double root = std::sqrt(squares / static_cast<double>(length) + e);
                    for (std::size_t i = 0; i < length; ++i) {
                        const double t = v[i] / root * g_host[i];
                        const double wanted =
                            0.5 * t * (1 + std::tanh(0.7978845608028654 * (t + 0.044715 * t * t * t)));
                        worst = std::max(worst, std::abs(got[i] - wanted));
                    }
                    return worst;
                });
            });
    }

    void measure_chain(const std::string& name) {
        const std::size_t n = shrunk(1 << 26);
        const auto x_host = uniform<float>(n, 103, -4, 4);
        const array<float> x = asarray(x_host);
        measure(
            {name, 4 * n, 4 * n, share_of_roof(178, 183)},
            [&] {
                lazy<float> t = x;
                for (int step = 0; step < 20; ++step) t = t * 1.01f + 0.5f;
                return eval(t);
            },
            [&](const array<float>& r) {
                const auto got = r.to_host();
                return bench::require("the chain", n, 1e-4, [&](std::size_t i) {
                    double t = x_host[i];
                    for (int step = 0; step < 20; ++step) t = t * double{1.01f} + 0.5;
                    return std::abs(got[i] - t);
                });
            });
    }

    void measure_mixture(const std::string& name) {
        const std::size_t n = shrunk(1 << 24), parts = 16;
        const auto v_host = uniform<float>(n, 104, -4, 4), mu_host = uniform<float>(parts, 105, -2, 2),
                   ls_host = uniform<float>(parts, 106, -0.5, 0.5);
        const array<float> v = asarray(v_host), mu = asarray(mu_host), ls = asarray(ls_host);
        measure(
            {name, 4 * n, 4 * n, at_most(220)},
            [&] {
                const auto z = (v(all, newaxis) - mu) * exp(-ls);
                return eval(logsumexp(-0.5f * z * z - ls, 1));
            },
            [&](const array<float>& r) {
                return compare_rows(r, 4096, 1e-4, [&](std::size_t row, std::span<const float> got) {
                    double sum = 0;
                    for (std::size_t k = 0; k < parts; ++k) {
                        const double z = (double{v_host[row]} - mu_host[k]) * std::exp(-double{ls_host[k]});
                        sum += std::exp(-0.5 * z * z - ls_host[k]);
                    }
                    return std::abs(got[0] - std::log(sum));
                });
            });
    }

    void measure_attraction(const std::string& name) {
        const std::size_t n = shrunk(1 << 14, 512);
        const auto p_host = uniform<float>(3 * n, 107, -1, 1);
        const array<float> p = asarray(p_host, {n, std::size_t{3}});
        const array<float> x = p(all, 0), y = p(all, 1), z = p(all, 2);
        // Relative to the sum of the terms' sizes, whatever cancels.
        const auto error = [&](std::size_t row, const std::array<float, 3>& got) {
            double sum[3] = {}, size[3] = {}, worst = 0;
            for (std::size_t other = 0; other < n; ++other) {
                double d[3], squares = 0;
                for (std::size_t c = 0; c < 3; ++c) {
                    d[c] = double{p_host[3 * other + c]} - p_host[3 * row + c];
                    squares += d[c] * d[c];
                }
                const double weight = std::pow(squares + 1e-3, -1.5);
                for (std::size_t c = 0; c < 3; ++c) {
                    sum[c] += d[c] * weight;
                    size[c] += std::abs(d[c] * weight);
                }
            }
            for (std::size_t c = 0; c < 3; ++c) worst = std::max(worst, std::abs(got[c] - sum[c]) / size[c]);
            return worst;
        };
        const std::uint64_t bytes = 12 * n;
        measure(
            {name + ", points of 3", bytes, bytes, at_most(900)},
            [&] {
                const auto d = p(newaxis) - p(all, newaxis);
                return eval(sum(d * power(sum(d * d, -1) + 1e-3f, -1.5f)(all, all, newaxis), 1));
            },
            [&](const array<float>& r) {
                return compare_rows(r, 64, 1e-5, [&](std::size_t row, std::span<const float> got) {
                    return error(row, {got[0], got[1], got[2]});
                });
            });

        array<float> to_x = empty<float>(n), to_y = empty<float>(n), to_z = empty<float>(n);
        const auto* const attractions = kernel_by_hand("attractions");
        const auto hand = by_hand([=, a = x.data(), b = y.data(), c = z.data(), u = to_x.mutable_data(),
                                   v = to_y.mutable_data(), w = to_z.mutable_data()](int) {
            (*attractions)(n / 32, 256, a, b, c, u, v, w, static_cast<unsigned>(n));
        });
        const auto compare = [&](const array<float>& u, const array<float>& v, const array<float>& w) {
            const auto a = u.to_host(), b = v.to_host(), c = w.to_host();
            return bench::require("a point", 64, 1e-5, [&](std::size_t k) {
                const std::size_t row = k * (n - 1) / 63;
                return error(row, {a[row], b[row], c[row]});
            });
        };
        if (hand) {
            hand(0);
            compare(to_x, to_y, to_z);
        }
        measure(
            {name + ", by components", bytes, bytes, at_most(824), hand},
            [&] {
                const auto dx = x(newaxis) - x(all, newaxis), dy = y(newaxis) - y(all, newaxis),
                           dz = z(newaxis) - z(all, newaxis);
                const auto weight = power(dx * dx + dy * dy + dz * dz + 1e-3f, -1.5f);
                return eval(sum(dx * weight, 1), sum(dy * weight, 1), sum(dz * weight, 1));
            },
            [&](const auto& r) { return compare(std::get<0>(r), std::get<1>(r), std::get<2>(r)); });
    }

    void measure_nearest_centre(const std::string& name) {
        const std::size_t n = shrunk(1 << 20), width = 16, centres = 64;
        const auto x_host = uniform<float>(n * width, 108, -1, 1), c_host = uniform<float>(centres * width, 109, -1, 1);
        const array<float> x = asarray(x_host, {n, width}), c = asarray(c_host, {centres, width});
        measure(
            {name, 4 * n * width, 8 * n, at_most(500)},
            [&] { return eval(argmin(sum(square(x(all, newaxis, all) - c), -1), 1)); },
            [&](const array<std::int64_t>& r) {
                // If two centres are equally near, either one is right.
                return compare_rows(r, 4096, 1e-5, [&](std::size_t row, std::span<const std::int64_t> got) {
                    const auto distance = [&](std::size_t k) {
                        double sum = 0;
                        for (std::size_t i = 0; i < width; ++i) {
                            const double d = double{x_host[row * width + i]} - c_host[k * width + i];
                            sum += d * d;
                        }
                        return sum;
                    };
                    double least = distance(0);
                    for (std::size_t k = 1; k < centres; ++k) least = std::min(least, distance(k));
                    return distance(static_cast<std::size_t>(got[0])) - least;
                });
            });
    }

    void measure_drawdown(const std::string& name) {
        const std::size_t rows = shrunk(1 << 16), length = 2520, n = rows * length;
        const auto p_host = uniform<float>(n, 110, 1, 2);
        const array<float> p = asarray(p_host, {rows, length});
        measure(
            {name, 4 * n, 4 * rows, share_of_roof(215, 250)}, [&] { return eval(min(p / cummax(p, 1) - 1, 1)); },
            [&](const array<float>& r) {
                return compare_rows(r, 4096, 1e-6, [&](std::size_t row, std::span<const float> got) {
                    double highest = 0, least = 0;
                    for (std::size_t i = 0; i < length; ++i) {
                        const double price = p_host[row * length + i];
                        highest = std::max(highest, price);
                        least = std::min(least, price / highest - 1);
                    }
                    return std::abs(got[0] - least);
                });
            });
    }

    void measure_paths(const std::string& name) {
        const std::size_t count = shrunk(1 << 20, 256), steps = 252;
        const std::uint64_t seed = 111;
        random::generator g(seed);
        const auto normal = g.normal<float>({count, steps});
        const auto exact = [&] {
            using namespace ingot::detail::philox;
            double payoffs = 0;
#pragma omp parallel for reduction(+ : payoffs)
            for (std::size_t path = 0; path < count; ++path) {
                double level = 0, total = 0;
                for (std::size_t group = 0; group < steps / 4; ++group) {
                    const auto w = words(seed, 0, path * (steps / 4) + group);
                    for (std::size_t pair = 0; pair < 2; ++pair) {
                        const double radius = std::sqrt(-2 * std::log(double{uniform_above_zero(w[2 * pair])}));
                        const double angle = two_pi<double> * double{ingot::detail::philox::uniform(w[2 * pair + 1])};
                        for (const double z : {radius * std::cos(angle), radius * std::sin(angle)})
                            total += 100 * std::exp(level += 0.01 * z - 5e-5);
                    }
                }
                payoffs += std::max(total / static_cast<double>(steps) - 100, 0.0);
            }
            return payoffs / static_cast<double>(count);
        }();
        const auto error = [&](double got) {
            return bench::require("the payoff", 1, 1e-4, [&](std::size_t) { return std::abs(got - exact) / exact; });
        };

        const auto* const paths = kernel_by_hand("paths");
        array<double> partial = empty<double>(1), found = empty<double>(1);
        const auto hand =
            with_finish([=](double* to) { (*paths)(count / 256, 256, std::uint64_t{seed}, std::uint64_t{0}, to); },
                        count / 256, 1 / static_cast<double>(count), partial, found);
        if (hand) {
            hand(0);
            error(found.item());
        }
        measure(
            {name, 0, 0, times_by_hand(1.3), hand},
            [&] { return eval(mean(maximum(mean(100 * exp(cumsum(0.01f * normal - 5e-5f, 1)), 1) - 100, 0))); },
            [&](const array<float>& r) { return error(r.item()); });
    }

    void measure_circle(const std::string& name) {
        const std::size_t n = shrunk(1 << 30, 1 << 12);
        const std::uint64_t seed = 112;
        random::generator g(seed);
        const auto u = g.uniform<float>(n), v = g.uniform<float>(n);
        std::uint64_t inside = 0;
#pragma omp parallel for reduction(+ : inside)
        for (std::size_t group = 0; group < n / 4; ++group) {
            using namespace ingot::detail::philox;
            const auto a = words(seed, 0, group), b = words(seed, 1, group);
            for (std::size_t e = 0; e < 4; ++e) {
                const double x = ingot::detail::philox::uniform(a[e]), y = ingot::detail::philox::uniform(b[e]);
                inside += x * x + y * y < 1;
            }
        }
        const double exact = static_cast<double>(inside) / static_cast<double>(n);
        // Pairs next to the circle are in it or not as the sum is rounded.
        const auto error = [&](double got) {
            return bench::require("the share", 1, 1e-6, [&](std::size_t) { return std::abs(got - exact); });
        };

        const auto* const circle = kernel_by_hand("circle");
        // Groups of four pairs for each of a block's 256 threads.
        const std::size_t each = std::min<std::size_t>(256, n / 1024), blocks = n / 1024 / each;
        array<double> partial = empty<double>(1), found = empty<double>(1);
        const auto hand = with_finish(
            [=](double* to) {
                (*circle)(blocks, 256, std::uint64_t{seed}, std::uint64_t{0}, std::uint64_t{1},
                          static_cast<unsigned>(each), to);
            },
            blocks, 1 / static_cast<double>(n), partial, found);
        if (hand) {
            hand(0);
            error(found.item());
        }
        measure(
            {name, 0, 0, times_by_hand(1.15), hand}, [&] { return eval(mean(u * u + v * v < 1)); },
            [&](const auto& r) { return error(r.item()); });
    }

    void measure_grey(const std::string& name) {
        const std::size_t side = 1 << 14, rows = shrunk(side), n = rows * side;
        const auto host = uniform<std::uint8_t>(3 * n, 113, 0, 256);
        const array<std::uint8_t> image = asarray(host, {rows, side, std::size_t{3}});
        measure(
            {name, 3 * n, 4 * n, share_of_roof(622, 660)},
            [&] {
                const auto part = [&](int c) { return astype<float>(image(all, all, c)); };
                return eval(0.299f * part(0) + 0.587f * part(1) + 0.114f * part(2));
            },
            [&](const array<float>& r) {
                return compare_rows(r, 64, 1e-4, [&](std::size_t row, std::span<const float> got) {
                    double worst = 0;
                    for (std::size_t i = 0; i < side; ++i) {
                        const std::uint8_t* const pixel = host.data() + 3 * (row * side + i);
                        const double wanted = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
                        worst = std::max(worst, std::abs(got[i] - wanted));
                    }
                    return worst;
                });
            });
    }

    const char* only_;
};

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: whole_statements RESULTS.jsonl [PART_OF_A_NAME [SHRINK]]\n"), 2;
    const int shrink = argc > 3 ? std::atoi(argv[3]) : 0;
    if (shrink < 0 || shrink > 12) return std::fprintf(stderr, "SHRINK: 0 to 12\n"), 2;
    const std::size_t n = std::size_t{1} << (28 - shrink);
    bench::report out(argv[1]);
    const bench::roofs roof = [&] {
        const auto x_host = uniform<float>(n, 99, 1, 4), y_host = uniform<float>(n, 100, 1, 4);
        return bench::roofs(out, asarray(x_host), asarray(y_host));
    }();
    bench::session s{out, roof};
    table(s, argc > 2 ? argv[2] : "", shrink).run();
    return s.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "whole_statements: %s\n", reason.what());
    return 1;
}
