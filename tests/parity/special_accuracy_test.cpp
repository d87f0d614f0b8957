// The special functions over random bit patterns and ordinary numbers, against long double: the C library's functions,
// and series, recurrences and Newton steps over them; 20,000 numbers, on a GPU and where INGOT_TEST_ALL is set 10^6.
// Arguments that are hard for these references (tails, zeros, poles) are in tests/oracle/special_values.txt.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <ingot/core/device.hpp>

#include "tests/parity/sweep.hpp"
#include "tests/untested.hpp"

namespace {

using namespace ingot;
using detail::op;
using real_number = long double;

constexpr real_number pi = 3.14159265358979323846264338327950288L;

// ---- references: of a place, and of the result that is judged -----------------------------------------------------

/// One step of Newton's iteration from a near value; a second one would change nothing.
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
real_number ndtr(real_number x, real_number) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
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
    real_number (*reference)(real_number, real_number);
    real_number (*scale)(real_number);
    double low, high;  // of the domain
};

#define LIBRARY(function) [](real_number x, real_number) -> real_number { return function(x); }
constexpr judged all_of_them[] = {
    {op::ndtri, ndtri, itself, 0, 1},
    {op::erfinv, erfinv, itself, -1, 1},
    {op::erfcinv, erfcinv, itself, 0, 2},
    {op::erf, LIBRARY(std::erf), itself, -1e300, 1e300},
    {op::erfc, LIBRARY(std::erfc), itself, -1e300, 1e300},
    {op::ndtr, ndtr, itself, -1e300, 1e300},
    {op::erfcx, erfcx, itself, -26.6, 1e300},
    {op::tgamma, LIBRARY(std::tgamma), itself, -150, 171},
    {op::lgamma, LIBRARY(std::lgamma), one_on_the_left, -1e5, 1e300},
    {op::digamma, digamma, greater_term, -1e5, 1e300},
    {op::j0, LIBRARY(::j0l), amplitude, -1e5, 1e5},
    {op::j1, LIBRARY(::j1l), amplitude, -1e5, 1e5},
    {op::y0, LIBRARY(::y0l), amplitude, 0, 1e5},
    {op::y1, LIBRARY(::y1l), amplitude, 0, 1e5},
    {op::i0, unscaled<0>, itself, -713, 713},
    {op::i0e, scaled<0>, itself, -1e300, 1e300},
    {op::i1, unscaled<1>, itself, -713, 713},
    {op::i1e, scaled<1>, itself, -1e300, 1e300},
};

template <class T>
double distance(T got, real_number wanted, real_number scale) {
    using limits = std::numeric_limits<T>;
    const real_number top = std::ldexp(real_number(1), limits::max_exponent);
    wanted = std::clamp(wanted, -top, top);
    const real_number given = std::clamp(static_cast<real_number>(got), -top, top),
                      size = std::max(std::abs(wanted), scale);
    const int exponent = size == 0 ? limits::min_exponent : std::max(std::ilogb(size) + 1, limits::min_exponent);
    if (got != got) return std::numeric_limits<double>::infinity();
    return static_cast<double>(std::abs(given - wanted) /
                               std::ldexp(real_number(1), std::min(exponent, limits::max_exponent) - limits::digits));
}

/// Bit patterns and ordinary numbers of a function's domain, half of each.
template <class T>
std::vector<T> arguments(const judged& f, std::size_t n, std::mt19937_64& random) {
    std::uniform_real_distribution<double> usual(std::max(f.low, -30.0), std::min(f.high, 30.0));
    std::vector<T> at;
    while (at.size() < n) {
        T x = static_cast<T>(usual(random));
        if (at.size() % 2 == 0) {
            const std::uint64_t bits = random();
            std::memcpy(static_cast<void*>(&x), &bits, sizeof(x));
        }
        const auto wide = static_cast<real_number>(x);
        if (wide > f.low && wide < f.high && wide != 0 && !(wide < 0 && wide == std::floor(wide))) at.push_back(x);
    }
    return at;
}

struct judgement {
    double worst = 0, worst_at = 0;
    std::size_t judged = 0;

