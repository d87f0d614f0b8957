// The texts of searches, and what their arrays have to be.
#include <ingot/searching.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <ingot/error.hpp>

namespace ingot::detail {

namespace {

/// Counts the first elements of a sorted array by halving what is left to search, without a branch: the number of steps
/// depends on the array alone. `goes_on`: whether an element x is one of them.
std::string count_while(const std::string& goes_on) {
    return "            int64 n = a.size();\n"
           "            for (; n > 1; n -= n >> 1) {\n"
           "                const T x = a[k + (n >> 1) - 1];\n"
           "                k += " +
           goes_on +
           " ? n >> 1 : 0;\n"
           "            }\n"
           "            if (n == 1) {\n"
           "                const T x = a[k];\n"
           "                k += " +
           goes_on +
           ";\n"
           "            }\n";
}

/// What is counted for a number v, and for NaN, which comes last.
search_kernel search(const std::string& of_numbers, const std::string& of_nan) {
    return search_kernel("k = 0;\n        if (v == v) {\n" + of_numbers + "        } else {\n" + of_nan + "        }",
                         "searchsorted");
}

}  // namespace

const search_kernel& search_text(bool descending, bool right) {
    static const search_kernel up_left = search(count_while("(x < v)"), count_while("(x == x)")),
                               up_right = search(count_while("(x <= v)"), "            k = a.size();\n"),
                               down_left = search(count_while("!(x < v)"), count_while("(x != x)")),
                               down_right = search(count_while("!(x <= v)"), "");
    return descending ? right ? down_right : down_left : right ? up_right : up_left;
}

void check_vector(const char* operation, std::span<const index_t> shape) {
    if (shape.size() != 1)
        throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape) + ": a vector is wanted");
}

void throw_unordered(const char* operation) {
    throw error("[" + std::string(operation) + "] bins that rise and fall: they increase or decrease");
}

void throw_other_size(const char* operation, const char* what, std::span<const index_t> given,
                      std::span<const index_t> wanted) {
    throw shape_error("[" + std::string(operation) + "] " + what + " of shape " + to_text(given) + ", wanted " +
                      to_text(wanted));
}

// ---- between points --------------------------------------------------------------------------------------------

const interp_kernel& interp_text() {
    static const interp_kernel text(
        "const int64 n = xp.size();\n"
        "        double at = x;\n"
        "        if (period != 0) {\n"
        "            at = fmod(x, period);\n"
        "            if (at < 0) at += period;\n"
        "        }\n"
        "        int64 j = 0;  // the last point that is not behind it\n"
        "        for (int64 m = n; m > 1;) {\n"
        "            const int64 half = m >> 1;\n"
        "            j += xp[j + half] <= at ? half : 0;\n"
        "            m -= half;\n"
        "        }\n"
        "        if (at != at && n > 1) {\n"
        "            y = at;\n"
        "        } else if (at < xp[0]) {\n"
        "            y = given & 1 ? left : fp[0];\n"
        "        } else if (at > xp[n - 1]) {\n"
        "            y = given & 2 ? right : fp[n - 1];\n"
        "        } else if (j == n - 1 || xp[j] == at) {\n"
        "            y = fp[j];\n"
        "        } else {\n"
        "            const double slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]);\n"
        "            y = slope * (at - xp[j]) + fp[j];\n"
        "            if (y != y) y = slope * (at - xp[j + 1]) + fp[j + 1];  // of infinities, from the other side\n"
        "            if (y != y && fp[j] == fp[j + 1]) y = fp[j];\n"
        "        }",
        "interp");
    return text;
}

void check_points(std::span<const index_t> xp, std::span<const index_t> fp) {
    if (xp.size() != 1 || fp.size() != 1 || xp[0] != fp[0] || xp[0] == 0)
        throw shape_error("[interp] points of shapes " + to_text(xp) + " and " + to_text(fp) +
                          ": two vectors of one length with elements are wanted");
}

double checked_period(double period) {
    if (period == 0) throw error("[interp] a period of 0");
    return std::fabs(period);
}

std::vector<index_t> repeat_points(std::vector<double>& xp, double period) {
    for (double& x : xp) {
        x = std::fmod(x, period);
        if (x < 0) x += period;
    }
    std::vector<index_t> order(xp.size());
    std::iota(order.begin(), order.end(), index_t{0});
    const auto before = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
    const auto at = [&](index_t i) { return xp[static_cast<std::size_t>(i)]; };
    std::ranges::stable_sort(order, [&](index_t a, index_t b) { return before(at(a), at(b)); });
    const index_t first = order.front(), last = order.back();
    order.insert(order.begin(), last);
    order.push_back(first);
    std::vector<double> all;
    for (const index_t i : order) all.push_back(at(i));
    all.front() -= period;
    all.back() += period;
    xp = std::move(all);
    return order;
}

}  // namespace ingot::detail
