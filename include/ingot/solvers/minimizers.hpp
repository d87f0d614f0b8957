// Minimisers of a function whose gradient is given. The vectors stay on the device. The host reads the value and the
// slope of each trial, and of L-BFGS the inner products of the vectors that it remembers.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/linalg/solvers.hpp>
#include <ingot/solvers/krylov.hpp>

namespace ingot {
namespace optimize {

/// The options of `lbfgs` and `newton`, with the defaults of SciPy's L-BFGS-B.
struct minimizer_options {
    /// Iterations at most.
    index_t maxiter = 15000;
    /// The greatest magnitude of a gradient's element at which the iteration ends.
    double gtol = 1e-5;
    /// The decrease of the value in an iteration, relative to the value or to 1, at which it ends.
    double ftol = 2.2204460492503131e-09;
    /// The number of steps that lbfgs remembers.
    index_t maxcor = 10;
    /// Trials of a step's length at most.
    index_t maxls = 20;
};

/// The reason why a minimiser ended.
enum class ending : std::uint8_t {
    gradient_small,      ///< as `gtol` asks
    value_settled,       ///< the last step lowered the value by no more than `ftol` allows
    iterations_spent,    ///< as many as `maxiter`
    line_search_failed,  ///< no step along the direction lowers the value enough
};

/// The result of a minimiser.
template <class T>
struct minimum_found {
    /// The place of the least value that was found.
    array<T> x;
    /// The value there.
    double fun = 0;
    /// The greatest magnitude of the gradient's elements there.
    double gradient = 0;
    /// The number of steps.
    index_t iterations = 0;
    /// The number of evaluations of the function and its gradient.
    index_t evaluations = 0;
    /// Why it ended.
    ending reason = ending::gradient_small;
};

}  // namespace optimize

namespace detail {

/// A place along a direction, with the function's value, its slope along the direction, and the gradient's greatest
/// magnitude.
template <class T>
struct trial {
    array<T> x, gradient;
    double value = 0, slope = 0, size = 0;
};

/// A function that gives a tuple of value and gradient, at vectors of the shape that the user's place has.
template <class T, class F>
class objective {
public:
    objective(const char* operation, const F& f, shape_like shape, const array<T>& start)
        : operation_(operation), f_(f), shape_(std::move(shape)), size_(start.size()) {}

