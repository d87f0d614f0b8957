// Random orders and choices: permutations, elements drawn with and without putting them back, evenly or by weights, and
// normal vectors. Orders come of sorting random numbers, so they are library calls in expressions (sorting.hpp), whose
// numbers are the same however often they are evaluated.
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

/// n. Throws shape_error of a negative one.
INGOT_API index_t checked_population(const char* operation, index_t n);
/// How many there are to choose from: a number, or an expression's slices along its first axis. Throws shape_error of
/// a negative number, and of what has no axis.
template <class A>
index_t population(const char* operation, const A& of) {
    if constexpr (std::integral<A>) {
        return checked_population(operation, static_cast<index_t>(of));
    } else {
        const shape_like shape = shape_of_expression(of);
        return checked_population(operation, shape.count() == 0 ? -1 : shape[0]);
    }
}
/// Throws shape_error where more are wanted than there are, or there are no weights for some.
INGOT_API void check_choice(index_t of, const shape_like& shape, bool replace);
INGOT_API void check_weights(const shape_like& weights, index_t of);
INGOT_API void check_covariance(const shape_like& mean, const shape_like& covariance);

/// The numbers 0 to n - 1 in random order; of them so many as the shape has elements; that by weights.
INGOT_API lazy<std::int64_t> random_order(index_t n, random::generator&);
INGOT_API lazy<std::int64_t> drawn_apart(index_t n, const shape_like& shape, random::generator&);
INGOT_API lazy<std::int64_t> drawn_apart(index_t n, const shape_like& shape, const lazy<double>& weights,
                                         random::generator&);
/// Of the numbers 0 to n - 1, each drawn anew; that by weights.
INGOT_API lazy<std::int64_t> drawn_again(index_t n, const shape_like& shape, random::generator&);
INGOT_API lazy<std::int64_t> drawn_again(index_t n, const shape_like& shape, const lazy<double>& weights,
                                         random::generator&);
INGOT_API lazy<double> normal_vectors(const array<double>& mean, const array<double>& covariance,
                                      const shape_like& shape, random::generator&);

/// What numbers of slices stand for.
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

/// The numbers 0 to n - 1 in random order, int64; of an expression its slices along the first axis in random order.
/// Every order is as likely. An expression, on the current device. Throws shape_error where n is negative or the
/// expression has no axis.
///
///     random::seed(1);
///     array<int> cards{2, 3, 5, 7, 11};
///     std::cout << sort(random::permutation(4)) << ' ' << sum(random::permutation(cards));
///     // prints: [0 1 2 3] 28
template <detail::population_like A>
auto permutation(const A& of, generator& g = default_generator(), const source_place& here = {}) {
    const detail::in_statement of_the_user(here);
    const index_t n = detail::population("permutation", of);
    return detail::sampled(of, detail::random_order(n, g));
}

/// Puts an array's slices along the first axis in random order, every order as likely. Throws shape_error where it has
/// no axis.
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

/// Of the numbers 0 to n - 1, int64, or of an expression's slices along its first axis, so many as the shape has
/// elements, each as likely, put back or not. An expression, on the current device. Throws shape_error where n is
/// negative, there is nothing to choose from, or more are wanted than there are and none is put back.
///
///     random::seed(1);
///     array<double> v{1, 2, 4};
///     std::cout << sum(random::choice(v, {3}, false)) << ' ' << all(random::choice(6, {100}) < 6);
///     // prints: 7.0 True
template <detail::population_like A>
auto choice(const A& of, const shape_like& shape, bool replace = true, generator& g = default_generator(),
            const source_place& here = {}) {
    const detail::in_statement of_the_user(here);
    const index_t n = detail::population("choice", of);
    detail::check_choice(n, shape, replace);
    return detail::sampled(of, replace ? detail::drawn_again(n, shape, g) : detail::drawn_apart(n, shape, g));
}

/// The same by weights, one for each, not negative: with putting back each is as likely as its share of their sum;
/// without, the next is drawn by the weights of those that are left (by sorting exponential variates over the weights:
/// Efraimidis and Spirakis, Information Processing Letters 97, 2006), which waits for the weights. Throws shape_error
/// where there are not as many weights as there is to choose from, or, without putting back, fewer above 0 than are
/// wanted. Weights that are all 0, negative or NaN give anything where it is put back.
///
///     random::seed(1);
///     std::cout << random::choice(3, {4}, array<double>{0, 1, 0}) << ' '
///               << random::choice(array<int>{5, 6, 7}, {2}, array<double>{1, 0, 2}, false).shape();
///     // prints: [1 1 1 1] (2,)
template <detail::population_like A, array_expression W>
auto choice(const A& of, const shape_like& shape, const W& weights, bool replace = true,
            generator& g = default_generator(), const source_place& here = {}) {
    const detail::in_statement of_the_user(here);
    const index_t n = detail::population("choice", of);
    detail::check_choice(n, shape, replace);
    detail::check_weights(detail::shape_of_expression(weights), n);
    const lazy<double> w = astype<double>(weights);
    return detail::sampled(of, replace ? detail::drawn_again(n, shape, w, g) : detail::drawn_apart(n, shape, w, g));
}

/// Normal vectors of this mean, (n,), and covariance, (n, n), of which the lower triangle is read: the shape's axes,
/// and behind them one of n; float64. An expression, on the current device. Throws shape_error where mean and
/// covariance do not fit, linalg_error where an eigenvalue of the covariance is negative (by more than rounding).
///
///     random::seed(1);
///     auto v = random::multivariate_normal(array<double>{1, -1}, array<double>{{1, 0.5}, {0.5, 1}}, {10000});
///     std::cout << v.shape() << ' ' << all(abs(mean(v, 0) - array<double>{1, -1}) < 0.1);
///     // prints: (10000, 2) True
template <array_expression M, array_expression C>
auto multivariate_normal(const M& mean, const C& covariance, const shape_like& shape = {},
                         generator& g = default_generator(), const source_place& here = {}) {
    const detail::in_statement of_the_user(here);
    detail::check_covariance(detail::shape_of_expression(mean), detail::shape_of_expression(covariance));
    return detail::normal_vectors(array<double>(astype<double>(mean)), array<double>(astype<double>(covariance)), shape,
                                  g);
}

}  // namespace random
}  // namespace ingot