    void note(double off, double at) {
        ++judged;
        if (off > worst) worst = off, worst_at = at;
    }
    void add(const judgement& other) {
        judged += other.judged;
        if (other.worst > worst) worst = other.worst, worst_at = other.worst_at;
    }
};

template <class T>
judgement judge(const judged& f, const testing::bytes& arguments, const testing::bytes& results, std::size_t begin,
                std::size_t end) {
    judgement of;
    for (std::size_t i = begin; i < end; ++i) {
        T x, got;
        std::memcpy(&x, arguments.data() + i * sizeof(T), sizeof(T));
        std::memcpy(&got, results.data() + i * sizeof(T), sizeof(T));
        const auto at = static_cast<real_number>(x);
        real_number wanted = f.reference(at, static_cast<real_number>(got));
        // A step from a value with few digits has few digits, so halves take more steps.
        for (int more = 0; more < (detail::half_float<T> ? 2 : 0); ++more) wanted = f.reference(at, wanted);
        if (std::isfinite(wanted)) of.note(distance(got, wanted, f.scale(at)), static_cast<double>(x));
    }
    return of;
}

/// Functions of one dtype, as outputs of few kernels on the current device.
template <class T>
void check(std::span<const judged> functions, std::size_t n, std::mt19937_64& random) {
    constexpr dtype type = detail::dtype_of<T>;
    testing::sweep_group g;
    g.count = n;
    std::vector<const testing::sweep_case*> cases;
    for (const judged& f : functions) {
        testing::sweep_case c;
        c.row = f.row;
        c.result = c.computes[0] = type;
        c.first_operand = g.types.size();
        g.cases.push_back(c);
        g.types.push_back(type);
        const std::vector<T> at = arguments<T>(f, n, random);
        g.operands.emplace_back(n * sizeof(T));
        std::memcpy(g.operands.back().data(), at.data(), n * sizeof(T));
    }
    for (const testing::sweep_case& c : g.cases) cases.push_back(&c);
    const std::vector<testing::bytes> results = testing::evaluate(g, cases, testing::arrangement::contiguous);
    // References take longer than anything else: some of a function's at a time, on all cores.
    constexpr std::size_t pieces = 8;
    std::vector<judgement> found(cases.size() * pieces);
    testing::on_all_cores(found.size(), [&](std::size_t task) {
        const std::size_t k = task / pieces, piece = task % pieces;
        found[task] = judge<T>(functions[k], g.operands[k], results[k], n * piece / pieces, n * (piece + 1) / pieces);
    });
    const auto where = current_device().is_cuda() ? detail::evaluator::cuda : detail::evaluator::host;
    for (std::size_t k = 0; k < cases.size(); ++k) {
        const double bound = cases[k]->bound(where);
        judgement of;
        for (std::size_t piece = 0; piece < pieces; ++piece) of.add(found[k * pieces + piece]);
        CHECK(of.judged > n / 2);
        CHECK_MESSAGE(of.worst <= bound, g.name(*cases[k]), " at ", of.worst_at, ": ", of.worst,
                      " ulp, the table says ", bound);
        if (std::getenv("INGOT_PRINT_ULP") != nullptr)
            std::cout << g.name(*cases[k]) << ": " << of.worst << " ulp at " << of.worst_at << '\n';
    }
}

}  // namespace

TEST_CASE_TEMPLATE("special functions keep their bounds over random numbers", T, double, float, float16, bfloat16) {
    if (std::numeric_limits<real_number>::digits < 64) return test::untested("long double is no wider than double");
    std::mt19937_64 random(sizeof(T));
    constexpr std::size_t at_once = 20'032;
    if (const unsigned draws = testing::draws(); draws > 1)
        for (unsigned k = 0; k < draws; ++k) check<T>(all_of_them, at_once, random);
    else if (std::is_same_v<T, double>)
        check<T>(all_of_them, at_once, random);
    else  // rounded from the double; some of it in each run
        check<T>(std::span(all_of_them).subspan(std::random_device()() % 4 * 4, 5), at_once, random);
}
