// Distributions composed of others, and draws from categories. They compute in float64, as lazy expressions (lazy.hpp)
// whose bodies are in the library. Calls are those of distributions.hpp: a parameter is a number or an expression that
// broadcasts to the shape; a number outside the distribution's domain throws dtype_error, an expression's values are
// not checked; the generator is last, by default the default one. Distributions by rejection, or composed of such, are
// texts, which the interpreter does not take.
#pragma once

#include <cstdint>
#include <vector>

#include <ingot/core/lazy.hpp>
#include <ingot/distributions/draws.hpp>

namespace ingot {
namespace detail {

/// A parameter of a distribution computed in the library.
template <class A>
lazy<double> lazy_parameter(const draw<double>& d, const char* name, const A& given, domain wanted = domain::finite) {
    if constexpr (array_expression<A>)
        return d.parameter(name, given, wanted);
    else
        return scalar(d.parameter(name, given, wanted));
}

INGOT_API lazy<double> standard_t_numbers(const draw<double>&, const lazy<double>& df);
INGOT_API lazy<double> f_numbers(const draw<double>&, const lazy<double>& dfnum, const lazy<double>& dfden);
INGOT_API lazy<double> noncentral_chisquare_numbers(const draw<double>&, const lazy<double>& df,
                                                    const lazy<double>& nonc);
INGOT_API lazy<double> wald_numbers(const draw<double>&, const lazy<double>& mean, const lazy<double>& scale);
INGOT_API lazy<double> vonmises_numbers(const draw<double>&, const lazy<double>& mu, const lazy<double>& kappa);
INGOT_API lazy<double> truncated_normal_numbers(const draw<double>&, const lazy<double>& lower,
                                                const lazy<double>& upper);
INGOT_API lazy<double> negative_binomial_numbers(const draw<double>&, const lazy<double>& n, const lazy<double>& p);
INGOT_API lazy<double> hypergeometric_numbers(const draw<double>&, const lazy<double>& ngood, const lazy<double>& nbad,
                                              const lazy<double>& nsample);
INGOT_API lazy<double> zipf_numbers(const draw<double>&, const lazy<double>& a);
INGOT_API lazy<double> logseries_numbers(const draw<double>&, const lazy<double>& p);
/// Throws shape_error where parameters have no last axis, or the batch before it does not broadcast to the shape.
INGOT_API lazy<double> dirichlet_numbers(const lazy<double>& alpha, const shape_like&, random::generator&);
INGOT_API array<std::int64_t> multinomial_counts(const lazy<double>& n, const lazy<double>& pvals, const shape_like&,
                                                 random::generator&);
/// A null shape means the logits' shape without their last axis.
INGOT_API lazy<std::int64_t> categories(const lazy<double>& logits, const shape_like*, random::generator&);
/// Throws dtype_error where more is drawn than exists.
INGOT_API void check_sample_size(double ngood, double nbad, double nsample);

}  // namespace detail

namespace random {

/// Exponential numbers of mean 1, of this shape. Throws shape_error where an extent is negative.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::standard_exponential<double>({10000})) - 1) < 0.1);
///     // prints: True
template <floating_element T>
auto standard_exponential(const shape_like& shape, generator& g = default_generator(),
                          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<T> d("standard_exponential", shape, g);
    return d.numbers(d.exponential());
}

/// Numbers of Student's t distribution with df degrees of freedom: normal numbers over the root of a chi-square over
/// df. Computed in float64. Throws dtype_error where a number df is not positive, shape_error where an extent is
/// negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(stddev(random::standard_t<double>(10, {10000})) - 1.118) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter D>
lazy<T> standard_t(const D& df, const shape_like& shape, generator& g = default_generator(),
                   const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("standard_t", shape, g);
    return detail::standard_t_numbers(d, detail::lazy_parameter(d, "df", df, detail::domain::positive));
}

/// Numbers of the F distribution: the ratio of two chi-squares of dfnum and dfden degrees of freedom, each over its
/// degrees. Computed in float64. Throws dtype_error where a number dfnum or dfden is not positive, shape_error where an
/// extent is negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::f<double>(6, 20, {10000})) - 20 / 18.0) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter N, detail::real_parameter D>
lazy<T> f(const N& dfnum, const D& dfden, const shape_like& shape, generator& g = default_generator(),
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("f", shape, g);
    return detail::f_numbers(d, detail::lazy_parameter(d, "dfnum", dfnum, detail::domain::positive),
                             detail::lazy_parameter(d, "dfden", dfden, detail::domain::positive));
}

/// Sums of squares of df normal numbers with a sum nonc of squared means; df may be any positive number. Computed in
/// float64. Throws dtype_error where a number df is not positive or nonc is negative, shape_error where an extent is
/// negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::noncentral_chisquare<double>(3, 2, {10000})) - 5) < 0.3);
///     // prints: True
template <floating_element T, detail::real_parameter D, detail::real_parameter N>
lazy<T> noncentral_chisquare(const D& df, const N& nonc, const shape_like& shape, generator& g = default_generator(),
                             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("noncentral_chisquare", shape, g);
    return detail::noncentral_chisquare_numbers(d, detail::lazy_parameter(d, "df", df, detail::domain::positive),
                                                detail::lazy_parameter(d, "nonc", nonc, detail::domain::not_negative));
}

/// Numbers of the inverse Gaussian distribution of this mean and scale (Michael, Schucany and Haas, 1976). Computed in
/// float64. Throws dtype_error where a number mean or scale is not positive, shape_error where an extent is negative or
/// an expression does not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::wald<double>(2, 3, {10000})) - 2) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter M, detail::real_parameter S>
lazy<T> wald(const M& mean, const S& scale, const shape_like& shape, generator& g = default_generator(),
             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("wald", shape, g);
    return detail::wald_numbers(d, detail::lazy_parameter(d, "mean", mean, detail::domain::positive),
                                detail::lazy_parameter(d, "scale", scale, detail::domain::positive));
}

/// Angles from -pi to pi, with density proportional to exp(kappa cos(x - mu)) (Best and Fisher, 1979). Computed in
/// float64. Throws dtype_error where a number kappa is negative, shape_error where an extent is or an expression does
/// not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::vonmises<double>(0.5, 4, {10000})) - 0.5) < 0.1);
///     // prints: True
template <floating_element T, detail::real_parameter M, detail::real_parameter K>
lazy<T> vonmises(const M& mu, const K& kappa, const shape_like& shape, generator& g = default_generator(),
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("vonmises", shape, g);
    return detail::vonmises_numbers(d, detail::lazy_parameter(d, "mu", mu),
                                    detail::lazy_parameter(d, "kappa", kappa, detail::domain::not_negative));
}

/// Normal numbers of mean 0 and deviation 1, truncated to lower to upper, either of which may be infinite, by the
/// inverse of the distribution function in the lesser tail. Computed in float64. Throws dtype_error where numbers are
/// not lower < upper, shape_error where an extent is negative or an expression does not broadcast to the shape.
///
///     random::seed(1);
///     array<double> x = random::truncated_normal<double>(2, 3, {10000});
///     std::cout << all(x >= 2 && x <= 3) << ' ' << (abs(mean(x) - 2.3158) < 0.01);
///     // prints: True True
template <floating_element T, detail::real_parameter L, detail::real_parameter U>
lazy<T> truncated_normal(const L& lower, const U& upper, const shape_like& shape, generator& g = default_generator(),
                         const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("truncated_normal", shape, g);
    d.ordered("lower", lower, "upper", upper);
    return detail::truncated_normal_numbers(d, detail::lazy_parameter(d, "lower", lower, detail::domain::number),
                                            detail::lazy_parameter(d, "upper", upper, detail::domain::number));
}

/// The number of failures before n successes in trials of probability p: integers from 0; n may be any positive number.
/// They are Poisson numbers with a gamma-distributed mean, computed in float64. Throws dtype_error where a number n is
/// not positive or p not 0 < p <= 1, shape_error where an extent is negative or an expression does not broadcast to the
/// shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::negative_binomial(4, 0.5, {10000})) - 4) < 0.2);
///     // prints: True
template <integer_element T = std::int64_t, detail::real_parameter N, detail::real_parameter P>
lazy<T> negative_binomial(const N& n, const P& p, const shape_like& shape, generator& g = default_generator(),
                          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("negative_binomial", shape, g);
    return astype<T>(
        detail::negative_binomial_numbers(d, detail::lazy_parameter(d, "n", n, detail::domain::positive),
                                          detail::lazy_parameter(d, "p", p, detail::domain::positive_probability)));
}

/// The number of good ones among nsample drawn without replacement from ngood good and nbad bad ones: integers
/// (Stadlober's HRUA, 1990; small samples by sums of the probabilities). Computed in float64. Throws dtype_error where
/// a number is negative or more are drawn than there are, shape_error where an extent is negative or an expression does
/// not broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::hypergeometric(15, 25, 20, {10000})) - 7.5) < 0.1);
///     // prints: True
template <integer_element T = std::int64_t, detail::integer_parameter G, detail::integer_parameter B,
          detail::integer_parameter S>
lazy<T> hypergeometric(const G& ngood, const B& nbad, const S& nsample, const shape_like& shape,
                       generator& g = default_generator(), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("hypergeometric", shape, g);
    if constexpr (!array_expression<G> && !array_expression<B> && !array_expression<S>)
        detail::check_sample_size(static_cast<double>(ngood), static_cast<double>(nbad), static_cast<double>(nsample));
    return astype<T>(
        detail::hypergeometric_numbers(d, detail::lazy_parameter(d, "ngood", ngood, detail::domain::count),
                                       detail::lazy_parameter(d, "nbad", nbad, detail::domain::count),
                                       detail::lazy_parameter(d, "nsample", nsample, detail::domain::count)));
}

/// Integers k from 1 with probabilities proportional to k^-a. Computed in float64, so not all above 2^53 occur. Throws
/// dtype_error where a number a is not above 1, shape_error where an extent is negative or an expression does not
/// broadcast to the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::zipf(7, {10000})) - 1.0083) < 0.01);
///     // prints: True
template <integer_element T = std::int64_t, detail::real_parameter A>
lazy<T> zipf(const A& a, const shape_like& shape, generator& g = default_generator(),
             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("zipf", shape, g);
    return astype<T>(detail::zipf_numbers(d, detail::lazy_parameter(d, "a", a, detail::domain::above_one)));
}

/// Integers k from 1 with probabilities proportional to p^k / k (Kemp, 1981). Computed in float64. Throws dtype_error
/// where a number p is not 0 <= p < 1, shape_error where an extent is negative or an expression does not broadcast to
/// the shape.
///
///     random::seed(1);
///     std::cout << (abs(mean(random::logseries(0.7, {10000})) - 1.938) < 0.1);
///     // prints: True
template <integer_element T = std::int64_t, detail::real_parameter P>
lazy<T> logseries(const P& p, const shape_like& shape, generator& g = default_generator(),
                  const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("logseries", shape, g);
    return astype<T>(detail::logseries_numbers(d, detail::lazy_parameter(d, "p", p, detail::domain::below_one)));
}

// ---- along a last axis -------------------------------------------------------------------------------------------

/// Dirichlet's distribution: shares that add up to 1 along a last axis, which is alpha's: gamma numbers with these
/// shape parameters over their sum. The result has shape (shape..., k); alpha is (k,), or has axes before that
/// broadcast to the shape. Computed in float64 by logarithms, so that small alphas do not all underflow. Throws
/// shape_error where alpha has no axis or does not broadcast. The values of alpha are not checked: one that is not
/// positive gives NaN.
///
///     random::seed(1);
///     array<double> x = random::dirichlet<double>(array<double>{1, 2, 5}, {10000});
///     std::cout << x.shape() << ' ' << all(abs(mean(x, 0) - array<double>{0.125, 0.25, 0.625}) < 0.01);
///     // prints: (10000, 3) True
template <floating_element T, array_expression A>
lazy<T> dirichlet(const A& alpha, const shape_like& shape = {}, generator& g = default_generator(),
                  const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::dirichlet_numbers(lazy<double>(alpha), shape, g);
}

/// The number of occurrences of each of k outcomes with these probabilities in n trials: int64, of shape (shape..., k).
/// pvals is (k,), or has axes before that broadcast to the shape; as in NumPy, the last probability is what the others
/// leave. n is a number or an expression that broadcasts to the shape. The numbers are evaluated, as a binomial number
/// for each outcome of the rest. Waits for pvals. Throws dtype_error where a number n is negative, a probability is not
/// 0 to 1 or all but the last add up to more than 1; shape_error where pvals has no axis or does not broadcast.
///
///     random::seed(1);
///     array<std::int64_t> x = random::multinomial(20, array<double>{0.5, 0.25, 0.25}, {10000});
///     std::cout << all(sum(x, 1) == 20) << ' ' << all(abs(mean(x, 0) - array<double>{10, 5, 5}) < 0.2);
///     // prints: True True
template <detail::integer_parameter N, array_expression P>
array<std::int64_t> multinomial(const N& n, const P& pvals, const shape_like& shape = {},
                                generator& g = default_generator(),
                                const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::draw<double> d("multinomial", shape, g);
    return detail::multinomial_counts(detail::lazy_parameter(d, "n", n, detail::domain::count), lazy<double>(pvals),
                                      shape, g);
}

/// Numbers of outcomes, 0 to k - 1, with probabilities proportional to exp(logits) along the last axis: the index of
/// the greatest sum of a logit and a Gumbel number, as in JAX. The result is an expression in int64, of the logits'
/// shape without that axis, or of a shape to which this broadcasts. Throws shape_error where there is no axis, it is
/// empty, or the others do not broadcast.
///
///     random::seed(1);
///     array<double> p{0.2, 0, 0.8};
///     array<std::int64_t> x = random::categorical(log(p), {10000});
///     std::cout << any(x == 1) << ' ' << (abs(mean(x == 2) - 0.8) < 0.05) << ' '
///               << random::categorical(zeros<double>({4, 5, 3})).shape();
///     // prints: False True (4, 5)
template <array_expression L>
lazy<std::int64_t> categorical(const L& logits, const shape_like& shape, generator& g = default_generator(),
                               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::categories(lazy<double>(logits), &shape, g);
}
template <array_expression L>
lazy<std::int64_t> categorical(const L& logits, generator& g = default_generator(),
                               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::categories(lazy<double>(logits), nullptr, g);
}

}  // namespace random
}  // namespace ingot
