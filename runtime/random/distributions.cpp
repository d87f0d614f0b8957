// Errors for parameters outside a distribution's domain, and the kernels that use rejection.
#include <ingot/distributions/draws.hpp>

#include <cmath>
#include <cstdio>

#include "runtime/random/next_number.hpp"

namespace ingot::detail {

namespace {

std::string to_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

struct domain_facts {
    bool (*has)(double);
    const char* wanted;
};

domain_facts facts(domain d) {
    switch (d) {
        case domain::number:
            return {[](double x) { return !std::isnan(x); }, "a number"};
        case domain::finite:
            return {[](double x) { return std::isfinite(x); }, "a finite number"};
        case domain::not_negative:
            return {[](double x) { return std::isfinite(x) && x >= 0; }, "a finite number that is not negative"};
        case domain::positive:
            return {[](double x) { return std::isfinite(x) && x > 0; }, "a finite number above 0"};
        case domain::probability:
            return {[](double x) { return x >= 0 && x <= 1; }, "a number from 0 to 1"};
        case domain::positive_probability:
            return {[](double x) { return x > 0 && x <= 1; }, "a number above 0, up to 1"};
        case domain::above_one:
            return {[](double x) { return std::isfinite(x) && x > 1; }, "a finite number above 1"};
        case domain::below_one:
            return {[](double x) { return x >= 0 && x < 1; }, "a number from 0 to below 1"};
        case domain::count:
            return {[](double x) { return x >= 0 && x <= 0x1p53; }, "an integer from 0 to 2^53"};
    }
    return {};
}

}  // namespace

void check_parameter(const char* operation, const char* name, double given, domain wanted) {
    const domain_facts f = facts(wanted);
    if (!f.has(given))
        throw dtype_error("[" + std::string(operation) + "] " + name + " is " + to_text(given) + ": " + f.wanted +
                          " is wanted");
}

void check_order(const char* operation, const char* first_name, double first, const char* second_name, double second,
                 bool may_be_equal) {
    if (first < second || (may_be_equal && first == second)) return;
    throw dtype_error("[" + std::string(operation) + "] " + first_name + " is " + to_text(first) + " and " +
                      second_name + " is " + to_text(second) + ": " + first_name + (may_be_equal ? " <= " : " < ") +
                      second_name + " is wanted");
}

void check_width(const char* operation, double low, double high, double width) {
    if (!std::isfinite(width))
        throw dtype_error("[" + std::string(operation) + "] from " + to_text(low) + " to " + to_text(high) +
                          ": a width that the type can hold is wanted");
}

void throw_bad_range(const char* operation, const std::string& low, const std::string& high, dtype of, bool endpoint) {
    throw dtype_error("[" + std::string(operation) + "] from " + low + (endpoint ? " up to " : " to below ") + high +
                      ": a range of " + std::string(name(of)) + " that is not empty is wanted");
}

namespace {

// Marsaglia and Tsang, 2000: the cube of a shifted normal number; for k below 1, that of k + 1 times a power of a
// uniform number.
constexpr const char* cubed_normal = R"(double v = NAN, d = 1, further = 0;
if (k > 0 && k <= 1e300) {
    d = (k < 1 ? k + 1 : k) - 1 / 3.0;
    const double c = 1 / sqrt(9 * d);
    for (bool rejected = true; rejected;) {
        const double radius = sqrt(-2 * log(next()));
        const double x = radius * cos(6.28318530717958647692 * next());
        v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        rejected = log(next()) >= 0.5 * x * x + d - d * v + d * log(v);
    }
    if (k < 1) further = log(next()) / k;
}
)";

// Up to 10 by sums of the probabilities; above by Hormann's PTRS, 1993. There the logarithm of a probability is
// computed by lgamma while that is exact enough, and for more by a series in (lam - y) / y.
constexpr const char* poisson = R"(if (!(lam >= 0)) {
    y = NAN;
} else if (lam < 10) {
    double p = exp(-lam), u = next();
    for (y = 0; u > p && y < 100;) {
        u -= p;
        y += 1;
        p *= lam / y;
    }
} else {
    const double root = sqrt(lam), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = next() - 0.5, v = next(), s = 0.5 - abs(u);
        y = floor((2 * a / s + b) * u + lam + 0.43);
        if (s >= 0.07 && v <= most) break;
        if (!(y >= 0) || (s < 0.013 && v > s)) continue;
        const double near = (lam - y) / y;
        const double wanted = y < 1000 ? y * log(lam) - lam - lgamma(y + 1)
                                       : y * (log1p(near) - near) - 0.5 * log(6.28318530717958647692 * y) -
                                             1 / (12 * y);
        if (log(v * inverse / (a / (s * s) + b)) <= wanted) break;
    }
}
)";

// Uses the smaller of p and 1 - p. If few are expected by sums of the probabilities, else by Hormann's BTRS, 1993.
constexpr const char* binomial = R"(const double less = p > 0.5 ? 1 - p : p, ratio = less / (1 - less);
if (!(n >= 0 && n <= 0x1p53 && p >= 0 && p <= 1)) {
    y = NAN;
} else if (n * less < 10) {
    double q = exp(n * log1p(-less)), u = next();
    for (y = 0; u > q && y < n && y < 110;) {
        u -= q;
        y += 1;
        q *= (n - y + 1) / y * ratio;
    }
} else {
    const double root = sqrt(n * less * (1 - less)), b = 1.15 + 2.53 * root;
    const double a = -0.0873 + 0.0248 * b + 0.01 * less, most = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * root;
    const double mode = floor((n + 1) * less), top = lgamma(mode + 1) + lgamma(n - mode + 1);
    for (;;) {
        const double u = next() - 0.5, v = next(), s = 0.5 - abs(u);
        y = floor((2 * a / s + b) * u + n * less + 0.5);
        if (s >= 0.07 && v <= most) break;
        if (!(y >= 0 && y <= n)) continue;
        if (log(v * alpha / (a / (s * s) + b)) <=
            top - lgamma(y + 1) - lgamma(n - y + 1) + (y - mode) * log(ratio)) break;
    }
}
if (p > 0.5) y = n - y;
)";

}  // namespace

const poisson_text& poisson_kernel() {
    static const poisson_text k(std::string(next_number) + poisson, "poisson");
    return k;
}
const gamma_text& gamma_kernel() {
    static const gamma_text k(std::string(next_number) + cubed_normal + "y = d * v * exp(further);", "gamma");
    return k;
}
const gamma_text& log_gamma_kernel() {
    static const gamma_text k(std::string(next_number) + cubed_normal + "y = log(d * v) + further;", "log_gamma");
    return k;
}
const binomial_text& binomial_kernel() {
    static const binomial_text k(std::string(next_number) + binomial, "binomial");
    return k;
}

}  // namespace ingot::detail
