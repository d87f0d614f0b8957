// Errors for parameters outside a distribution's domain, and the kernels that use rejection.
#include <ingot/distributions/draws.hpp>

#include <cmath>
#include <cstdio>

#include "runtime/random/binomial.cuh.hpp"
#include "runtime/random/cubed_normal.cuh.hpp"
#include "runtime/random/next_number.hpp"
#include "runtime/random/poisson.cuh.hpp"

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

const poisson_text& poisson_kernel() {
    static const poisson_text k(with_next_number(embedded::poisson), "poisson");
    return k;
}
const gamma_text& gamma_kernel() {
    static const gamma_text k(with_next_number(embedded::cubed_normal) + "y = d * v * (k < 1 ? exp(further) : 1);",
                              "gamma");
    return k;
}
const gamma_text& log_gamma_kernel() {
    static const gamma_text k(with_next_number(embedded::cubed_normal) + "y = log(d * v) + further;", "log_gamma");
    return k;
}
const beta_text& beta_kernel() {
    // x / (x + z) for two gamma numbers x and z, which with their powers may be too small for a double.
    static const beta_text k(
        with_next_number("const auto gamma = [&](double k, double& power) -> double {\n" +
                         std::string(embedded::cubed_normal) +
                         "power = further;\nreturn d * v;\n};\n"
                         "double x_power, z_power;\nconst double x = gamma(a, x_power), z = gamma(b, z_power);\n"
                         "y = x / (x + z * (x_power == z_power ? 1 : exp(z_power - x_power)));"),
        "beta");
    return k;
}
const binomial_text& binomial_kernel() {
    static const binomial_text k(with_next_number(embedded::binomial), "binomial");
    return k;
}

}  // namespace ingot::detail
