// Points along one variable, and the values beyond them: arguments that all interpolations share.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <ingot/core/any_expression.hpp>
#include <ingot/core/array.hpp>

namespace ingot {
namespace interpolate {

/// The value between points: on the line through the two points around it (`linear`), or that of one point: the nearest
/// one, halfway the one before (`nearest`) or behind (`nearest_up`), the point before (`previous`) or behind (`next`).
enum class method : std::uint8_t { linear, nearest, nearest_up, previous, next };

// Inner: the type of `extrapolate`.
struct extrapolate_tag {};
/// The function goes on beyond the points: a value of `interp_options::fill_value`.
inline constexpr extrapolate_tag extrapolate{};

/// The value beyond the points: one number, one before and one behind, or `extrapolate`.
///
///     const array<double> x{0, 1}, y{5, 7}, at{-1, 0.5, 2};
///     std::cout << interpolate::interp(at, x, y, {.fill_value = {0, 9}}) << ' '
///               << interpolate::interp(at, x, y, {.fill_value = interpolate::extrapolate});
///     // prints: [0. 6. 9.] [3. 6. 9.]
class fill {
public:
    fill(double both = std::numeric_limits<double>::quiet_NaN()) : before_(both), behind_(both) {}
    fill(double before, double behind) : before_(before), behind_(behind) {}
    fill(extrapolate_tag) : extrapolates_(true) {}

    // Inner
    double before() const noexcept { return before_; }
    // Inner
    double behind() const noexcept { return behind_; }
    // Inner
    bool extrapolates() const noexcept { return extrapolates_; }

private:
    double before_ = 0, behind_ = 0;
    bool extrapolates_ = false;
};

}  // namespace interpolate

namespace detail {

/// Increasing numbers, on the device and on the host.
struct knots {
    array<double> values;
    std::vector<double> host;
    // The distance of knots that lie within a quarter of it from equally spaced ones, else 0. The interval of a place
    // is then computed and not searched.
    double step = 0;
};

}  // namespace detail
}  // namespace ingot
