// The host target, compared with loops written by hand for this CPU (hand/host_loops.cpp). Both are measured in turn in
// one process over Ingot's memory, because its huge pages would otherwise cause most of the difference. Results are
// compared element by element before they are timed.
//   host_rates RESULTS.jsonl [LOG2_OF_WHERE [LOG2_OF_BLACK_SCHOLES [LOG2_OF_FUNCTIONS]]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
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

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) return std::fprintf(stderr, "usage: host_rates RESULTS.jsonl [LOG2 [LOG2 [LOG2]]]\n"), 2;
    const with_device on_host(device::host());
    bench::report out(argv[1]);
    measure_where(out, argc > 2 ? std::atoi(argv[2]) : 26);
    measure_black_scholes(out, argc > 3 ? std::atoi(argv[3]) : 24);
    measure_functions(out, argc > 4 ? std::atoi(argv[4]) : 24);
} catch (const std::exception& reason) {
    std::fprintf(stderr, "host_rates: %s\n", reason.what());
    return 1;
}
