// Initial value problems y' = f(t, y). A function f gives the derivative as an expression of the time, a number or an
// expression, and of the state, an expression of y0's shape.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/complex_parts.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/solvers/loops.hpp>

namespace ingot {
namespace integrate {

/// The options of `rk45`, with the defaults of SciPy's solve_ivp.
struct ode_options {
    /// The error of a step is to be at most `atol` plus this share of the state.
    double rtol = 1e-3;
    /// The error of a step that is allowed where the state is 0.
    double atol = 1e-6;
    /// The longest step.
    double max_step = std::numeric_limits<double>::infinity();
    /// The first step; 0: one is chosen.
    double first_step = 0;
    /// Whether each element along the last axis of the state is a system of its own with steps of its own, whose
    /// components lie along the other axes. The time that f takes has then an element for each.
    bool ensemble = false;
    /// Steps at most, with those that are repeated.
    index_t maxiter = 1000000;
};

/// The reason why an integration ended.
enum class ending : std::uint8_t {
    reached,         ///< the end of the interval
    steps_spent,     ///< after `ode_options::maxiter` steps
    step_too_small,  ///< the required step is smaller than the distance of times near to it
};

/// The state that `rk45` found.
template <class T>
struct ode_solution {
    /// The state at the end.
    array<T> y;
    /// The time of that state; of an ensemble that of each system.
    array<double> t;
    /// Steps, with those that were repeated.
    index_t steps = 0;
    /// Evaluations of f.
    index_t evaluations = 0;
    /// Why it ended.
    ending reason = ending::reached;
};

}  // namespace integrate

namespace detail {

/// Integers are integrated in float64, halves in float32.
template <class Y>
using state_of = std::conditional_t<half_float<unknown_of<Y>>, float, unknown_of<Y>>;

/// The pair of orders 5 and 4 by Dormand and Prince (1980), as SciPy's RK45 has it.
struct dormand_prince {
    static constexpr double times[] = {0, 1 / 5., 3 / 10., 4 / 5., 8 / 9., 1, 1};
    static constexpr double stages[7][6] = {
        {},
        {1 / 5.},
        {3 / 40., 9 / 40.},
        {44 / 45., -56 / 15., 32 / 9.},
        {19372 / 6561., -25360 / 2187., 64448 / 6561., -212 / 729.},
        {9017 / 3168., -355 / 33., 46732 / 5247., 49 / 176., -5103 / 18656.},
        {35 / 384., 0, 500 / 1113., 125 / 192., -2187 / 6784., 11 / 84.},
    };
    static constexpr double error[] = {-71 / 57600., 0, 71 / 16695., -71 / 1920., 17253 / 339200., -22 / 525., 1 / 40.};
};

/// The root mean square of a state's elements: of all, or along all axes but the last one, which stay.
template <class E>
auto rms(const E& e, bool ensemble) {
    const auto squared = [&] {
        if constexpr (kind_of(E::type) == kind::complex)
            return lazy(real(e) * real(e) + imag(e) * imag(e));
        else
            return lazy(e * e);
    }();
    using R = typename decltype(squared)::value_type;
    if (!ensemble) return lazy<double>(astype<double>(lazy<R>(sqrt(mean(squared)))));
    std::vector<index_t> others;
    for (int j = 0; j + 1 < e.ndim(); ++j) others.push_back(j);
    return lazy<double>(
        astype<double>(others.empty() ? lazy<R>(sqrt(squared)) : lazy<R>(sqrt(mean(squared, axes(others), keepdims)))));
}

/// A state, its derivative, and for the whole or each member of an ensemble the time and the step.
template <class T, class F>
class adaptive_steps {
public:
    using R = norm_type<T>;

    adaptive_steps(const F& f, double t0, double t1, const array<T>& y0, const integrate::ode_options& o)
        : f_(f), options_(o), start_(t0), end_(t1), sign_(t1 < t0 ? -1 : 1), y_(own_copy<T>(y0)) {
        check_options();
        shape_like members;
        if (o.ensemble) {
            if (y_.ndim() == 0) throw shape_error("[rk45] an ensemble of shape (); a last axis of systems is wanted");
            std::vector<index_t> extents(static_cast<std::size_t>(y_.ndim()), 1);
            extents.back() = y_.shape()[y_.ndim() - 1];
            members = shape_like(extents);
        }
        t_ = full<double>(members, t0);
        rejected_ = zeros<bool>(members), failed_ = zeros<bool>(members);
        least_ = zeros<double>(members), until_ = zeros<double>(members), taken_ = zeros<double>(members),
        norm_ = zeros<double>(members);
        new_y_ = zeros<T>(y_.shape());
        for (array<T>& k : k_) k = zeros<T>(y_.shape());
        assign(k_[0], derivative(lazy<double>(t_), lazy<T>(y_)));
        h_ = own_copy<double>(first_step());
    }

