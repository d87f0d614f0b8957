// The host target, compared with loops written by hand for this CPU (hand/host_loops.cpp). Both are measured in turn in
// one process over Ingot's memory, because its huge pages would otherwise cause most of the difference. Results are
// compared element by element before they are timed. Functions that select, sort or draw are compared with short loops
// over the standard library, which use one thread.
//   host_rates RESULTS.jsonl [LOG2_OF_WHERE [LOG2_OF_BLACK_SCHOLES [LOG2_OF_FUNCTIONS]]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <random>
#include <thread>
#include <unordered_set>
#include <vector>

#include <ingot/ingot.hpp>

#include "hand/host_loops.hpp"
#include "host_data.hpp"
#include "host_turns.hpp"
#include "report.hpp"

namespace {

using namespace ingot;
using bench::median;
using bench::promise;
using bench::time_in_turn;
using bench::uniform;

void add(bench::report& out, const std::string& name, const bench::pair_of_times& times, double goal, std::size_t n,
         std::uint64_t bytes) {
    out.add({.section = "host",
             .name = name,
             .unit = "us",
             .time = median(times.ingot),
             .baseline = "hand-written loop",
             .baseline_time = median(times.other),
             .kind = promise::share,
             .reached = bench::paired_ratio(times.other, times.ingot),
             .goal = goal,
             .elements = n,
             .bytes = bytes,
             .note = std::to_string(std::thread::hardware_concurrency()) + " threads"});
}

void measure_where(bench::report& out, int log2_elements) {
    const std::size_t n = std::size_t{1} << log2_elements;
    const auto x_host = uniform<float>(n, 1, -4, 4), y_host = uniform<float>(n, 2, -4, 4);
    const array<float> x = asarray(x_host), y = asarray(y_host);
    array<float> r, by_hand = empty<float>(n);
    float* const z = by_hand.mutable_data();
    const auto ingot = [&] { r = where(x - 2 > y, x * y, x + y); };
    const auto hand = [&] { bench::where_loop(x.data(), y.data(), z, static_cast<std::ptrdiff_t>(n)); };
    ingot();
    hand();
    const auto wrong = [&](float got, std::size_t i, float tie) {
        const float a = x_host[i], b = y_host[i];
        return got == (a - 2 > b ? a * b : a + b) || std::abs(a - 2 - b) < tie ? 0.0 : 1.0;
    };
    const std::vector<float> values = r.to_host();
    bench::require("where", n, 0, [&](std::size_t i) { return wrong(values[i], i, 0); });
    // Compiled to be fast, the loop may compare x with y + 2 instead.
    bench::require("the loop", n, 0, [&](std::size_t i) { return wrong(z[i], i, 1e-5f); });
    add(out, "where, float32, 2^" + std::to_string(log2_elements), time_in_turn(ingot, hand), 1 / 1.1, n, 12 * n);
}

void measure_black_scholes(bench::report& out, int log2_elements) {
    const std::size_t n = std::size_t{1} << log2_elements;
    const float rate = 0.03f, volatility = 0.2f;
    const auto spot_host = uniform<float>(n, 3, 25, 100), strike_host = uniform<float>(n, 4, 25, 100),
               time_host = uniform<float>(n, 5, 0.1, 3);
    const array<float> spot = asarray(spot_host), strike = asarray(strike_host), time = asarray(time_host);
    array<float> call, put, hand_call = empty<float>(n), hand_put = empty<float>(n);
    float *const call_to = hand_call.mutable_data(), *const put_to = hand_put.mutable_data();
    const auto ingot = [&] {
        const auto deviation = volatility * sqrt(time);
        const auto d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * time) / deviation;
        const auto discounted = strike * exp(-rate * time);
        const auto worth = spot * ndtr(d1) - discounted * ndtr(d1 - deviation);
        std::tie(call, put) = eval(worth, worth - spot + discounted);
    };
    const auto hand = [&] {
        bench::black_scholes_loop(spot.data(), strike.data(), time.data(), call_to, put_to, rate, volatility,
                                  static_cast<std::ptrdiff_t>(n));
    };
    ingot();
    hand();
    const auto error = [&](const std::vector<float>& calls, const std::vector<float>& puts) {
        return [&](std::size_t i) {
            const double s = spot_host[i], k = strike_host[i], t = time_host[i], v = volatility * std::sqrt(t);
            const auto normal = [](double d) { return 0.5 * std::erfc(-d * 0.70710678118654752440); };
            const double d1 = (std::log(s / k) + (rate + 0.5 * volatility * volatility) * t) / v, d2 = d1 - v;
            const double discounted = k * std::exp(-rate * t), exact = s * normal(d1) - discounted * normal(d2);
            return std::max(std::abs(calls[i] - exact), std::abs(puts[i] - (exact - s + discounted))) / s;
        };
    };
    bench::require("Black-Scholes", n, 2e-6, error(call.to_host(), put.to_host()));
    bench::require("the Black-Scholes loop", n, 2e-6, error(hand_call.to_host(), hand_put.to_host()));
    add(out, "Black-Scholes, float32, 2^" + std::to_string(log2_elements), time_in_turn(ingot, hand), 1 / 1.2, n,
        20 * n);
}

