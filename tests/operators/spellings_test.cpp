// Own bodies for float32, those of CUDA included, against double over a comb through all floats. The text is the
// table's. CUDA's approximate functions stand here with the errors that its documentation allows, in every combination.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <string>

#include <ingot/core/operators.hpp>

namespace {

/// The errors that CUDA's documentation allows, in units of the last place: 2 for exp2f and ex2.approx, 4 for
/// lg2.approx (2^-22 of the result; near 1 the bound is absolute, and no body goes there), 1 for rcp.approx and
/// rsqrt.approx.
int exp2_error = 0, division_error = 0;

/// `exact` rounded to a float that is off by this many units in its last place.
float off_by(double exact, int units) {
    if (!std::isfinite(exact) || std::abs(exact) < 0x1p-126 || std::abs(exact) > 0x1p126) units = 0;
    return static_cast<float>(units == 0 ? exact : exact + units * std::ldexp(1.0, std::ilogb(exact) - 23));
}

}  // namespace

/// CUDA's, which are 0 where the logarithm of the result is -745 or less.
inline double flushing_exp(double a) { return a <= -745 ? 0 : std::exp(a); }
inline double flushing_pow(double a, double b) {
    const double y = std::pow(a, b);
    return std::log(std::abs(a)) * b <= -745 ? std::copysign(0.0, y) : y;
}

namespace {

/// The form of generated code that shares the second operand.
#define INGOT_SHARED_BODY(type, name, condition)     \
    type shared_##name(type a, type b, bool& rare) { \
        bool unusual = false;                        \
        const type q = quick_##name(a, b, unusual);  \
        rare |= unusual && (condition);              \
        return q;                                    \
    }

namespace bodies {

using std::abs, std::fma, ::fminf;
using T = float;
using U = std::uint32_t;
using S = std::int32_t;

U bits_of(float x) { return std::bit_cast<U>(x); }
float from_bits(U x) { return std::bit_cast<float>(x); }
float exp2(float x) { return off_by(std::exp2(double{x}), exp2_error); }
float flushed(float a) { return std::abs(a) < 0x1p-126f ? std::copysign(0.0f, a) : a; }
float exp2_approx(float a) { return flushed(off_by(std::exp2(double{flushed(a)}), exp2_error)); }
float log2_approx(float a) { return off_by(std::log2(double{flushed(a)}), 2 * exp2_error); }
float rcp_approx(float a) { return flushed(off_by(1 / double{flushed(a)}, division_error)); }
float rsqrt_approx(float a) { return off_by(1 / std::sqrt(double{flushed(a)}), division_error); }
float max_or_nan(float a, float b) { return a != a || a > b ? a : b; }
float min_or_nan(float a, float b) { return a != a || a < b ? a : b; }
float __fmul_rz(float a, float b) {
    const double product = double{a} * double{b};
    const float nearest = static_cast<float>(product);
    return std::abs(double{nearest}) > std::abs(product) ? std::nextafter(nearest, 0.0f) : nearest;
}

// The bodies for floats.
#define INGOT_SPELLING(name, where, type, ulp, ...) INGOT_SPELLING_##type(name, where, ulp, __VA_ARGS__)
#define INGOT_SPELLING_i2(...)
#define INGOT_SPELLING_u4(...)
#define INGOT_SPELLING_u8(...)
#define INGOT_SPELLING_f8(...)
#define INGOT_SPELLING_f4(name, where, ulp, ...)                                                                 \
    [[maybe_unused]] float where##_##name(float a, [[maybe_unused]] float b = 0, [[maybe_unused]] float c = 0) { \
        __VA_ARGS__                                                                                              \
    }
#define INGOT_QUICK(name, type, ...) INGOT_QUICK_##type(name, __VA_ARGS__)
#define INGOT_QUICK_f4(name, ...) \
    float quick_##name(float a, [[maybe_unused]] float b, bool& rare) { __VA_ARGS__ }
