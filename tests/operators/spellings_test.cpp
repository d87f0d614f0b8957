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
#include <string>

#include <ingot/operators.hpp>

namespace {

/// What the documentation allows: exp2f 2 units in the last place, and __fdividef(1, x), which is rcp.approx(x), 1.
int exp2_error = 0, division_error = 0;

/// `exact` rounded to a float that is off by this many units in its last place.
float off_by(double exact, int units) {
    if (!std::isfinite(exact) || std::abs(exact) < 0x1p-126 || std::abs(exact) > 0x1p126) units = 0;
    return static_cast<float>(units == 0 ? exact : exact + units * std::ldexp(1.0, std::ilogb(exact) - 23));
}

namespace bodies {

using std::abs, std::fma, ::fminf;
using U = std::uint32_t;
using S = std::int32_t;

U bits_of(float x) { return std::bit_cast<U>(x); }
float from_bits(U x) { return std::bit_cast<float>(x); }
float exp2(float x) { return off_by(std::exp2(double{x}), exp2_error); }
float __fdividef(float a, float b) { return off_by(double{a} / double{b}, division_error); }
float __fmul_rz(float a, float b) {
    const double product = double{a} * double{b};
    const float nearest = static_cast<float>(product);
    return std::abs(double{nearest}) > std::abs(product) ? std::nextafter(nearest, 0.0f) : nearest;
}

#define INGOT_SPELLING(name, where, type, ulp, ...) \
    float where##_##name(float a) { __VA_ARGS__ }
#include <ingot/operators.def>

}  // namespace bodies

double exact(ingot::detail::op row, double a) {
    using ingot::detail::op;
    switch (row) {
        case op::exp: return std::exp(a);
        case op::log: return std::log(a);
        case op::ndtr: return std::erfc(-a * 0.70710678118654752440) / 2;
        default: return std::numeric_limits<double>::quiet_NaN();
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

TEST_CASE("own float32 bodies keep their bounds over all floats") {
    struct spelled {
        const char* name;
        ingot::detail::op row;
        double ulp;
        float (*body)(float);
        bool on_cuda;
    };
    constexpr spelled all_of_them[] = {
#define INGOT_SPELLING(row, where, type, ulp, ...) \
    {#row " (" #where ")", ingot::detail::op::row, ulp, bodies::where##_##row, std::string_view(#where) == "cuda"},
#include <ingot/operators.def>
    };
    for (const spelled& s : all_of_them)
        for (const int power_error : {0, -2, 2})
            for (const int quotient_error : {0, -1, 1}) {
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
                        const float up = (bodies::all_log(share / strike) + drift) / spread;
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