/// A function of each element; the loop uses the compiler's vector mathematics.
template <class F>
void measure_function(bench::report& out, const char* function, F of,
                      void (*loop)(const float*, float*, std::ptrdiff_t), double (*exact)(double), double low,
                      double high, int log2_elements) {
    const std::size_t n = std::size_t{1} << log2_elements;
    static std::uint64_t seed = 10;
    const auto x_host = uniform<float>(n, ++seed, low, high);
    const array<float> x = asarray(x_host);
    array<float> r, by_hand = empty<float>(n);
    float* const z = by_hand.mutable_data();
    const auto ingot = [&] { r = of(x); };
    const auto hand = [&] { loop(x.data(), z, static_cast<std::ptrdiff_t>(n)); };
    ingot();
    hand();
    // Compiled to be fast, the loop may be off by some last places, in units of 1 near a zero.
    const auto error = [&](const std::vector<float>& got) {
        return [&](std::size_t i) {
            const double wanted = exact(x_host[i]);
            return std::abs(got[i] - wanted) / std::max(std::abs(wanted), 0.1);
        };
    };
    bench::require(function, n, 5e-7, error(r.to_host()));
    bench::require(std::string("the loop of ") + function, n, 2e-6, error(by_hand.to_host()));
    add(out, std::string(function) + ", float32, 2^" + std::to_string(log2_elements), time_in_turn(ingot, hand),
        1 / 1.2, n, 8 * n);
}

void measure_functions(bench::report& out, int log2_elements) {
#define MEASURE(name, low, high)                                                                             \
    measure_function(                                                                                        \
        out, #name, [](const array<float>& x) { return name(x); }, bench::name##_loop, std::name, low, high, \
        log2_elements)
    MEASURE(exp, -8, 8);
    MEASURE(log, 0.1, 50);
    MEASURE(sin, -10, 10);
    MEASURE(tanh, -4, 4);
    MEASURE(erf, -3, 3);
#undef MEASURE
}

using doubles = std::vector<double>;

void measure_selections(bench::report& out) {
    constexpr std::size_t n = 1 << 20, rows = 1 << 10, length = n / rows;
    const auto x_host = uniform<double>(n, 20, 0, 1);
    const array<double> x = asarray(x_host), m = asarray(x_host, {rows, length});
    array<double> r;
    doubles by_hand;
    const auto partitioned = [&] { r = partition(x, n / 2); };
    const auto nth_element = [&] {
        by_hand = x_host;
        std::nth_element(by_hand.begin(), by_hand.begin() + n / 2, by_hand.end());
    };
    partitioned(), nth_element();
    bench::require("partition", 1, 0, [&](std::size_t) { return std::abs(r(n / 2).item() - by_hand[n / 2]); });
    add(out, "partition, float64, 2^20", time_in_turn(partitioned, nth_element), 1, n, 16 * n);

    const auto medians = [&] { r = median(m, 1); };
    const auto medians_by_hand = [&] {
        by_hand.clear();
        doubles row;
        for (std::size_t i = 0; i < rows; ++i) {
            row.assign(x_host.data() + i * length, x_host.data() + (i + 1) * length);
            const auto middle = row.begin() + length / 2;
            std::nth_element(row.begin(), middle, row.end());
            by_hand.push_back((*std::max_element(row.begin(), middle) + *middle) / 2);
        }
    };
    medians(), medians_by_hand();
    const doubles got = r.to_host();
    bench::require("median", rows, 0, [&](std::size_t i) { return std::abs(got[i] - by_hand[i]); });
    add(out, "median of rows, float64, 2^10 by 2^10", time_in_turn(medians, medians_by_hand), 1, n, 8 * n);

    const array<double> among = x(slice(none, none, 1000));
    array<bool> found;
    std::vector<bool> found_by_hand;
    const auto membership = [&] { found = isin(x, among); };
    const auto searches = [&] {
        doubles sorted = among.to_host();
        std::sort(sorted.begin(), sorted.end());
        found_by_hand.resize(n);
        for (std::size_t i = 0; i < n; ++i)
            found_by_hand[i] = std::binary_search(sorted.begin(), sorted.end(), x_host[i]);
    };
    membership(), searches();
    const std::vector<bool> is_found = found.to_host();
    bench::require("isin", n, 0, [&](std::size_t i) { return is_found[i] == found_by_hand[i] ? 0.0 : 1.0; });
    add(out, "isin, float64, 2^20 in 1049", time_in_turn(membership, searches), 1, n, 9 * n);
}