    array<T> shaped(const array<T>& x) const { return array<T>(reshape(x, shape_)); }
    index_t evaluations() const { return evaluations_; }
    trial<T> at(array<T> x, const array<T>* direction) {
        ++evaluations_;
        trial<T> t;
        auto made = f_(shaped(x));
        const auto [value, gradient] = eval(std::get<0>(made), std::get<1>(made));
        if (gradient.size() != size_ || value.size() != 1)
            throw shape_error("[" + std::string(operation_) + "] a value of shape " + to_text(value.shape().values()) +
                              " and a gradient of shape " + to_text(gradient.shape().values()) +
                              "; one number, and the shape of the place, are wanted");
        t.gradient = array<T>(reshape(gradient, {size_}));
        t.x = std::move(x);
        if (direction != nullptr) {
            const auto [slope, size] = eval(sum(t.gradient * *direction), max(abs(t.gradient)));
            t.slope = static_cast<double>(slope.item()), t.size = static_cast<double>(size.item());
        } else if (size_ > 0) {
            t.size = static_cast<double>(max(abs(t.gradient)).item());
        }
        t.value = static_cast<double>(value.item());
        return t;
    }

private:
    const char* operation_;
    const F& f_;
    shape_like shape_;
    index_t size_, evaluations_ = 0;
};

/// A step along a direction that lowers the value and flattens the slope enough (the strong conditions of Wolfe, as in
/// Nocedal and Wright, Numerical Optimization, 3.5), or else one that lowers it; none where there is no such step.
/// `at` makes a trial of a length.
template <class T, class At>
std::optional<trial<T>> step_along(const At& at, double value, double slope, double first, index_t most) {
    struct point {
        double length, value, slope;
    };
    point low{0, value, slope};
    std::optional<point> high;
    std::optional<trial<T>> best;
    double length = first;
    for (index_t turn = 0; turn < most; ++turn) {
        trial<T> t = at(length);
        const point here{length, t.value, t.slope};
        if (!(here.value <= value + 1e-4 * length * slope && here.value <= low.value)) {
            high = here;
        } else {
            if (std::abs(here.slope) <= -0.9 * slope) return t;
            // The least value along the interval lies towards the side to which the function falls.
            if (high ? here.slope * (high->length - low.length) >= 0 : here.slope >= 0) high = low;
            low = here;
            best = std::move(t);
        }
        if (!high) {
            length *= 2;
            continue;
        }
        const double width = high->length - low.length;
        const double bend = high->value - low.value - low.slope * width;
        const double share = -low.slope * width / (2 * bend);
        length = low.length + width * (std::isfinite(share) && bend > 0 ? std::clamp(share, 0.1, 0.9) : 0.5);
    }
    return best;
}

/// Takes steps in the directions that `next` makes of a trial and the one before it, until an end.
template <class T, class F, class Next>
optimize::minimum_found<T> descend(objective<T, F>& f, const array<T>& start, const optimize::minimizer_options& o,
                                   Next&& next) {
    using optimize::ending;
    trial<T> now = f.at(start, nullptr);
    index_t turns = 0;
    ending why = ending::gradient_small;
    while (!(now.size <= o.gtol)) {
        if (turns >= o.maxiter) {
            why = ending::iterations_spent;
            break;
        }
        // A direction, its slope, and the length to try first.
        const auto [direction, slope, first] = next(now);
        const array<T> along = direction;
        std::optional<trial<T>> t;
        if (slope < 0)
            t = step_along<T>(
                [&](double length) { return f.at(array<T>(now.x + static_cast<T>(length) * along), &along); },
                now.value, slope, first, o.maxls);
        if (!t) {
            why = ending::line_search_failed;
            break;
        }
        const double before = now.value;
        now = std::move(*t);
        ++turns;
        if (before - now.value <= o.ftol * std::max({std::abs(before), std::abs(now.value), 1.0}) &&
            !(now.size <= o.gtol)) {
            why = ending::value_settled;
            break;
        }
    }
    return {f.shaped(now.x), now.value, now.size, turns, f.evaluations(), why};
}

/// The steps and the changes of the gradient that L-BFGS remembers, and their inner products on the host.
template <class T>
class step_memory {
public:
    step_memory(index_t places, index_t size)
        : places_(static_cast<std::size_t>(std::max<index_t>(places, 1))),
          vectors_(zeros<T>({2 * static_cast<index_t>(places_), size})),
          products_(4 * places_ * places_),
          with_gradient_(2 * places_) {}

    /// A step and the change of the gradient along it, and the new gradient.
    void remember(const array<T>& step, const array<T>& change, const array<T>& gradient) {
        const std::size_t at = count_ % places_;
        vectors_(static_cast<index_t>(at)) = step;
        vectors_(static_cast<index_t>(at + places_)) = change;
        const auto [a, b, c] = eval(sum(vectors_ * step, 1), sum(vectors_ * change, 1), sum(vectors_ * gradient, 1));
        const std::vector<T> of_step = a.to_host(), of_change = b.to_host(), of_gradient = c.to_host();
        for (std::size_t i = 0; i < 2 * places_; ++i) {
            product(i, at) = product(at, i) = static_cast<double>(of_step[i]);
            product(i, at + places_) = product(at + places_, i) = static_cast<double>(of_change[i]);
            with_gradient_[i] = static_cast<double>(of_gradient[i]);
        }
        // A step along which the function does not curve upwards is not one of a minimum: the next one takes its place.
        if (product(at, at + places_) > 1e-10 * product(at + places_, at + places_)) ++count_;
    }

