// The special functions over random bit patterns and ordinary numbers, against long double: the C library's functions,
// and series, recurrences and Newton steps over them. What is hard for those (tails, zeros, poles) stands in
// tests/oracle/special_values.txt.
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

#include <ingot/scalar_functions.hpp>

namespace {

using ingot::detail::op;
using real_number = long double;

constexpr real_number pi = 3.14159265358979323846264338327950288L;

// ---- references: of a place, and of the result that is judged -----------------------------------------------------

/// Where the result is so near that one step of Newton's iteration leaves nothing to find.
real_number erfinv(real_number x, real_number near) {
    const real_number slope = 2 / std::sqrt(pi) * std::exp(-near * near);
    const real_number off = std::abs(x) < 0.5L ? std::erf(near) - x
                            : x > 0            ? (1 - x) - std::erfc(near)
                                               : std::erfc(-near) - (1 + x);
    return near - off / slope;
}
real_number erfcinv(real_number x, real_number near) {
    if (x > 0.5L) return erfinv(1 - x, near);
    return near - (x - std::erfc(near)) / (2 / std::sqrt(pi) * std::exp(-near * near));
}
real_number ndtri(real_number p, real_number near) {
    if (p > 0.5L) return -ndtri(1 - p, -near);
    const real_number root = std::sqrt(2.0L);
    return -root * erfcinv(2 * p, -near / root);
}
real_number erfcx(real_number x, real_number) {
    if (x < 20) {
        const real_number head = static_cast<float>(x);
        return std::exp(head * head) * std::exp((x - head) * (x + head)) * std::erfc(x);
    }
    real_number sum = 1, term = 1;
    for (int k = 1; k < 30; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
    return sum / (x * std::sqrt(pi));
}
real_number digamma(real_number x, real_number) {
    if (x < 0) {
        const real_number r = x - std::rint(x);
        const real_number cotangent =
            std::abs(r) < 0.25L ? 1 / std::tan(pi * r) : std::copysign(std::tan(pi * (0.5L - std::abs(r))), r);
        return digamma(1 - x, 0) - pi * cotangent;
    }
    real_number below = 0;
    for (; x < 40; x += 1) below += 1 / x;
    const real_number s = 1 / (x * x);
    const real_number tail =
        s * (1 / 12.0L - s * (1 / 120.0L - s * (1 / 252.0L - s * (1 / 240.0L - s * (1 / 132.0L - s * 691 / 32760)))));
    return std::log(x) - 1 / (2 * x) - tail - below;
}
/// e^-|x| times the modified Bessel function.
real_number modified_bessel(int order, real_number x) {
    const real_number size = std::abs(x);
    real_number sum = 1, term = 1;
    if (size < 40) {
        for (int k = 1; k < 120; ++k) sum += term *= size * size / 4 / (static_cast<real_number>(k) * (k + order));
        sum *= std::exp(-size) * (order == 1 ? size / 2 : 1);
    } else {
        for (int k = 1; k < 30; ++k)
            sum += term *= -static_cast<real_number>(4 * order * order - (2 * k - 1) * (2 * k - 1)) / (8 * k * size);
        sum /= std::sqrt(2 * pi * size);
    }
    return order == 1 ? std::copysign(sum, x) : sum;
}
template <int Order>
real_number scaled(real_number x, real_number) {
    return modified_bessel(Order, x);
}
template <int Order>
real_number unscaled(real_number x, real_number) {
    return modified_bessel(Order, x) * std::exp(std::abs(x));
}

// ---- what an error is measured against ----------------------------------------------------------------------------

real_number itself(real_number) { return 0; }
real_number one_on_the_left(real_number x) { return x < 0 ? 1 : 0; }
real_number amplitude(real_number x) {
    x = std::abs(x);
    return x > 2 ? std::sqrt(2 / (pi * x)) : x > 0.5L ? std::min<real_number>(1, 1 / x) : 0;
}
/// The root at 1.46 is found by recurrence only to an absolute error.
real_number greater_term(real_number x) {
    if (x > 0) return std::abs(x - 1.4616321449683623L) < 0.01L ? 0.01L : 0;
    return std::abs(digamma(1 - x, 0)) + std::abs(pi / std::tan(pi * (x - std::rint(x))));
}

struct judged {
    op row;
    double (*of_double)(double);
    float (*of_float)(float);
    real_number (*reference)(real_number, real_number);
    real_number (*scale)(real_number);
    double low, high;  // of the domain
};

#define JUDGED(name, reference, scale, low, high)                                                                    \
    judged {                                                                                                         \
        op::name, [](double x) { return ingot::name(x); }, [](float x) { return ingot::name(x); }, reference, scale, \
            low, high                                                                                                \
    }
#define LIBRARY(function) [](real_number x, real_number) -> real_number { return function(x); }
constexpr judged all_of_them[] = {
    JUDGED(ndtri, ndtri, itself, 0, 1),
    JUDGED(erfinv, erfinv, itself, -1, 1),
    JUDGED(erfcinv, erfcinv, itself, 0, 2),
    JUDGED(erfc, LIBRARY(std::erfc), itself, -1e300, 1e300),
    JUDGED(erfcx, erfcx, itself, -26.6, 1e300),
    JUDGED(tgamma, LIBRARY(std::tgamma), itself, -150, 171),
    JUDGED(lgamma, LIBRARY(std::lgamma), one_on_the_left, -1e5, 1e300),
    JUDGED(digamma, digamma, greater_term, -1e5, 1e300),
    JUDGED(j0, LIBRARY(::j0l), amplitude, -1e5, 1e5),
    JUDGED(j1, LIBRARY(::j1l), amplitude, -1e5, 1e5),
    JUDGED(y0, LIBRARY(::y0l), amplitude, 0, 1e5),
    JUDGED(y1, LIBRARY(::y1l), amplitude, 0, 1e5),
    JUDGED(i0, unscaled<0>, itself, -713, 713),
    JUDGED(i0e, scaled<0>, itself, -1e300, 1e300),
    JUDGED(i1, unscaled<1>, itself, -713, 713),
    JUDGED(i1e, scaled<1>, itself, -1e300, 1e300),
};

template <class T>
double distance(T got, real_number wanted, real_number scale) {
    using limits = std::numeric_limits<T>;
    const real_number top = std::ldexp(real_number(1), limits::max_exponent);
    wanted = std::clamp(wanted, -top, top);
    const real_number given = std::clamp<real_number>(got, -top, top), size = std::max(std::abs(wanted), scale);
    const int exponent = size == 0 ? limits::min_exponent : std::max(std::ilogb(size) + 1, limits::min_exponent);
    if (got != got) return std::numeric_limits<double>::infinity();
    return static_cast<double>(std::abs(given - wanted) /
                               std::ldexp(real_number(1), std::min(exponent, limits::max_exponent) - limits::digits));
}

template <class T, class Bits>
void check(const judged& f, T (*function)(T), ingot::dtype type) {
    std::mt19937_64 random(static_cast<unsigned>(f.row));
    std::uniform_real_distribution<double> usual(std::max(f.low, -30.0), std::min(f.high, 30.0));
    const double bound = ingot::detail::body_of(f.row, ingot::detail::evaluator::host, type).ulp;
    double worst = 0, worst_at = 0;
    std::size_t judged_ones = 0;
    for (int k = 0; k < 20'000; ++k) {
        const T x = k % 2 == 0 ? std::bit_cast<T>(static_cast<Bits>(random())) : static_cast<T>(usual(random));
        if (!(x > f.low && x < f.high) || (x < 0 && x == std::floor(x)) || x == 0) continue;
        const T got = function(x);
        const real_number wanted = f.reference(x, got);
        if (!std::isfinite(wanted)) continue;
        const double off = distance(got, wanted, f.scale(x));
        ++judged_ones;
        if (off > worst) worst = off, worst_at = x;
    }
    const std::string name(ingot::detail::facts(f.row).name);
    CHECK(judged_ones > 10'000);
    CHECK_MESSAGE(worst <= bound, name, " at ", worst_at, ": ", worst, " ulp, the table says ", bound);
    if (std::getenv("INGOT_PRINT_ULP") != nullptr)
        std::cout << name << ' ' << ingot::name(type) << ": " << worst << " ulp at " << worst_at << '\n';
}

}  // namespace

TEST_CASE("special functions keep their bounds over random numbers") {
    if (std::numeric_limits<real_number>::digits < 64) return;
    for (const judged& f : all_of_them) {
        check<double, std::uint64_t>(f, f.of_double, ingot::dtype::f8);
        check<float, std::uint32_t>(f, f.of_float, ingot::dtype::f4);
    }
}
