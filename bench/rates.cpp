// Large arrays on a GPU: the share of the memory's rate, or of a hand-written kernel's, that Ingot's kernels reach.
// Every result is compared element by element on the host before it is timed.
//   rates RESULTS.jsonl [LOG2_OF_ELEMENTS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "roofs.hpp"
#include "session.hpp"

namespace {

using namespace ingot;
using bench::median;
using bench::promise;
using bench::rounds;
using bench::session;
using bench::time_in_turn;
using bench::uniform;

/// The expression of this file, of arrays and of numbers alike.
constexpr auto chosen = [](const auto& x, const auto& y) { return where(x - 2 > y, x * y, x + y); };
constexpr auto chosen_number = [](auto x, auto y) { return x - 2 > y ? x * y : x + y; };

template <class T, class F>
void require_equal(const std::string& what, const array<T>& result, F expected) {
    const auto values = result.to_host();
    bench::require(what, values.size(), 0, [&](std::size_t i) {
        const auto wanted = static_cast<T>(expected(i));
        return values[i] == wanted ? 0.0 : 1.0;
    });
}

template <class F>
void require_one_kernel(const std::string& what, F evaluate) {
    const auto before = counters().kernel_launches;
    evaluate();
    if (const auto launched = counters().kernel_launches - before; launched != 1)
        throw std::runtime_error(what + ": " + std::to_string(launched) + " kernels");
}

/// The fused kernel against the best hand-written one, and the same expression op by op against the roof for its bytes.
void measure_where(session& s, const array<float>& x, const array<float>& y, const std::vector<float>& on_host_x,
                   const std::vector<float>& on_host_y) {
    const auto n = static_cast<std::uint64_t>(x.size());
    const auto expected = [&](std::size_t i) { return chosen_number(on_host_x[i], on_host_y[i]); };
    const array<float> fused_once = chosen(x, y);
    require_equal("fused where", fused_once, expected);

    array<float> by_hand = empty<float>(x.size());
    float* const to = by_hand.mutable_data();
    const auto *a = x.data(), *b = y.data();
    array<float> r;
    std::vector<bench::work> candidates{[&](int) { r = chosen(x, y); }};
    std::vector<bench::hand_kernel> kernels;
    kernels.reserve(bench::launch_shapes.size());
    for (const bench::launch_shape& shape : bench::launch_shapes) {
        const bench::hand_kernel& kernel = kernels.emplace_back("where.cu", "where", shape.options());
        const std::size_t blocks = bench::blocks_for(n / 4, shape.threads, shape.vectors);
        candidates.push_back([=, &kernel](int) { kernel(blocks, shape.threads, a, b, to, std::size_t{n / 4}); });
    }
    candidates[1](0);
    require_equal("hand-written where", by_hand, expected);

    const auto times = time_in_turn(candidates, rounds);
    std::size_t best = 1;
    for (std::size_t c = 2; c < times.size(); ++c)
        if (median(times[c]) < median(times[best])) best = c;
    s.out.add({.section = "where",
               .name = "hand-written, float32",
               .unit = "us",
               .time = median(times[best]),
               .elements = n,
               .bytes = 12 * n,
               .note = bench::launch_shapes[best - 1].text()});
    s.out.add({.section = "where",
               .name = "fused, float32",
               .unit = "us",
               .time = median(times[0]),
               .baseline = "hand-written",
               .baseline_time = median(times[best]),
               .kind = promise::share,
               .reached = bench::paired_ratio(times[best], times[0]),
               .goal = 0.99,
               .elements = n,
               .bytes = 12 * n});

    const auto op_by_op = [&](int) {
        const array<float> difference = x - 2;
        const array<bool> condition = difference > y;
        const array<float> product = x * y;
        const array<float> sum = x + y;
        r = where(condition, product, sum);
    };
    op_by_op(0);
    require_equal("where op by op", r, expected);
    const double roof = s.roof.time_of(4 * n, 4 * n) + s.roof.time_of(8 * n, n) + 2 * s.roof.time_of(8 * n, 4 * n) +
                        s.roof.time_of(9 * n, 4 * n);
    s.out.add({.section = "where",
               .name = "op by op, float32",
               .unit = "us",
               .time = median(time_in_turn({op_by_op}, rounds)[0]),
               .baseline = "the roofs of its five kernels",
               .baseline_time = roof,
               .kind = promise::share,
               .goal = 1 / 1.05,
               .elements = n,
               .bytes = 54 * n});
}

/// One layout of the expression: `make` builds it, `expected(i)` is element i.
template <class R, class Make, class F>
void measure_layout(session& s, const char* name, std::uint64_t n, std::uint64_t read, Make make, F expected) {
    s.attempt(name, [&] {
        array<R> r;
        require_one_kernel(name, [&] { r = make(); });
        require_equal(name, r, expected);
        const std::uint64_t written = n * sizeof(R);
        s.out.add({.section = "layouts",
                   .name = name,
                   .unit = "us",
                   .time = median(time_in_turn({[&](int) { r = make(); }}, rounds)[0]),
                   .baseline = s.roof.name_of(read, written),
                   .baseline_time = s.roof.time_of(read, written),
                   .kind = promise::share,
                   .goal = 0.95,
                   .elements = n,
                   .bytes = read + written});
    });
}

/// x of type X with y of type Y, both contiguous, result R.
template <class X, class Y, class R>
void measure_dtypes(session& s, const char* name, std::uint64_t n, std::uint64_t seed) {
    const std::vector<X> x_host = uniform<X>(n, seed, -5, 6);
    const std::vector<Y> y_host = uniform<Y>(n, seed + 1, -5, 6);
    const array<X> x = asarray(x_host);
    const array<Y> y = asarray(y_host);
    measure_layout<R>(
        s, name, n, n * (sizeof(X) + sizeof(Y)), [&] { return chosen(x, y); },
        [&](std::size_t i) { return chosen_number(x_host[i], y_host[i]); });
}

void measure_layouts(session& s, int log2_elements) {
    const std::uint64_t n = std::uint64_t{1} << log2_elements;
    measure_dtypes<std::int8_t, std::int8_t, std::int8_t>(s, "int8", n, 10);
    measure_dtypes<std::int16_t, std::int16_t, std::int16_t>(s, "int16", n, 12);
    measure_dtypes<double, double, double>(s, "float64", n / 2, 14);
    measure_dtypes<float, double, double>(s, "float32 with float64", n / 2, 16);

    const auto x_host = uniform<float>(n + 1, 20, -4, 4), y_host = uniform<float>(n + 1, 21, -4, 4);
    const array<float> x = asarray(x_host), y = asarray(y_host);
    const array<float> flat = asarray(std::span(x_host).first(n)), other = asarray(std::span(y_host).first(n));
    measure_layout<float>(
        s, "a scalar operand", n, 4 * n, [&] { return chosen(flat, 0.5f); },
        [&](std::size_t i) { return chosen_number(x_host[i], 0.5f); });
    measure_layout<float>(
        s, "one operand misaligned by one element", n, 8 * n, [&] { return chosen(x(slice(1)), other); },
        [&](std::size_t i) { return chosen_number(x_host[i + 1], y_host[i]); });
    measure_layout<float>(
        s, "both operands misaligned by one element", n, 8 * n, [&] { return chosen(x(slice(1)), y(slice(1))); },
        [&](std::size_t i) { return chosen_number(x_host[i + 1], y_host[i + 1]); });

    const std::size_t rows = std::size_t{1} << (log2_elements / 2), columns = n / rows;
    const array<float> matrix = asarray(std::span(x_host).first(n), {rows, columns});
    const array<float> row = asarray(std::span(y_host).first(columns));
    const array<float> column = asarray(std::span(y_host).first(rows), {rows, std::size_t{1}});
    measure_layout<float>(
        s, "a row broadcast", n, 4 * (n + columns), [&] { return chosen(matrix, row); },
        [&](std::size_t i) { return chosen_number(x_host[i], y_host[i % columns]); });
    measure_layout<float>(
        s, "a column broadcast", n, 4 * (n + rows), [&] { return chosen(matrix, column); },
        [&](std::size_t i) { return chosen_number(x_host[i], y_host[i / columns]); });
}

struct prices {
    double call, put;
};

prices price(double spot, double strike, double time, double rate, double volatility) {
    const auto normal = [](double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); };
    const double deviation = volatility * std::sqrt(time);
    const double d1 = (std::log(spot / strike) + (rate + volatility * volatility / 2) * time) / deviation;
    const double d2 = d1 - deviation, discounted = strike * std::exp(-rate * time);
    return {spot * normal(d1) - discounted * normal(d2), discounted * normal(-d2) - spot * normal(-d1)};
}