    /// The two loops of L-BFGS (Nocedal, 1980) over the coefficients of the vectors; and of the gradient.
    std::pair<std::vector<T>, double> direction() const {
        std::vector<double> d(2 * places_), alpha(places_);
        double of_gradient = -1;
        const std::size_t oldest = count_ > places_ ? count_ - places_ : 0;
        const auto with = [&](std::size_t vector) {
            double s = of_gradient * with_gradient_[vector];
            for (std::size_t i = 0; i < d.size(); ++i) s += d[i] * product(i, vector);
            return s;
        };
        for (std::size_t k = count_; k-- > oldest;) {
            const std::size_t at = k % places_;
            alpha[at] = with(at) / product(at, at + places_);
            d[at + places_] -= alpha[at];
        }
        if (count_ > 0) {
            const std::size_t at = (count_ - 1) % places_;
            const double scale = product(at, at + places_) / product(at + places_, at + places_);
            for (double& v : d) v *= scale;
            of_gradient *= scale;
        }
        for (std::size_t k = oldest; k < count_; ++k) {
            const std::size_t at = k % places_;
            d[at] += alpha[at] - with(at + places_) / product(at, at + places_);
        }
        std::vector<T> coefficients;
        for (const double v : d) coefficients.push_back(static_cast<T>(v));
        return {coefficients, of_gradient};
    }
    /// The slope of such a direction.
    double slope(const std::vector<T>& d, double of_gradient, double gradient_squared) const {
        double s = of_gradient * gradient_squared;
        for (std::size_t i = 0; i < d.size(); ++i) s += static_cast<double>(d[i]) * with_gradient_[i];
        return s;
    }
    const array<T>& vectors() const { return vectors_; }
    bool is_empty() const { return count_ == 0; }
    void forget() { count_ = 0; }

private:
    double& product(std::size_t a, std::size_t b) { return products_[a * 2 * places_ + b]; }
    double product(std::size_t a, std::size_t b) const { return products_[a * 2 * places_ + b]; }

