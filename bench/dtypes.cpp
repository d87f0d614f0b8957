// The 16-bit floats, complex numbers, 8-bit integers and mixtures on a GPU: maps compared with the roof for their
// bytes, mathematical functions also with a hand-written kernel, rows of bfloat16 and a scan of float16. Every result
// is compared on the host before it is timed.
//   dtypes RESULTS.jsonl [LOG2_OF_ELEMENTS]
// Arrays of one and two bytes an element have that many elements, arrays of larger elements proportionally fewer.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <type_traits>

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

template <class T>
constexpr bool is_complex = requires(T z) { z.imag(); };

template <class T>
std::vector<T> numbers(std::size_t n, std::uint64_t seed, double low, double high) {
    if constexpr (is_complex<T>) {
        using part = typename T::value_type;
        const auto re = bench::uniform<part>(n, seed, low, high), im = bench::uniform<part>(n, seed + 500, low, high);
        std::vector<T> z(n);
        for (std::size_t i = 0; i < n; ++i) z[i] = {re[i], im[i]};
        return z;
    } else {
        return bench::uniform<T>(n, seed, low, high);
    }
}

/// Converts to double or complex double.
template <class T>
auto wide(T x) {
    if constexpr (is_complex<T>)
        return std::complex<double>(x);
    else
        return static_cast<double>(x);
}