/// Call and put at once, the put by parity; strikes up to four times the spot price.
void measure_black_scholes(session& s, int log2_elements) {
    const std::uint64_t n = std::uint64_t{1} << log2_elements;
    const float rate = 0.03f, volatility = 0.2f;
    const double within = 2e-6;
    const auto spot_host = uniform<float>(n, 30, 25, 100), strike_host = uniform<float>(n, 31, 25, 100),
               time_host = uniform<float>(n, 32, 0.1, 3);
    const array<float> spot = asarray(spot_host), strike = asarray(strike_host), time = asarray(time_host);
    const auto error = [&](const std::string& what, const std::vector<float>& call, const std::vector<float>& put) {
        return bench::require(what, n, within, [&](std::size_t i) {
            const prices exact = price(spot_host[i], strike_host[i], time_host[i], rate, volatility);
            return std::max(std::abs(call[i] - exact.call), std::abs(put[i] - exact.put)) / spot_host[i];
        });
    };

    const auto by_ingot = [&] {
        const auto deviation = volatility * sqrt(time);
        const auto d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * time) / deviation;
        const auto discounted = strike * exp(-rate * time);
        const auto call = spot * ndtr(d1) - discounted * ndtr(d1 - deviation);
        return eval(call, call - spot + discounted);
    };
    double worst = 0;
    require_one_kernel("Black-Scholes", [&] {
        const auto [call, put] = by_ingot();
        worst = error("Black-Scholes", call.to_host(), put.to_host());
    });

    array<float> hand_call = empty<float>(spot.size()), hand_put = empty<float>(spot.size());
    float *const call_to = hand_call.mutable_data(), *const put_to = hand_put.mutable_data();
    const auto hand_written = [&](const bench::hand_kernel& kernel) {
        return [&, a = spot.data(), b = strike.data(), c = time.data()](int) {
            kernel(bench::blocks_for(n / 4, 256, 1), 256, a, b, c, call_to, put_to, rate, volatility,
                   std::size_t{n / 4});
        };
    };
    const bench::hand_kernel own("black_scholes.cu", "black_scholes", {"-DLIBM=0"});
    const bench::hand_kernel libm("black_scholes.cu", "black_scholes", {"-DLIBM=1"});
    hand_written(own)(0);
    const double own_worst = error("hand-written Black-Scholes", hand_call.to_host(), hand_put.to_host());

    const auto times = time_in_turn({[&](int) { by_ingot(); }, hand_written(own), hand_written(libm)}, rounds);
    const std::uint64_t bytes = 20 * n;
    const double roof = s.roof.time_of(8 * n, 4 * n) / 12 * 20;
    s.out.add({.section = "black-scholes",
               .name = "hand-written, own bodies",
               .unit = "us",
               .time = median(times[1]),
               .elements = n,
               .bytes = bytes,
               .note = "error " + std::to_string(own_worst * 1e6) + "e-6 of the spot price"});
    s.out.add({.section = "black-scholes",
               .name = "hand-written, CUDA's functions",
               .unit = "us",
               .time = median(times[2]),
               .elements = n,
               .bytes = bytes});
    s.out.add({.section = "black-scholes",
               .name = "call and put, one kernel",
               .unit = "us",
               .time = median(times[0]),
               .baseline = "triad roof",
               .baseline_time = roof,
               .kind = promise::share,
               .goal = 1 / 1.04,
               .elements = n,
               .bytes = bytes,
               .note = "error " + std::to_string(worst * 1e6) + "e-6 of the spot price"});
}

