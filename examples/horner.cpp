// A polynomial whose degree is known at run time. The loop makes a tree, `lazy`, and computes nothing; what it made is
// one kernel. Other coefficients are the same kernel, and long polynomials a chain of kernels of bounded size.
#include <cmath>
#include <cstdio>
#include <vector>

#include <ingot/ingot.hpp>

#include "measured.hpp"

using namespace ingot;

namespace {

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule. As a lazy, x is one node however often it is used.
lazy<double> polynomial(const std::vector<double>& c, const lazy<double>& x) {
    lazy p = scalar(c.back());
    for (std::size_t i = c.size() - 1; i-- > 0;) p = p * x + c[i];
    return p;
}

/// The first terms of the Taylor series at 0 of which the derivatives there repeat with period 4.
std::vector<double> taylor(int terms, const double (&derivatives)[4]) {
    std::vector<double> c;
    double factorial = 1;
    for (int i = 0; i < terms; ++i) {
        if (i > 0) factorial *= i;
        c.push_back(derivatives[i % 4] / factorial);
    }
    return c;
}

}  // namespace

int main() {
    const array<double> x = linspace(-1, 1, 1 << 20);
    std::printf("%-28s %10s %10s %12s %14s\n", "polynomial", "compiles", "kernels", "us", "mean error");
    const auto report = [&](const char* name, const std::vector<double>& c, const auto& exact) {
        array<double> p;
        const measured m = measure([&] { p = polynomial(c, x); });
        std::printf("%-28s %10llu %10llu %12.1f %14.1e\n", name, static_cast<unsigned long long>(m.compiles),
                    static_cast<unsigned long long>(m.kernels), m.microseconds,
                    sum(abs(p - exact)).item() / static_cast<double>(x.size()));
    };

    report("exp, degree 17", taylor(18, {1, 1, 1, 1}), exp(x));
    report("sin, degree 17", taylor(18, {0, 1, 0, -1}), sin(x));
    report("cos, degree 17", taylor(18, {1, 0, -1, 0}), cos(x));
    // x^100 + ... + x + 1, and the same to degree 1000: (1 - x^(n + 1)) / (1 - x), but for the last x.
    report("1 + x + ... + x^100", std::vector<double>(101, 1.0), where(x < 1, (1 - power(x, 101)) / (1 - x), 101));
    report("1 + x + ... + x^1000", std::vector<double>(1001, 1.0), where(x < 1, (1 - power(x, 1001)) / (1 - x), 1001));
}
