// Random orders and choices: permutations, elements drawn with and without replacement, uniformly or by weights, and
// normal vectors. Orders are sorted random numbers, so they are library calls in expressions (sorting.hpp), which give
// the same numbers however often they are evaluated. At most half of a population without replacement are the different
// ones of draws with replacement, found at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <ingot/core/gather.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/distributions/draws.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/linalg/solvers.hpp>
#include <ingot/sorting/searching.hpp>
#include <ingot/sorting/sorts.hpp>

namespace ingot {
namespace detail {

/// Returns n. Throws shape_error where it is negative.
INGOT_API index_t checked_population(const char* operation, index_t n);
/// The size of the population: a number, or the number of an expression's slices along its first axis. Throws
/// shape_error for a negative number, and for an expression without axes.
template <class A>
index_t population(const char* operation, const A& of) {
    if constexpr (std::integral<A>) {
        return checked_population(operation, static_cast<index_t>(of));
    } else {
        const shape_like shape = shape_of_expression(of);
        return checked_population(operation, shape.count() == 0 ? -1 : shape[0]);
    }
}
/// Throws shape_error where more are drawn than there are, or weights do not fit.
INGOT_API void check_choice(index_t of, const shape_like& shape, bool replace);
INGOT_API void check_weights(const shape_like& weights, index_t of);
INGOT_API void check_covariance(const shape_like& mean, const shape_like& covariance);

/// random_order: the numbers 0 to n - 1 in random order. drawn_apart: as many of them as the shape has elements,
/// without replacement; the second one by weights.
INGOT_API lazy<std::int64_t> random_order(index_t n, random::generator&);
INGOT_API lazy<std::int64_t> drawn_apart(index_t n, const shape_like& shape, random::generator&);
INGOT_API lazy<std::int64_t> drawn_apart(index_t n, const shape_like& shape, const lazy<double>& weights,
                                         random::generator&);
/// Numbers from 0 to n - 1, drawn with replacement; the second one by weights.
INGOT_API lazy<std::int64_t> drawn_again(index_t n, const shape_like& shape, random::generator&);
INGOT_API lazy<std::int64_t> drawn_again(index_t n, const shape_like& shape, const lazy<double>& weights,
                                         random::generator&);
INGOT_API lazy<double> normal_vectors(const array<double>& mean, const array<double>& covariance,
                                      const shape_like& shape, random::generator&);

/// The slices with these numbers, or the numbers themselves.
template <class A>
auto sampled(const A& of, const lazy<std::int64_t>& numbers) {
    if constexpr (std::integral<A>)
        return numbers;
    else
        return lazy<typename A::value_type>(take(of, numbers, 0));
}

template <class A>
concept population_like = (std::integral<A> && !std::same_as<A, bool>) || array_expression<A>;

}  // namespace detail

namespace random {

/// The numbers 0 to n - 1 in random order, int64; for an expression its slices along the first axis in random order.
/// Every order has the same probability. The result is an expression on the current device. Throws shape_error where n
/// is negative or the expression has no axis.
///
///     random::seed(1);
///     array<int> cards{2, 3, 5, 7, 11};
///     std::cout << sort(random::permutation(4)) << ' ' << sum(random::permutation(cards));
///     // prints: [0 1 2 3] 28
template <detail::population_like A>
auto permutation(const A& of, generator& g = default_generator(), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const index_t n = detail::population("permutation", of);
    return detail::sampled(of, detail::random_order(n, g));
}

/// Puts an array's slices along the first axis in random order; every order has the same probability. Throws
/// shape_error where it has no axis.
///
///     random::seed(1);
///     array<int> cards{2, 3, 5, 7, 11};
///     random::shuffle(cards);
///     std::cout << sort(cards);
///     // prints: [ 2  3  5  7 11]
template <class T>
void shuffle(array<T>& x, generator& g = default_generator()) {
    const array<T> shuffled = permutation(x, g);
    assign(x, shuffled);
}

/// Draws from the numbers 0 to n - 1, int64, or from an expression's slices along its first axis, as many as the shape
/// has elements, uniformly, with or without replacement. The result is an expression on the current device. Throws
/// shape_error where n is negative, there is nothing to choose from, or more are drawn than there are without
/// replacement.
///
///     random::seed(1);
///     array<double> v{1, 2, 4};
///     std::cout << sum(random::choice(v, {3}, false)) << ' ' << all(random::choice(6, {100}) < 6);
///     // prints: 7.0 True
template <detail::population_like A>
auto choice(const A& of, const shape_like& shape, bool replace = true, generator& g = default_generator(),
            const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const index_t n = detail::population("choice", of);
    detail::check_choice(n, shape, replace);
    return detail::sampled(of, replace ? detail::drawn_again(n, shape, g) : detail::drawn_apart(n, shape, g));
}

/// choice by weights, one for each number or slice, not negative. With replacement each is as likely as its share of
/// their sum. Without, the next is drawn by the weights of the remaining ones (by sorting exponential variates over the
/// weights: Efraimidis and Spirakis, Information Processing Letters 97, 2006), which waits for the weights. Throws
/// shape_error where the number of weights differs, or, without replacement, fewer are above 0 than are drawn. With
/// replacement, weights that are all 0, negative or NaN give arbitrary numbers.
///
///     random::seed(1);
///     std::cout << random::choice(3, {4}, array<double>{0, 1, 0}) << ' '
///               << random::choice(array<int>{5, 6, 7}, {2}, array<double>{1, 0, 2}, false).shape();
///     // prints: [1 1 1 1] (2,)
template <detail::population_like A, array_expression W>
auto choice(const A& of, const shape_like& shape, const W& weights, bool replace = true,
            generator& g = default_generator(), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const index_t n = detail::population("choice", of);
    detail::check_choice(n, shape, replace);
    detail::check_weights(detail::shape_of_expression(weights), n);
    const lazy<double> w = astype<double>(weights);
    return detail::sampled(of, replace ? detail::drawn_again(n, shape, w, g) : detail::drawn_apart(n, shape, w, g));
}

/// Normal vectors with this mean, (n,), and covariance, (n, n), whose lower triangle is read: float64, with the shape's
/// axes and behind them one of n. The result is an expression on the current device. Throws shape_error where mean and
/// covariance do not fit, linalg_error where an eigenvalue of the covariance is negative (by more than rounding).
///
///     random::seed(1);
///     auto v = random::multivariate_normal(array<double>{1, -1}, array<double>{{1, 0.5}, {0.5, 1}}, {10000});
///     std::cout << v.shape() << ' ' << all(abs(mean(v, 0) - array<double>{1, -1}) < 0.1);
///     // prints: (10000, 2) True
template <array_expression M, array_expression C>
auto multivariate_normal(const M& mean, const C& covariance, const shape_like& shape = {},
                         generator& g = default_generator(), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    detail::check_covariance(detail::shape_of_expression(mean), detail::shape_of_expression(covariance));
    return detail::normal_vectors(array<double>(astype<double>(mean)), array<double>(astype<double>(covariance)), shape,
                                  g);
}

}  // namespace random
}  // namespace ingot