/// A last place of the dtype, as a part of 1.
template <class T>
double last_place() {
    if constexpr (is_complex<T>)
        return static_cast<double>(std::numeric_limits<typename T::value_type>::epsilon());
    else
        return static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// The elements that an array of T's has where one of two bytes has 2^log2.
template <class T>
std::size_t count(int log2) {
    const std::size_t n = std::size_t{1} << log2;
    return n / std::max<std::size_t>(1, sizeof(T) / 2);
}

struct comparison {
    std::string baseline;
    double time;
    double goal = 0.95;
};

void add(session& s, const char* section, const std::string& name, double time, const comparison& with, std::size_t n,
         std::uint64_t bytes, const std::string& note = "") {
    s.out.add({.section = section,
               .name = name,
               .unit = "us",
               .time = time,
               .baseline = with.baseline,
               .baseline_time = with.time,
               .kind = promise::share,
               .goal = with.goal,
               .elements = n,
               .bytes = bytes,
               .note = note});
}

// ---- maps ---------------------------------------------------------------------------------------------------------

/// x * y + x for any dtypes, and where(x - 2 > y, x * y, x + y) for those with an order.
template <class X, class Y>
void measure_maps(session& s, const char* name, int log2) {
    using larger = std::conditional_t<(sizeof(X) > sizeof(Y)), X, Y>;
    const std::size_t n = count<larger>(log2);
    static std::uint64_t seed = 40;
    const std::vector<X> x_host = numbers<X>(n, ++seed, -5, 6);
    const std::vector<Y> y_host = numbers<Y>(n, ++seed, -5, 6);
    const array<X> x = asarray(x_host);
    const array<Y> y = asarray(y_host);
    const auto measure = [&](const std::string& of, auto make, auto expected) {
        s.attempt(of, [&] {
            auto r = eval(make());
            using R = typename decltype(r)::value_type;
            const auto got = r.to_host();
            bench::require(of, n, std::is_integral_v<R> ? 0 : 4 * last_place<R>(), [&](std::size_t i) {
                const auto wanted = expected(i);
                return std::abs(wide(static_cast<R>(got[i])) - wanted) / std::max(40.0, std::abs(wanted));
            });
            const std::uint64_t read = n * (sizeof(X) + sizeof(Y)), written = n * sizeof(R);
            add(s, "maps", of, median(time_in_turn({[&](int) { r = make(); }}, rounds)[0]),
                {s.roof.name_of(read, written), s.roof.time_of(read, written)}, n, read + written);
        });
    };
    measure(
        std::string(name) + ", x * y + x", [&] { return x * y + x; },
        [&](std::size_t i) { return wide(x_host[i]) * wide(y_host[i]) + wide(x_host[i]); });
    if constexpr (!is_complex<X> && !is_complex<Y>)
        measure(
            std::string(name) + ", where", [&] { return where(x - 2 > y, x * y, x + y); },
            [&](std::size_t i) {
                const double a = wide(x_host[i]), b = wide(y_host[i]);
                return a - 2 > b ? a * b : a + b;
            });
}

// ---- functions ----------------------------------------------------------------------------------------------------

/// f(x), compared with the slower of the roof and a kernel that calls CUDA's function of float.
template <class T, class F>
void measure_function(session& s, const char* function, F f, double (*exact)(double), double low, double high,
                      int log2) {
    const std::string name = std::string(function) + ", " + std::string(ingot::name(detail::dtype_of<T>));
    s.attempt(name, [&] {
        const std::size_t n = count<T>(log2);
        static std::uint64_t seed = 80;
        const std::vector<T> x_host = numbers<T>(n, ++seed, low, high);
        const array<T> x = asarray(x_host);
        array<T> r = f(x);
        const auto check = [&](const std::vector<T>& got) {
            bench::require(name, n, 4 * last_place<T>(), [&](std::size_t i) {
                const double wanted = exact(wide(x_host[i]));
                return std::abs(wide(got[i]) - wanted) / std::max(1e-3, std::abs(wanted));
            });
        };
        check(r.to_host());
        const std::uint64_t bytes = n * sizeof(T);
        comparison with{s.roof.name_of(bytes, bytes), s.roof.time_of(bytes, bytes)};
        std::vector<bench::work> candidates{[&](int) { r = f(x); }};
        std::vector<bench::hand_kernel> kernels;
        array<T> by_hand = empty<T>(n);
        if (x.device().is_cuda() && sizeof(T) <= 4) {
            const char* const stored = std::is_same_v<T, float> ? "0" : std::is_same_v<T, float16> ? "1" : "2";
            kernels.emplace_back("functions.cu", "function",
                                 std::vector<std::string>{std::string("-DFUNCTION=") + function + "f",
                                                          std::string("-DSTORED=") + stored});
            const std::size_t vectors = n * sizeof(T) / 16;
            candidates.push_back([&, from = x.data(), to = by_hand.mutable_data(), vectors](int) {
                kernels[0](bench::blocks_for(vectors, 256, 1), 256, from, to, vectors);
            });
            candidates[1](0);
            check(by_hand.to_host());
        }
        const auto times = time_in_turn(candidates, rounds);
        if (times.size() > 1 && median(times[1]) > with.time) with = {"a hand-written kernel", median(times[1])};
        add(s, "functions", name, median(times[0]), with, n, 2 * bytes);
    });
}

template <class T>
void measure_functions(session& s, int log2) {
#define MEASURE(name, exact, low, high) \
    measure_function<T>(s, #name, [](const array<T>& x) { return name(x); }, exact, low, high, log2)
    MEASURE(exp, std::exp, -8, 8);
    MEASURE(log, std::log, 0.1, 50);
    MEASURE(sin, std::sin, -10, 10);
    MEASURE(tanh, std::tanh, -4, 4);
    MEASURE(erf, std::erf, -3, 3);
#undef MEASURE
}

// ---- rows and scans -----------------------------------------------------------------------------------------------

void measure_softmax(session& s, int log2) {
    const std::size_t n = std::size_t{1} << log2, columns = std::min<std::size_t>(n, 4096), rows = n / columns;
    const auto x_host = numbers<bfloat16>(n, 101, -6, 6);
    const array<bfloat16> x = asarray(x_host, {rows, columns});
    array<bfloat16> r = softmax(x, 1);
    const auto got = r.to_host();
    std::vector<double> totals(rows);
    for (std::size_t i = 0; i < n; ++i) totals[i / columns] += std::exp(wide(x_host[i]));
    bench::require("softmax of bfloat16 rows", n, last_place<bfloat16>(), [&](std::size_t i) {
        const double wanted = std::exp(wide(x_host[i])) / totals[i / columns];
        return std::abs(wide(got[i]) - wanted) / wanted;
    });
    add(s, "rows", "softmax of bfloat16, rows of " + std::to_string(columns),
        median(time_in_turn({[&](int) { r = softmax(x, 1); }}, rounds)[0]),
        {s.roof.name_of(2 * n, 2 * n), s.roof.time_of(2 * n, 2 * n), 1 / 1.05}, n, 4 * n);
}

void measure_cumsum(session& s, int log2) {
    const std::size_t n = std::size_t{1} << log2;
    const auto x_host = numbers<float16>(n, 102, -1, 1);
    const array<float16> x = asarray(x_host);
    array<float16> r = cumsum(x);
    const auto got = r.to_host();
    std::vector<double> exact(n);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) exact[i] = sum += wide(x_host[i]);
    bench::require("cumsum of float16", n, 1, [&](std::size_t i) {
        // The bound: the rounding of the result, and that of float32 sums.
        const double bound = std::abs(exact[i]) * last_place<float16>() + (static_cast<double>(i) + 16) * 0x1p-24;
        return std::abs(wide(got[i]) - exact[i]) / bound;
    });
    const double time = median(time_in_turn({[&](int) { r = cumsum(x); }}, rounds)[0]);
    add(s, "scans", "cumsum of float16", time, {s.roof.name_of(2 * n, 2 * n), s.roof.time_of(2 * n, 2 * n), 0.75}, n,
        4 * n, log2 == 28 ? "CUB's took 640 us on an H100" : "");
}

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: dtypes RESULTS.jsonl [LOG2_OF_ELEMENTS]\n"), 2;
    const int log2 = argc > 2 ? std::atoi(argv[2]) : 28;
    if (log2 < 12 || log2 > 30) return std::fprintf(stderr, "elements: 2^12 to 2^30\n"), 2;

    bench::report out(argv[1]);
    const std::size_t n = std::size_t{1} << (log2 - 1);
    const bench::roofs roof(out, asarray(bench::uniform<float>(n, 1, -4, 4)),
                            asarray(bench::uniform<float>(n, 2, -4, 4)));
    session s{out, roof};
    measure_maps<float16, float16>(s, "float16", log2);
    measure_maps<bfloat16, bfloat16>(s, "bfloat16", log2);
    measure_maps<std::int8_t, std::int8_t>(s, "int8", log2);
    measure_maps<std::complex<float>, std::complex<float>>(s, "complex64", log2);
    measure_maps<std::complex<double>, std::complex<double>>(s, "complex128", log2);
    measure_maps<float16, float>(s, "float16 with float32", log2);
    measure_maps<bfloat16, float16>(s, "bfloat16 with float16", log2);
    measure_maps<std::int8_t, float>(s, "int8 with float32", log2);
    measure_maps<float, std::complex<float>>(s, "float32 with complex64", log2);
    measure_functions<float>(s, log2);
    measure_functions<float16>(s, log2);
    measure_functions<bfloat16>(s, log2);
    s.attempt("softmax of bfloat16 rows", [&] { measure_softmax(s, log2); });
    s.attempt("cumsum of float16", [&] { measure_cumsum(s, log2); });
    return s.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "dtypes: %s\n", reason.what());
    return 1;
}
