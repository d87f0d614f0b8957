// The texts of searches, and what their arrays have to be.
#include <ingot/searching.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <ingot/error.hpp>

#include "runtime/library_texts.hpp"

namespace ingot::detail {

namespace {

search_kernel search(runtime::library_text which) {
    return search_kernel(runtime::statements_of(which), "searchsorted");
}

}  // namespace

const search_kernel& search_text(bool descending, bool right) {
    using enum runtime::library_text;
    static const search_kernel up_left = search(search_up_left), up_right = search(search_up_right),
                               down_left = search(search_down_left), down_right = search(search_down_right);
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
    static const interp_kernel text(runtime::statements_of(runtime::library_text::interp), "interp");
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