#define INGOT_QUICK_f8(...)
#define INGOT_QUICK_SHARED(name, type, ...) INGOT_QUICK_SHARED_##type(name, __VA_ARGS__)
#define INGOT_QUICK_SHARED_f4(name, ...) INGOT_SHARED_BODY(float, name, __VA_ARGS__)
#define INGOT_QUICK_SHARED_f8(...)
#include <ingot/core/operators.def>
#undef INGOT_QUICK_f4
#undef INGOT_QUICK_f8
#undef INGOT_QUICK_SHARED_f4
#undef INGOT_QUICK_SHARED_f8

namespace wide {

using T = double;
using U = std::uint64_t;

U bits_of(double x) { return std::bit_cast<U>(x); }
double from_bits(U x) { return std::bit_cast<double>(x); }
/// The upper word of a double, without subnormal numbers.
double rcp_approx(double a) {
    const double y = std::abs(a) < 0x1p-1022 ? 1 / std::copysign(0.0, a) : 1 / a;
    return std::abs(y) < 0x1p-1022 ? std::copysign(0.0, y) : from_bits(bits_of(y) & ~U{0xffffffff});
}

#define INGOT_QUICK(name, type, ...) INGOT_QUICK_##type(name, __VA_ARGS__)
#define INGOT_QUICK_f4(...)
#define INGOT_QUICK_f8(name, ...) \
    double quick_##name(double a, [[maybe_unused]] double b, bool& rare) { __VA_ARGS__ }
#define INGOT_QUICK_SHARED(name, type, ...) INGOT_QUICK_SHARED_##type(name, __VA_ARGS__)
#define INGOT_QUICK_SHARED_f4(...)
#define INGOT_QUICK_SHARED_f8(name, ...) INGOT_SHARED_BODY(double, name, __VA_ARGS__)
#undef INGOT_SPELLING_f4
#undef INGOT_SPELLING_f8
#define INGOT_SPELLING(name, where, type, ulp, ...) INGOT_SPELLING_##type(name, where, ulp, __VA_ARGS__)
#define INGOT_SPELLING_f4(...)
#define INGOT_SPELLING_f8(name, where, ulp, ...) \
    [[maybe_unused]] double where##_##name(double a, [[maybe_unused]] double b) { __VA_ARGS__ }
using std::copysign, std::log;
#define exp flushing_exp
#define pow flushing_pow
#include <ingot/core/operators.def>
#undef exp
#undef pow
constexpr auto quick_exp = quick_flushing_exp;
constexpr auto cuda_exp = cuda_flushing_exp;

}  // namespace wide
}  // namespace bodies

double exact(ingot::detail::op row, double a) {
    using ingot::detail::op;
    switch (row) {
        case op::exp:
            return std::exp(a);
        case op::log:
            return std::log(a);
        case op::ndtr:
            return std::erfc(-a * 0.70710678118654752440) / 2;
        default:
            return std::numeric_limits<double>::quiet_NaN();
    }
}

/// Units in the last place of a float, infinity counted as 2^128.
double distance(float got, double wanted) {
    if (got != got || wanted != wanted) return (got != got) == (wanted != wanted) ? 0 : 1e9;
    const double given = std::clamp<double>(got, -0x1p128, 0x1p128);
    wanted = std::clamp(wanted, -0x1p128, 0x1p128);
    const int exponent = wanted == 0 ? -125 : std::clamp(std::ilogb(wanted) + 1, -125, 128);
    return std::abs(given - wanted) / std::ldexp(1.0, exponent - 24);
}