void measure_sums(session& s, const array<float>& x, const std::vector<float>& x_host) {
    const std::size_t n = x_host.size(), columns = std::size_t{1} << 12, rows = n / columns;
    if (rows == 0) return;
    const array<float> matrix = asarray(x_host, {rows, columns});
    std::vector<double> exact(rows), size(rows);
    double all = 0, all_size = 0;
    for (std::size_t i = 0; i < n; ++i) {
        exact[i / columns] += x_host[i];
        size[i / columns] += std::abs(x_host[i]);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        all += exact[r];
        all_size += size[r];
    }
    const auto measure = [&](const char* name, auto make, auto check) {
        s.attempt(name, [&] {
            array<float> r = make();
            check(r.to_host());
            s.out.add({.section = "sums",
                       .name = name,
                       .unit = "us",
                       .time = median(time_in_turn({[&](int) { r = make(); }}, rounds)[0]),
                       .baseline = "read roof",
                       .baseline_time = s.roof.time_of(4 * n, 0),
                       .elements = n,
                       .bytes = 4 * n});
        });
    };
    measure(
        "everything", [&] { return sum(x); },
        [&](const std::vector<float>& got) {
            bench::require("sum", 1, 1e-6, [&](std::size_t) { return std::abs(got[0] - all) / all_size; });
        });
    measure(
        "rows of 4096", [&] { return sum(matrix, 1); },
        [&](const std::vector<float>& got) {
            bench::require("sum of rows", rows, 1e-6,
                           [&](std::size_t i) { return std::abs(got[i] - exact[i]) / size[i]; });
        });
}

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: rates RESULTS.jsonl [LOG2_OF_ELEMENTS]\n"), 2;
    const int log2_elements = argc > 2 ? std::atoi(argv[2]) : 28;
    if (log2_elements < 12 || log2_elements > 30) return std::fprintf(stderr, "elements: 2^12 to 2^30\n"), 2;
    const std::size_t n = std::size_t{1} << log2_elements;

    bench::report out(argv[1]);
    const auto x_host = uniform<float>(n, 1, -4, 4), y_host = uniform<float>(n, 2, -4, 4);
    const array<float> x = asarray(x_host), y = asarray(y_host);
    const bench::roofs roof(out, x, y);
    session s{out, roof};
    s.attempt("where", [&] { measure_where(s, x, y, x_host, y_host); });
    s.attempt("Black-Scholes", [&] { measure_black_scholes(s, log2_elements - 2); });
    s.attempt("sums", [&] { measure_sums(s, x, x_host); });
    s.attempt("layouts", [&] { measure_layouts(s, log2_elements); });
    return s.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "rates: %s\n", reason.what());
    return 1;
}
