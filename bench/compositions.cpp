// Statements that mix rolls, gathers, joins, windows and rows, as users write them: their time beside the wanted one,
// their kernels, and the time to the first result.
//   compositions RESULTS.jsonl [SHRINK]
// SHRINK divides the first extent of every shape by 2^SHRINK, for trials without goals.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <vector>

#include <ingot/ingot.hpp>

#include "composing.hpp"
#include "goal_table.hpp"

using namespace ingot;

namespace {

class table : bench::goal_table {
public:
    using goal_table::goal_table;

    void run() {
        lattice_boltzmann();
        rows_of_a_table();
        rotary();
        sliding_mean();
        interpolated();
        rows_to_bytes();
        shallow_water();
        max_pool();
        sobel();
        grey();
        density();
        drawn();
    }

private:
    void lattice_boltzmann() {
        const index_t n = 4096;
        const array<float> f = random::uniform<float>({9, first(n), n}) * 1.0f + 0.5f;
        constexpr int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
        constexpr float w[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
        array<float> z;
        measure("lattice Boltzmann D2Q9, (9, 4096, 4096)", 300, [&] {
            std::vector<lazy<float>> g, parts;
            for (int k = 0; k < 9; ++k) g.push_back(roll(f(k), {cy[k], cx[k]}, {0, 1}));
            lazy<float> rho = g[0];
            for (std::size_t k = 1; k < 9; ++k) rho = rho + g[k];
            const lazy<float> ux = (g[1] + g[5] + g[8] - g[3] - g[6] - g[7]) / rho,
                              uy = (g[2] + g[5] + g[6] - g[4] - g[7] - g[8]) / rho, uu = 1.5f * (ux * ux + uy * uy);
            for (int k = 0; k < 9; ++k) {
                const auto at = static_cast<std::size_t>(k);
                const lazy<float> cu = 3.f * (static_cast<float>(cx[k]) * ux + static_cast<float>(cy[k]) * uy);
                parts.push_back(g[at] - 1.2f * (g[at] - w[k] * rho * (1.f + cu + 0.5f * cu * cu - uu)));
            }
            z = stack(parts, 0);
        });
    }

    void rows_of_a_table() {
        const index_t n = first(131072);
        const array<float> values = random::uniform<float>({50000, 768}), p = random::uniform<float>({768});
        const array<int> i = random::integers<int>(0, 50000, {n});
        array<float> z;
        measure("layer norm of take(table, i, 0) + p, 131072 of 768", 310, [&] {
            const auto x = take(values, i, 0) + p;
            const auto centred = x - mean(x, -1, keepdims);
            z = centred / sqrt(mean(centred * centred, -1, keepdims) + 1e-5f);
        });
    }

    void rotary() {
        const index_t n = first(8192);
        const array<float> x = random::uniform<float>({n, 32, 128}), c = random::uniform<float>({n, 1, 64}),
                           s = random::uniform<float>({n, 1, 64});
        array<float> z;
        measure("rotary, (8192, 32, 128)", 75, [&] {
            const auto a = x(all, all, slice(0, 64)), b = x(all, all, slice(64, 128));
            z = concatenate(std::tuple(a * c - b * s, b * c + a * s), -1);
        });
    }

    void sliding_mean() {
        const array<float> x = random::uniform<float>({first(1 << 28)});
        array<float> z;
        measure("mean of windows of 16, 2^28", 560, [&] { z = mean(sliding_window_view(x, 16), -1); });
    }

    void interpolated() {
        const array<float> x = random::uniform<float>({first(1 << 27)}), at = linspace<float>(0, 1, 1024),
                           values = sin(at * 7.0f).eval();
        array<float> z;
        measure("interp of 2^27 in 1024 points", 500, [&] { z = interp(x, at, values); });
    }

    void rows_to_bytes() {
        const array<float> x = random::uniform<float>({first(65536), 4096}) * 6.0f + -3.0f;
        array<std::int8_t> z;
        array<float> scales;
        measure("rows to int8 with their scales, (65536, 4096)", 330, [&] {
            const auto s = max(abs(x), 1, keepdims) / 127.0f;
            std::tie(z, scales) = eval(astype<std::int8_t>(clip(round(x / s), -128.0f, 127.0f)), s);
        });
    }

    void shallow_water() {
        const index_t n = first(8192);
        const array<float> h = random::uniform<float>({n, 8192}) * 1.0f + 1.0f, u = random::uniform<float>({n, 8192}),
                           v = random::uniform<float>({n, 8192});
        array<float> p, q, r;
        measure("shallow water, three of 8192^2", 420, [&] {
            const float dt = 0.01f;
            const auto dx = [](const auto& e) { return (roll(e, -1, 1) - roll(e, 1, 1)) * 0.5f; };
            const auto dy = [](const auto& e) { return (roll(e, -1, 0) - roll(e, 1, 0)) * 0.5f; };
            std::tie(p, q, r) = eval(h - dt * (dx(h * u) + dy(h * v)), u - dt * (u * dx(u) + v * dy(u) + 9.8f * dx(h)),
                                     v - dt * (u * dx(v) + v * dy(v) + 9.8f * dy(h)));
        });
    }

    void max_pool() {
        const index_t n = first(64);
        const array<float> x = random::uniform<float>({n, 16384, 4096});
        array<float> z;
        measure("max pool 2 x 2, (64, 16384, 4096)", 5000, [&] { z = max(reshape(x, {n, 8192, 2, 2048, 2}), {2, 4}); });
    }

    void sobel() {
        const array<std::uint8_t> x = random::integers<std::uint8_t>(0, 255, {first(16384), 16384});
        array<std::uint8_t> z;
        measure("Sobel of bytes, 16384^2", 600, [&] {
            const slice low(0, -2), in(1, -1), high(2, none);
            const auto f = astype<float>(x);
            const auto gx =
                           f(low, high) + 2 * f(in, high) + f(high, high) - f(low, low) - 2 * f(in, low) - f(high, low),
                       gy =
                           f(high, low) + 2 * f(high, in) + f(high, high) - f(low, low) - 2 * f(low, in) - f(low, high);
            z = astype<std::uint8_t>(minimum(sqrt(gx * gx + gy * gy), 255.0f));
        });
    }

    void grey() {
        const index_t n = first(16384);
        const array<std::uint8_t> x = random::integers<std::uint8_t>(0, 255, {n, 16384, 3});
        array<std::uint8_t> z;
        measure("grey of bytes, (16384, 16384, 3)", 520, [&] {
            const auto c = [&](index_t k) { return astype<float>(x(all, all, k)); };
            z = astype<std::uint8_t>(0.299f * c(0) + 0.587f * c(1) + 0.114f * c(2));
        });
    }

    void density() {
        const index_t n = first(32768);
        const array<float> x = random::uniform<float>({n, 3}), w = random::uniform<float>({n});
        array<float> z;
        measure("density of 32768 points in three dimensions", 734, [&] {
            const auto d = x(all, newaxis) - x(newaxis);
            z = sum(exp(-2.0f * sum(d * d, -1)) * w, 1);
        });
    }

    /// Random statements: the share of the time that a sum of two arrays needs for the same bytes, each array read
    /// once.
    void drawn() {
        const std::uint64_t statements = shrink_ == 0 ? 200 : 4;
        const index_t n = first(4096), m = 8192;
        bench::composer<float> c(0, n, m);
        const array<float> x = random::uniform<float>({n, m}), y = random::uniform<float>({n, m});
        array<float> z;
        const auto time_of = [&](const auto& f) {
            constexpr int calls = 3;
            f();
            synchronize();
            const auto start = clock_type::now();
            for (int i = 0; i < calls; ++i) f();
            synchronize();
            return microseconds_since(start) / calls;
        };
        const double array_time = time_of([&] { z = x + y; }) / 3;
        std::vector<double> times, shares, kernels;
        for (std::uint64_t seed = 0; kernels.size() < statements; ++seed) {
            const auto evaluate = [&] {
                c.restart(seed);
                const std::uint64_t before = counters().kernel_launches;
                z = c.draw(4).whole;
                return static_cast<double>(counters().kernel_launches - before);
            };
            const double launched = evaluate();
            if (launched == 0) continue;  // one of the arrays as it is
            kernels.push_back(launched);
            times.push_back(time_of(evaluate));
            shares.push_back(array_time * static_cast<double>(c.leaves_read() + 1) / times.back());
            if (std::getenv("INGOT_BENCH_STATEMENTS") != nullptr)
                std::printf("%5.2f %3.0f kernels %8.0f us, seed %d: %s\n", shares.back(), kernels.back(), times.back(),
                            static_cast<int>(seed), c.told().c_str());
        }
        char note[128];
        std::snprintf(note, sizeof note, "median share of the roof %.2f, median of %.0f kernels, at most %.0f",
                      bench::median(shares), bench::median(kernels), *std::ranges::max_element(kernels));
        out_.add({.section = "compositions",
                  .name = std::to_string(statements) + " drawn statements of (4096, 8192)",
                  .unit = "us",
                  .time = bench::median(times),
                  .note = note});
    }
};

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: compositions RESULTS.jsonl [SHRINK]\n"), 2;
    table("compositions", argv[1], argc > 2 ? std::atoi(argv[2]) : 0).run();
}