void sweep(const std::string& name, ingot::detail::op row, double bound, float (*body)(float)) {
    const char* chosen = std::getenv("INGOT_SWEEP_STEP");
    const std::uint64_t step = chosen != nullptr ? std::stoull(chosen) : 20011;
    double worst = 0, worst_at = 0, absolute = 0;
    const auto visit = [&](std::uint64_t bits) {
        const float a = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        const double wanted = exact(row, a), off = distance(body(a), wanted);
        if (off > worst) {
            worst = off;
            worst_at = a;
        }
        if (std::isfinite(wanted)) absolute = std::max(absolute, std::abs(body(a) - wanted));
    };
    for (std::uint64_t bits = 0; bits < 1ull << 32; bits += step) visit(bits);
    for (std::uint64_t sign : {0ull, 1ull << 31})  // the ends of the ranges: zero, subnormals, normals, infinity
        for (std::uint64_t edge : {0x00000000ull, 0x00800000ull, 0x3f800000ull, 0x7f800000ull})
            for (std::uint64_t k = 0; k < 64; ++k) visit((sign + edge + k - (edge > 0 ? 32 : 0)) & 0xffffffffull);
    for (std::uint64_t k = 0x42ae0000ull; k < 0x42d20000ull; k += 7)  // 87 to 105, where exp leaves the floats
        for (std::uint64_t sign : {0ull, 1ull << 31}) visit(k + sign);
    CHECK_MESSAGE(worst <= bound, name, " at ", worst_at, ": ", worst, " ulp, the table says ", bound);
    if (std::getenv("INGOT_PRINT_ULP") != nullptr)
        std::cout << name << ": " << worst << " ulp at " << worst_at << ", absolute " << absolute << '\n';
}

}  // namespace

TEST_CASE("the greater and the lesser of two on the host, and NaN where one is") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    for (const float a : {nan, -inf, -1.0f, 0.0f, 2.0f, inf})
        for (const float b : {nan, -inf, -1.0f, 0.0f, 2.0f, inf}) {
            const bool is_nan = a != a || b != b;
            const float greater = is_nan ? nan : std::max(a, b), lesser = is_nan ? nan : std::min(a, b);
            CHECK(distance(bodies::host_maximum(a, b), greater) == 0);
            CHECK(distance(bodies::host_minimum(a, b), lesser) == 0);
            CHECK(distance(static_cast<float>(bodies::wide::host_maximum(a, b)), greater) == 0);
            CHECK(distance(static_cast<float>(bodies::wide::host_minimum(a, b)), lesser) == 0);
        }
}

