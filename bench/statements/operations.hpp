// The operations of drawn statements in double, and how an operation carries the errors of its operands on.
#pragma once

#include <algorithm>
#include <cmath>

#include "statement.hpp"

namespace bench {

inline bool rounds_nothing(op row) {
    return row == op::maximum || row == op::minimum || row == op::negative || row == op::absolute;
}

struct bounded {
    double value, error;
};
/// Calls f with a function that computes the operation's value and error from two operands and their errors, for a
/// loop.
template <class F>
void with_operation(op row, F f) {
    switch (row) {
        case op::add:
            return f([](double x, double dx, double y, double dy) { return bounded{x + y, dx + dy}; });
        case op::subtract:
            return f([](double x, double dx, double y, double dy) { return bounded{x - y, dx + dy}; });
        case op::multiply:
            return f([](double x, double dx, double y, double dy) {
                return bounded{x * y, std::abs(x) * dy + std::abs(y) * dx + dx * dy};
            });
        case op::divide:
            return f([](double x, double dx, double y, double dy) {
                return bounded{x / y, (dx + std::abs(x / y) * dy) / std::max(std::abs(y) - dy, 1e-300)};
            });
        case op::maximum:
            return f(
                [](double x, double dx, double y, double dy) { return bounded{std::max(x, y), std::max(dx, dy)}; });
        case op::minimum:
            return f(
                [](double x, double dx, double y, double dy) { return bounded{std::min(x, y), std::max(dx, dy)}; });
        case op::negative:
            return f([](double x, double dx, double, double) { return bounded{-x, dx}; });
        case op::absolute:
            return f([](double x, double dx, double, double) { return bounded{std::abs(x), dx}; });
        case op::square:
            return f(
                [](double x, double dx, double, double) { return bounded{x * x, 2 * std::abs(x) * dx + dx * dx}; });
        case op::exp:
            return f(
                [](double x, double dx, double, double) { return bounded{std::exp(x), std::exp(x) * std::expm1(dx)}; });
        case op::log:
            return f([](double x, double dx, double, double) {
                return bounded{std::log(x), dx / std::max(x - dx, 1e-300)};
            });
        case op::log1p:
            return f([](double x, double dx, double, double) {
                return bounded{std::log1p(x), dx / std::max(1 + x - dx, 1e-300)};
            });
        case op::sqrt:
            return f([](double x, double dx, double, double) {
                return bounded{std::sqrt(x), 0.5 * dx / std::sqrt(std::max(x - dx, 1e-300))};
            });
        case op::sin:
            return f([](double x, double dx, double, double) { return bounded{std::sin(x), dx}; });
        case op::tanh:
            return f([](double x, double dx, double, double) { return bounded{std::tanh(x), dx}; });
        default:
            return f([](double x, double dx, double, double) { return bounded{std::erf(x), 1.2 * dx}; });
    }
}

}  // namespace bench