    integrate::ode_solution<T> run() {
        if (y_.size() == 0)
            t_ = full<double>(t_.shape(), end_);
        else
            repeat_on_device([&] { return any(sign_ * (end_ - t_) > 0 && !failed_) && turns_ < options_.maxiter; },
                             [&] { step(); });
        const index_t steps = turns_.item();
        const bool failed = any(failed_).item(), left = any(sign_ * (end_ - t_) > 0).item();
        const integrate::ending why = failed ? integrate::ending::step_too_small
                                      : left ? integrate::ending::steps_spent
                                             : integrate::ending::reached;
        if (options_.ensemble) t_ = array<double>(ravel(t_));
        return {std::move(y_), std::move(t_), steps, (options_.first_step > 0 ? 1 : 2) + 6 * steps, why};
    }

private:
    void check_options() const {
        const double whole = std::abs(end_ - start_);
        const auto check = [](bool fits, const char* name, double given, const char* wanted) {
            if (fits) return;
            char text[32];
            std::snprintf(text, sizeof text, "%g", given);
            throw error("[rk45] " + std::string(name) + " " + text + "; " + wanted + " is wanted");
        };
        check(std::isfinite(start_), "t0", start_, "a finite time");
        check(std::isfinite(end_), "t1", end_, "a finite time");
        check(options_.rtol >= 0, "rtol", options_.rtol, "a number of 0 at least");
        check(options_.atol >= 0, "atol", options_.atol, "a number of 0 at least");
        check(options_.max_step > 0, "max_step", options_.max_step, "a positive number");
        check(options_.first_step >= 0 && options_.first_step <= whole, "first_step", options_.first_step,
              "a positive number, at most the interval's length,");
    }
    lazy<T> derivative(const lazy<double>& t, const lazy<T>& y) const {
        const lazy<T> d(astype<T>(f_(lazy<R>(astype<R>(t)), y)));
        if (!(d.shape() == y_.shape()))
            throw shape_error("[rk45] a derivative of shape " + to_text(shape_like(d.shape()).values()) +
                              " for a state of shape " + to_text(y_.shape().values()) + "; that one is wanted");
        return d;
    }
    lazy<R> in_state(const lazy<double>& e) const { return lazy<R>(astype<R>(e)); }

    /// The rule of Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.4.
    lazy<double> first_step() const {
        const double whole = std::abs(end_ - start_);
        if (options_.first_step > 0) return lazy<double>(full<double>(t_.shape(), options_.first_step));
        const lazy<R> scale(static_cast<R>(options_.atol) + abs(y_) * static_cast<R>(options_.rtol));
        const auto norm = [&](const auto& e) { return rms(e, options_.ensemble).kept(); };
        const lazy<double> d0 = norm(y_ / scale), d1 = norm(k_[0] / scale);
        lazy<double> h0 = where(d0 < 1e-5 || d1 < 1e-5, 1e-6, d0 / d1 * 0.01);
        h0 = lazy<double>(minimum(h0, whole)).kept();
        const lazy<T> y1 = y_ + in_state(sign_ * h0) * k_[0];
        const lazy<double> d2 = norm(lazy<T>((derivative(lazy<double>(t_ + sign_ * h0), y1) - k_[0]) / scale)) / h0;
        const lazy<double> h1 =
            where(d1 <= 1e-15 && d2 <= 1e-15, maximum(h0 * 1e-3, 1e-6), power(0.01 / maximum(d1, d2), 1 / 5.));
        return minimum(minimum(h0 * 100, h1), std::min(whole, options_.max_step));
    }

    /// State is written by statements that alone hold what they read of it: nothing else may share its memory.
    void step() {
        using D = dormand_prince;
        const auto least = [&] {
            return abs(nextafter(t_, sign_ * std::numeric_limits<double>::infinity()) - t_) * 10;
        };
        const auto next = [&] {
            return t_ + sign_ * where(rejected_, h_, minimum(maximum(h_, least()), options_.max_step));
        };
        // The step ends at the end of the interval.
        const auto until = [&] { return where(sign_ * (next() - end_) > 0, end_, next()); };
        assign(std::forward_as_tuple(least_, until_, taken_), least(), until(), until() - t_);
        const auto sum_of = [&](const double* weights, std::size_t count) {
            lazy<T> s = k_[0] * static_cast<R>(weights[0]);
            for (std::size_t i = 1; i < count; ++i)
                if (weights[i] != 0) s = s + k_[i] * static_cast<R>(weights[i]);
            return s;
        };
        for (std::size_t i = 1; i < 6; ++i)
            assign(k_[i], derivative(lazy<double>(t_ + taken_ * D::times[i]),
                                     y_ + astype<R>(taken_) * sum_of(D::stages[i], i)));
        assign(new_y_, y_ + astype<R>(taken_) * sum_of(D::stages[6], 6));
        assign(k_[6], derivative(lazy<double>(until_), lazy<T>(new_y_)));
        const auto scale = [&] {
            return static_cast<R>(options_.atol) + maximum(abs(y_), abs(new_y_)) * static_cast<R>(options_.rtol);
        };
        assign(norm_, rms(lazy<T>(sum_of(D::error, 7) * astype<R>(taken_) / scale()), options_.ensemble));
        assign(std::forward_as_tuple(y_, k_[0]), where(norm_ < 1, new_y_, y_), where(norm_ < 1, k_[6], k_[0]));
        const auto grown = [&] { return power(norm_, -1 / 5.) * 0.9; };
        const auto greater = [&] { return where(norm_ == 0, 10.0, minimum(grown(), 10.0)); };
        // A system that is at its end stays there.
        const auto longer = [&] {
            return where(sign_ * (end_ - t_) > 0,
                         abs(taken_) *
                             where(norm_ < 1, where(rejected_, minimum(greater(), 1.0), greater()), fmax(grown(), 0.2)),
                         h_);
        };
        // A step that is NaN is none.
        assign(std::forward_as_tuple(t_, h_, rejected_, failed_), where(norm_ < 1, until_, t_), longer(), !(norm_ < 1),
               !(norm_ < 1) && !(longer() >= least_));
        turns_ += index_t{1};
    }