TEST_CASE("own float32 bodies keep their bounds over all floats") {
    struct spelled {
        const char* name;
        ingot::detail::op row;
        double ulp;
        float (*body)(float);
        bool on_cuda;
    };
    constexpr spelled all_of_them[] = {
#undef INGOT_SPELLING_f4
#undef INGOT_SPELLING_f8
#define INGOT_SPELLING(name, where, type, ulp, ...) INGOT_SPELLING_##type(name, where, ulp, __VA_ARGS__)
#define INGOT_SPELLING_f8(...)
#define INGOT_SPELLING_f4(row, where, ulp, ...)                                                           \
    {#row " (" #where ")", ingot::detail::op::row, ulp, [](float a) { return bodies::where##_##row(a); }, \
     std::string_view(#where) == "cuda"},
#include <ingot/core/operators.def>
    };
    for (const spelled& s : all_of_them)
        for (const int power_error : {0, -2, 2})
            for (const int quotient_error : {0, -1, 1}) {
                if (ingot::detail::facts(s.row).arity != 1) continue;  // one instruction each
                if (!s.on_cuda && (power_error != 0 || quotient_error != 0)) continue;
                exp2_error = power_error;
                division_error = quotient_error;
                sweep(s.name, s.row, s.ulp, s.body);
            }
}

TEST_CASE("Black-Scholes prices from CUDA's own bodies are within 2e-6 of the share's price") {
    const float rate = 0.02f, sigma = 0.3f;
    double worst = 0;
    for (const int power_error : {0, -2, 2})
        for (const int quotient_error : {0, -1, 1}) {
            exp2_error = power_error;
            division_error = quotient_error;
            for (float share = 10; share < 200; share *= 1.013f)
                for (float strike = 10; strike < 200; strike *= 1.017f)
                    for (const float years : {0.1f, 0.35f, 1.0f, 4.5f}) {
                        const float spread = sigma * std::sqrt(years);
                        const float drift = (rate + sigma * sigma / 2) * years;
                        const float up = (bodies::cuda_log(share / strike) + drift) / spread;
                        const float discounted = strike * bodies::cuda_exp(-rate * years);
                        const float call = share * bodies::cuda_ndtr(up) - discounted * bodies::cuda_ndtr(up - spread);

                        const double s = share, k = strike, r = rate, v = sigma, t = years, d = v * std::sqrt(t);
                        const double high = (std::log(s / k) + (r + v * v / 2) * t) / d;
                        const auto normal = [](double a) { return std::erfc(-a / std::sqrt(2.0)) / 2; };
                        const double price = s * normal(high) - k * std::exp(-r * t) * normal(high - d);
                        worst = std::max(worst, std::abs(call - price) / s);
                    }
        }
    CHECK(worst < 2e-6);
    if (std::getenv("INGOT_PRINT_ULP") != nullptr) std::cout << "Black-Scholes: " << worst << " of the price\n";
}

TEST_CASE("quick bodies are correctly rounded or call a value rare, and call no ordinary value rare") {
    struct quick {
        const char* name;
        float (*body)(float, float, bool&);
        float (*exact)(float, float);
    };
    constexpr quick all_of_them[] = {
        {"divide", bodies::quick_divide, [](float a, float b) { return a / b; }},
        {"divide, by what is shared", bodies::shared_divide, [](float a, float b) { return a / b; }},
        {"sqrt", bodies::quick_sqrt, [](float a, float) { return std::sqrt(a); }},
    };
    constexpr float edges[] = {0.0f,
                               0x1p-149f,
                               0x1p-127f,
                               0x1p-126f,
                               0x1.8p-125f,
                               0x1p-101f,
                               0x1p-100f,
                               0x1p-50f,
                               1.0f,
                               0x1p100f,
                               0x1p125f,
                               0x1.fffffep125f,
                               0x1p126f,
                               0x1.000002p126f,
                               0x1.000004p126f,
                               0x1p127f,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
    const auto same = [](float x, float y) { return x == y && std::signbit(x) == std::signbit(y); };
    division_error = 0;
    std::mt19937 generator(1);
    const auto any_float = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(generator())); };
    for (const quick& q : all_of_them) {
        std::size_t wrong = 0, needless = 0;
        const auto visit = [&](float a, float b) {
            bool rare = false;
            const float got = q.body(a, b, rare);
            if (!rare && !same(got, q.exact(a, b))) ++wrong;
            const auto ordinary = [](float x) { return std::abs(x) > 0x1p-60f && std::abs(x) < 0x1p60f; };
            const bool zero = std::bit_cast<std::uint32_t>(a) == 0 && q.body == bodies::shared_divide;
            if (rare && (zero || ordinary(a)) && ordinary(b) && !std::signbit(a)) ++needless;
        };
        for (const float a : edges)
            for (const float b : edges)
                for (const float sign : {1.0f, -1.0f}) visit(sign * a, b), visit(sign * a, -b);
        for (int k = 0; k < 1'000'000; ++k) visit(any_float(), any_float());
        for (const float edge : edges)
            for (int k = 0; k < 20'000; ++k) visit(edge, any_float()), visit(any_float(), edge);
        CHECK_MESSAGE(wrong == 0, std::string(q.name));
        CHECK_MESSAGE(needless == 0, std::string(q.name));
    }
}

TEST_CASE("exponentials and powers of doubles on a GPU go down to the least subnormal number") {
    using bodies::wide::cuda_exp, bodies::wide::cuda_power, bodies::wide::cuda_float_power;
    const double least = 0x1p-1074;
    for (const double a : {-745.0, -745.1, -745.1332191019411}) CHECK(cuda_exp(a, 0) == least);
    for (const double a : {-745.1332191019412, -746.0, -1e300, -std::numeric_limits<double>::infinity()})
        CHECK(cuda_exp(a, 0) == 0);
    CHECK(std::isnan(cuda_exp(std::numeric_limits<double>::quiet_NaN(), 0)));
    for (const double a : {-744.9, -700.0, 0.0, 3.0}) CHECK(cuda_exp(a, 0) == std::exp(a));
    const double infinity = std::numeric_limits<double>::infinity();
    for (const auto power : {cuda_power, cuda_float_power}) {
        CHECK(power(2, -1074.9) == least);
        CHECK(power(0.5, 1074.9) == least);
        CHECK(power(-8, -358) == least);
        CHECK(power(-32, -215) == 0);
        CHECK(power(-2, -1075) == 0);
        CHECK(std::signbit(power(-2, -1075)));
        for (const double a : {0.0, 0.5, -0.5, 2.0, infinity})
            for (const double b : {infinity, -infinity, 3000.0, -3000.0, 0.0}) CHECK(power(a, b) == std::pow(a, b));
    }
}

TEST_CASE("quick bodies of doubles divide as the hardware does and are exponentials, or call a value rare") {
    const double edges[] = {0.0,
                            0x1p-1074,
                            0x1p-1023,
                            0x1p-1022,
                            0x1.8p-1021,
                            0x1p-969,
                            0x1p-960,
                            0x1p-500,
                            1.0,
                            3.0,
                            0x1p900,
                            0x1p1000,
                            0x1p1016,
                            0x1p1021,
                            0x1p1022,
                            0x1p1023,
                            708.0,
                            709.0,
                            745.0,
                            750.0,
                            std::nextafter(2.0, 0.0),
                            std::numeric_limits<double>::max(),
                            std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
    std::mt19937_64 generator(1);
    const auto any_double = [&] { return std::bit_cast<double>(generator()); };
    const auto near_one = [&] { return std::bit_cast<double>(generator() >> 12 | 0x3ff0000000000000u); };
    std::size_t wrong = 0, needless = 0;
    const auto divide = [&](double a, double b) {
        const auto ordinary = [](double x) { return std::abs(x) > 0x1p-500 && std::abs(x) < 0x1p500; };
        for (const auto body : {bodies::wide::quick_divide, bodies::wide::shared_divide}) {
            bool rare = false;
            const double got = body(a, b, rare), exact = a / b;
            if (!rare && (got != exact || std::signbit(got) != std::signbit(exact))) ++wrong;
            const bool zero = std::bit_cast<std::uint64_t>(a) == 0 && body == bodies::wide::shared_divide;
            if (rare && (zero || ordinary(a)) && ordinary(b)) ++needless;
        }
    };
    const auto exponential = [&](double a) {
        bool rare = false;
        const double got = bodies::wide::quick_exp(a, a, rare), exact = std::exp(a);
        if (!rare && !(std::abs(got - exact) <= 2 * std::ldexp(1.0, std::ilogb(exact) - 52))) ++wrong;
        if (rare && std::abs(a) < 708) ++needless;
    };
    for (const double a : edges)
        for (const double b : edges)
            for (const double sign : {1.0, -1.0}) divide(sign * a, b), divide(sign * a, -b);
    for (const double a : edges) exponential(a), exponential(-a);
    for (int k = 0; k < 1'000'000; ++k) {
        divide(any_double(), any_double());
        divide(near_one(), near_one());
        divide(near_one(), std::bit_cast<double>(0x3fffffffffffffff - (generator() >> 48)));
        exponential(any_double());
        exponential(1420 * (near_one() - 1.5));
    }
    CHECK(wrong == 0);
    CHECK(needless == 0);
}
