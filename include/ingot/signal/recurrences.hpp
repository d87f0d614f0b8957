// Filters by recurrences: transfer functions and sections in cascade. Rows are cut into blocks. Of each block one
// product of matrices makes the result from rest and the state that it leaves; states from block to block are a
// recurrence of the same kind, with fewer elements.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <ingot/signal/designs.hpp>
#include <ingot/signal/operands.hpp>

namespace ingot {
namespace signal {

/// The options of `filtfilt` and `sosfiltfilt`.
struct filtfilt_options {
    /// How the signal is continued beyond its ends.
    extension padtype = extension::odd;
    /// By how many elements; by default three times the filter's coefficients.
    std::optional<index_t> padlen = {};
};

/// The result of a filter and the state in which it ends.
template <class T>
struct filtered {
    lazy<T> y;
    lazy<T> zf;
};

}  // namespace signal

namespace detail {

INGOT_API tree_ref by_transfer_function(const char* operation, const image&, const std::vector<double>& b,
                                        const std::vector<double>& a, index_t axis);
INGOT_API std::array<tree_ref, 2> by_transfer_function_from(const char* operation, const image&,
                                                            const std::vector<double>& b, const std::vector<double>& a,
                                                            index_t axis, const image& state);
INGOT_API tree_ref by_sections(const char* operation, const image&, const signal::second_order_sections&, index_t axis);
INGOT_API std::array<tree_ref, 2> by_sections_from(const char* operation, const image&,
                                                   const signal::second_order_sections&, index_t axis,
                                                   const image& state);
INGOT_API tree_ref forth_and_back(const char* operation, const image&, const std::vector<double>& b,
                                  const std::vector<double>& a, index_t axis, const signal::filtfilt_options&);
INGOT_API tree_ref forth_and_back(const char* operation, const image&, const signal::second_order_sections&,
                                  index_t axis, const signal::filtfilt_options&);

template <class R>
signal::filtered<typename R::value_type> as_filtered(std::array<tree_ref, 2> made) {
    return {R::of(std::move(made[0])), R::of(std::move(made[1]))};
}

}  // namespace detail

namespace signal {

/// The recurrence a0 y[n] = b0 x[n] + b1 x[n - 1] + ... - a1 y[n - 1] - ... along an axis, from rest, with
/// coefficients of a list, a vector or an array; e's shape and dtype, integers in float64. Computed now, float32 in
/// float32, its states from block to block in float64. Filters of up to 8 taps alone are a correlation, which is an
/// expression. NaN and infinity take a slower way, with poles on the host. Waits for whether there is one, unless a
/// graph is recorded: then some results before it are NaN, too. Throws shape_error where there is no such axis, error
/// where there are no coefficients or a0 is 0.
///
///     std::cout << signal::lfilter({1}, {1, -0.5}, array<double>{1, 0, 0, 4});
///     // prints: [1.    0.5   0.25  4.125]
template <array_expression E>
auto lfilter(const detail::number_row& b, const detail::number_row& a, const E& e, index_t axis = -1) {
    return detail::signal_of<E>::of(detail::by_transfer_function("lfilter", e, b.values(), a.values(), axis));
}
/// `lfilter` from a state, which has one number less along the axis than the longer of b and a; also returns the state
/// at the end. Throws shape_error where the state has another shape.
///
///     const array<double> x{1, 0, 0, 4};
///     const auto [y, zf] = signal::lfilter({1}, {1, -0.5}, x(slice(0, 2)), -1, array<double>{0});
///     std::cout << y << ' ' << signal::lfilter({1}, {1, -0.5}, x(slice(2)), -1, zf).y;
///     // prints: [1.  0.5] [0.25  4.125]
template <array_expression E, array_expression Z>
auto lfilter(const detail::number_row& b, const detail::number_row& a, const E& e, index_t axis, const Z& zi) {
    return detail::as_filtered<detail::signal_of<E>>(
        detail::by_transfer_function_from("lfilter", e, b.values(), a.values(), axis, zi));
}

/// Second-order sections in cascade along an axis, from rest; e's shape and dtype, integers in float64. Computed now,
/// with NaN as by `lfilter`. Throws as `lfilter`, and where there is no section.
///
///     const array<double> x{1, 1, 1, 1, 1, 1};
///     std::cout << round(signal::sosfilt(signal::butter(2, 0.5), x), 3);
///     // prints: [0.293 0.879 1.121 1.021 0.979 0.996]
template <array_expression E>
auto sosfilt(const second_order_sections& sos, const E& e, index_t axis = -1) {
    return detail::signal_of<E>::of(detail::by_sections("sosfilt", e, sos, axis));
}
/// `sosfilt` from a state of shape (sections, ..., 2, ...), where the 2 numbers lie along the axis; also returns the
/// state at the end. Throws shape_error where the state has another shape.
///
///     const signal::second_order_sections f = signal::butter(2, 0.5);
///     const array<double> x = ones({6}), zi = asarray(signal::sosfilt_zi(f)[0], {1, 2});
///     std::cout << round(signal::sosfilt(f, x, -1, zi).y, 6);
///     // prints: [1. 1. 1. 1. 1. 1.]
template <array_expression E, array_expression Z>
auto sosfilt(const second_order_sections& sos, const E& e, index_t axis, const Z& zi) {
    return detail::as_filtered<detail::signal_of<E>>(detail::by_sections_from("sosfilt", e, sos, axis, zi));
}

/// The state of `lfilter` in which a signal of ones stays as it is but for the gain. Throws error as `lfilter`, and
/// where the transfer function has a pole at 1.
///
///     std::cout << asarray(signal::lfilter_zi({1}, {1, -0.5}));
///     // prints: [1.]
INGOT_API std::vector<double> lfilter_zi(const detail::number_row& b, const detail::number_row& a);
/// The states of `sosfilt`'s sections in which a signal of ones stays as it is but for the gain. Throws as
/// `lfilter_zi`.
///
///     std::cout << round(asarray(signal::sosfilt_zi(signal::butter(2, 0.5))[0]), 4);
///     // prints: [0.7071 0.1213]
INGOT_API std::vector<std::array<double, 2>> sosfilt_zi(const second_order_sections& sos);

/// `lfilter` forth and back, so that no frequency is delayed. The signal is continued beyond its ends, and each way
/// begins in the steady state of its first element. Throws as `lfilter`, and shape_error unless the axis is longer than
/// the extension.
///
///     const auto [b, a] = signal::butter(1, 0.4).ba();
///     std::cout << round(signal::filtfilt(b, a, array<double>{0, 0, 0, 1, 0, 0, 0}), 3);
///     // prints: [-0.     0.038  0.244  0.421  0.244  0.038 -0.   ]
template <array_expression E>
auto filtfilt(const detail::number_row& b, const detail::number_row& a, const E& e, index_t axis = -1,
              const filtfilt_options& how = {}) {
    return detail::signal_of<E>::of(detail::forth_and_back("filtfilt", e, b.values(), a.values(), axis, how));
}
/// `sosfilt` forth and back. Throws as `filtfilt`.
///
///     const array<double> x{0, 0, 0, 0, 1, 0, 0, 0, 0, 0};
///     std::cout << round(signal::sosfiltfilt(signal::butter(2, 0.4), x), 3);
///     // prints: [ 0.    -0.027  0.063  0.28   0.408  0.283  0.067 -0.032 -0.028 -0.   ]
template <array_expression E>
auto sosfiltfilt(const second_order_sections& sos, const E& e, index_t axis = -1, const filtfilt_options& how = {}) {
    return detail::signal_of<E>::of(detail::forth_and_back("sosfiltfilt", e, sos, axis, how));
}

}  // namespace signal
}  // namespace ingot