    const F& f_;
    integrate::ode_options options_;
    double start_, end_, sign_;
    array<T> y_;
    array<double> t_;
    array<bool> rejected_, failed_;
    std::array<array<T>, 7> k_;
    array<double> h_;
    array<double> least_, until_, taken_, norm_;
    array<T> new_y_;
    array<index_t> turns_ = zeros<index_t>(shape_like{});
};

}  // namespace detail

namespace integrate {

/// The state at time t1 of y' = f(t, y) with y(t0) = y0, after `steps` equal steps of the classical method of order 4:
/// an array. f takes a number and an expression. The host waits for nothing. Integers are float64, halves float32.
/// Throws shape_error where the number of steps is not positive or the derivative has another shape than y0.
///
///     const auto end = integrate::rk4([](double, const auto& y) { return -y; }, 0, 1, array<double>{1, 2}, 20);
///     std::cout << round(end, 6);
///     // prints: [0.367879 0.735759]
template <class F, array_expression Y>
array<detail::state_of<Y>> rk4(const F& f, double t0, double t1, const Y& y0, index_t steps) {
    using T = detail::state_of<Y>;
    using R = detail::norm_type<T>;
    if (steps <= 0) throw shape_error("[rk4] " + std::to_string(steps) + " steps; a positive number is wanted");
    const with_device there(y0.device());
    array<T> y = detail::own_copy<T>(array<T>(astype<T>(y0)));
    const double h = (t1 - t0) / static_cast<double>(steps);
    const auto slope = [&](double t, const lazy<T>& at) {
        array<T> k(astype<T>(f(t, at)));
        if (!(k.shape() == y.shape()))
            throw shape_error("[rk4] a derivative of shape " + detail::to_text(k.shape().values()) +
                              " for a state of shape " + detail::to_text(y.shape().values()) + "; that one is wanted");
        return k;
    };
    for (index_t i = 0; i < steps; ++i) {
        const double t = t0 + h * static_cast<double>(i);
        const array<T> k1 = slope(t, lazy<T>(y)), k2 = slope(t + h / 2, y + static_cast<R>(h / 2) * k1),
                       k3 = slope(t + h / 2, y + static_cast<R>(h / 2) * k2),
                       k4 = slope(t + h, y + static_cast<R>(h) * k3);
        y = y + (k1 + static_cast<R>(2) * (k2 + k3) + k4) * static_cast<R>(h / 6);
    }
    return y;
}

/// Integrates y' = f(t, y) from t0 with y(t0) = y0 to t1 by the pair of Dormand and Prince with steps as long as the
/// tolerances allow, as SciPy's solve_ivp. f takes expressions: the time, without axes, and the state. On a GPU all
/// steps are one launch that ends by itself, where the work of f can be recorded; elsewhere the host reads a number in
/// each step. float32 and halves are integrated in float32, their times are float64. A state that is not finite ends
/// its system by `step_too_small`. Throws shape_error where the derivative has another shape than y0, error where a
/// time or an option is out of its range.
///
///     const auto s = integrate::rk45([](const auto&, const auto& y) { return -y; }, 0, 1, array<double>{1, 2},
///                                    {.rtol = 1e-8, .atol = 1e-10});
///     std::cout << round(s.y, 6) << ' ' << s.t << ' ' << (s.reason == integrate::ending::reached) << '\n';
///     const auto each = integrate::rk45([](const auto& t, const auto& y) { return t * y; }, 0, 1,
///                                       array<double>{1, 2, 4}, {.rtol = 1e-6, .ensemble = true});
///     std::cout << round(each.y, 4);
///     // prints: [0.367879 0.735759] 1.0 1
///     //         [1.6487 3.2974 6.5949]
template <class F, array_expression Y>
ode_solution<detail::state_of<Y>> rk45(const F& f, double t0, double t1, const Y& y0, const ode_options& options = {}) {
    using T = detail::state_of<Y>;
    const with_device there(y0.device());
    return detail::adaptive_steps<T, F>(f, t0, t1, array<T>(astype<T>(y0)), options).run();
}

}  // namespace integrate
}  // namespace ingot