    std::size_t places_, count_ = 0;
    array<T> vectors_;
    std::vector<double> products_, with_gradient_;
};

template <class F, class T>
concept joint_objective = requires(const F& f, const array<T>& x) {
    std::get<0>(f(x));
    std::get<1>(f(x));
};

}  // namespace detail

namespace optimize {

/// Minimises a function of real variables by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno. `fun`
/// takes an array of x0's shape and gives an expression of one number, `jac` one of the gradient, of x0's shape;
/// without `jac`, `fun` gives a tuple of both, which are then evaluated together. Steps satisfy the strong conditions
/// of Wolfe. Integers are minimised in float64. The host waits twice in an iteration. Throws shape_error where the
/// value is not one number or the gradient has another number of elements.
///
///     const auto fun = [](const auto& x) { return sum(square(x - 3)); };
///     const auto jac = [](const auto& x) { return 2 * (x - 3); };
///     const auto found = optimize::lbfgs(fun, jac, array<double>{0, 10});
///     std::cout << round(found.x, 6) << ' ' << found.iterations << ' '
///               << (found.reason == optimize::ending::gradient_small);
///     // prints: [3. 3.] 2 1
template <class F, array_expression X>
    requires detail::joint_objective<F, detail::unknown_of<X>>
minimum_found<detail::unknown_of<X>> lbfgs(const F& fun, const X& x0, const minimizer_options& options = {}) {
    using T = detail::unknown_of<X>;
    const with_device there(x0.device());
    const array<T> start = detail::own_copy<T>(ravel(x0));
    const index_t n = start.size();
    detail::objective<T, F> f("lbfgs", fun, shape_like(x0.shape()), start);
    detail::step_memory<T> memory(options.maxcor, n);
    std::optional<std::pair<array<T>, array<T>>> last;  // the place and the gradient before
    const auto next = [&](const detail::trial<T>& now) {
        const double squared = static_cast<double>(detail::squared_norm(now.gradient).item());
        if (last) memory.remember(array<T>(now.x - last->first), array<T>(now.gradient - last->second), now.gradient);
        last = {now.x, now.gradient};
        if (!memory.is_empty()) {
            const auto [d, of_gradient] = memory.direction();
            const double slope = memory.slope(d, of_gradient, squared);
            if (slope < 0) {
                const array<T> weights = asarray(d).to(now.x.device());
                return std::tuple{array<T>(sum(memory.vectors() * weights(all, newaxis), 0) +
                                           static_cast<T>(of_gradient) * now.gradient),
                                  slope, 1.0};
            }
            memory.forget();
        }
        return std::tuple{array<T>(-now.gradient), -squared, std::min(1.0, 1 / std::sqrt(squared))};
    };
    return detail::descend<T>(f, start, options, next);
}
template <class F, class J, array_expression X>
minimum_found<detail::unknown_of<X>> lbfgs(const F& fun, const J& jac, const X& x0,
                                           const minimizer_options& options = {}) {
    using T = detail::unknown_of<X>;
    return lbfgs([&](const array<T>& x) { return std::tuple(fun(x), jac(x)); }, x0, options);
}

/// Minimises a function of real variables by the method of Newton. `fun` and `jac` are those of `lbfgs`. `hess` takes a
/// place and gives the matrix of second derivatives, n by n for n variables; or it takes a place and a direction, of
/// x0's shape, and gives the product of that matrix with the direction: the step is then found by conjugate gradients.
/// Where such a step does not descend, the gradient's direction is taken. Throws as `lbfgs`, shape_error where second
/// derivatives have another shape, and what `linalg::solve` throws for a singular matrix.
///
///     const auto fun = [](const auto& x) { return sum(cosh(x - 1)); };
///     const auto jac = [](const auto& x) { return sinh(x - 1); };
///     const auto hess = [](const auto& x, const auto& p) { return cosh(x - 1) * p; };
///     const auto found = optimize::newton(fun, jac, hess, array<double>{0, 2.5}, {.gtol = 1e-9});
///     std::cout << found.x << ' ' << found.fun << ' ' << (found.iterations < 8);
///     // prints: [1. 1.] 2 1
template <class F, class J, class H, array_expression X>
minimum_found<detail::unknown_of<X>> newton(const F& fun, const J& jac, const H& hess, const X& x0,
                                            const minimizer_options& options = {}) {
    using T = detail::unknown_of<X>;
    const with_device there(x0.device());
    const array<T> start = detail::own_copy<T>(ravel(x0));
    const index_t n = start.size();
    const auto joint = [&](const array<T>& x) { return std::tuple(fun(x), jac(x)); };
    detail::objective f("newton", joint, shape_like(x0.shape()), start);
    const auto of_shape = [](const array<T>& derivatives, const shape_like& wanted) {
        if (derivatives.shape() != wanted)
            throw shape_error("[newton] second derivatives of shape " + detail::to_text(derivatives.shape().values()) +
                              "; " + detail::to_text(wanted.values()) + " is wanted");
        return derivatives;
    };
    const auto next = [&](const detail::trial<T>& now) {
        const array<T> x = f.shaped(now.x), against = -now.gradient;
        array<T> step;
        if constexpr (std::invocable<const H&, const array<T>&, const array<T>&>) {
            const auto product = [&](const array<T>& p) {
                return of_shape(array<T>(ravel(array<T>(hess(x, f.shaped(p))))), {n});
            };
            // Fewer inner iterations far from the minimum (Nocedal and Wright, 7.1).
            const double norm = std::sqrt(static_cast<double>(detail::squared_norm(now.gradient).item()));
            step = linalg::cg(product, against, {.rtol = std::min(0.5, std::sqrt(norm)), .maxiter = 20 * n}).x;
        } else {
            step = linalg::solve(of_shape(array<T>(hess(x)), {n, n}), against);
        }
        const auto [slope, squared] = eval(sum(step * now.gradient), sum(now.gradient * now.gradient));
        const double s = static_cast<double>(slope.item()), g = static_cast<double>(squared.item());
        return s < 0 ? std::tuple{step, s, 1.0} : std::tuple{against, -g, std::min(1.0, 1 / std::sqrt(g))};
    };
    return detail::descend<T>(f, start, options, next);
}

}  // namespace optimize
}  // namespace ingot