void measure_draws(bench::report& out) {
    constexpr std::size_t n = 1 << 20, few = 1000;
    std::mt19937_64 random(1);
    random::generator g(1);
    array<std::int64_t> drawn;
    const auto choice = [&] { drawn = random::choice(index_t{n}, {few}, false, g); };
    const auto floyd = [&] {
        std::unordered_set<std::size_t> seen;
        for (std::size_t last = n - few; last < n; ++last)
            if (!seen.insert(random() % (last + 1)).second) seen.insert(last);
    };
    add(out, "choice of 1000 from 2^20 without replacement", time_in_turn(choice, floyd), 0.5, few, 8 * few);
    std::vector<std::int64_t> order(n);
    const auto permutation = [&] { drawn = random::permutation(index_t{n}, g); };
    const auto shuffle = [&] {
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
    };
    add(out, "permutation of 2^20", time_in_turn(permutation, shuffle), 0.5, n, 8 * n);
    array<double> numbers;
    doubles by_hand(n);
    const auto gamma = [&] { numbers = random::gamma<double>(2.5, 1.0, {index_t{n}}, g); };
    const auto gamma_by_hand = [&] {
        std::gamma_distribution<double> of(2.5, 1.0);
        for (double& x : by_hand) x = of(random);
    };
    add(out, "gamma, float64, 2^20", time_in_turn(gamma, gamma_by_hand), 0.5, n, 8 * n);
}

void measure_matrices(bench::report& out) {
    constexpr std::size_t count = 100'000, side = 30, rows = 1000;
    const auto a_host = uniform<double>(9 * count, 21, -1, 1), m_host = uniform<double>(rows * rows, 22, 0, 1);
    const array<double> a = asarray(a_host, {count, 3, 3}), m = asarray(m_host, {rows, rows});
    array<double> r;
    doubles by_hand(9 * count);
    const auto inverses = [&] { r = linalg::inv(a); };
    const auto cofactors = [&] {
        for (std::size_t i = 0; i < count; ++i) {
            const double* const from = &a_host[9 * i];
            const auto minor = [&](std::size_t j, std::size_t k) {
                const std::size_t j1 = (j + 1) % 3, j2 = (j + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                return from[3 * j1 + k1] * from[3 * j2 + k2] - from[3 * j1 + k2] * from[3 * j2 + k1];
            };
            const double det = from[0] * minor(0, 0) + from[1] * minor(0, 1) + from[2] * minor(0, 2);
            for (std::size_t j = 0; j < 9; ++j) by_hand[9 * i + j] = minor(j % 3, j / 3) / det;
        }
    };
    inverses(), cofactors();
    doubles got = r.to_host();
    bench::require("inv", 9 * count, 1e-6,
                   [&](std::size_t i) { return std::abs(got[i] - by_hand[i]) / (1 + by_hand[i] * by_hand[i]); });
    add(out, "inverses of 10^5 matrices of 3 by 3, float64", time_in_turn(inverses, cofactors), 0.05, 9 * count,
        144 * count);

    const array<double> small = m(slice(0, side), slice(0, side));
    by_hand.assign(side * side * side * side, 0);
    const auto products = [&] { r = kron(small, small); };
    const auto loops = [&] {
        double* to = by_hand.data();
        for (std::size_t i = 0; i < side * side; ++i)
            for (std::size_t j = 0; j < side * side; ++j)
                *to++ = m_host[i / side * rows + j / side] * m_host[i % side * rows + j % side];
    };
    products(), loops();
    got = r.to_host();
    bench::require("kron", got.size(), 0, [&](std::size_t i) { return std::abs(got[i] - by_hand[i]); });
    add(out, "kron of 30 by 30, float64", time_in_turn(products, loops), 0.5, got.size(), 8 * got.size());

    by_hand.assign(rows * rows, 0);
    const auto shifted = [&] { r = fft::fftshift(m); };
    const auto copies = [&] {
        for (std::size_t i = 0; i < rows; ++i) {
            const double* const from = &m_host[(i + rows / 2) % rows * rows];
            std::copy_n(from + rows / 2, rows / 2, &by_hand[i * rows]);
            std::copy_n(from, rows / 2, &by_hand[i * rows + rows / 2]);
        }
    };
    shifted(), copies();
    got = r.to_host();
    bench::require("fftshift", got.size(), 0, [&](std::size_t i) { return std::abs(got[i] - by_hand[i]); });
    add(out, "fftshift, float64, 1000 by 1000", time_in_turn(shifted, copies), 0.5, got.size(), 16 * got.size());
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) return std::fprintf(stderr, "usage: host_rates RESULTS.jsonl [LOG2 [LOG2 [LOG2]]]\n"), 2;
    const with_device on_host(device::host());
    bench::report out(argv[1]);
    measure_where(out, argc > 2 ? std::atoi(argv[2]) : 26);
    measure_black_scholes(out, argc > 3 ? std::atoi(argv[3]) : 24);
    measure_functions(out, argc > 4 ? std::atoi(argv[4]) : 24);
    measure_selections(out);
    measure_draws(out);
    measure_matrices(out);
} catch (const std::exception& reason) {
    std::fprintf(stderr, "host_rates: %s\n", reason.what());
    return 1;
}
