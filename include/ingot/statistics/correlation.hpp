// Correlations of two sequences at every distance, and of variables with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <ingot/core/joins.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/windows.hpp>

namespace ingot {

/// The positions of the shorter sequence against the longer one: `full` wherever they overlap, `same` as many as the
/// longer one has elements, `valid` where it lies within.
enum class convolve_mode : std::uint8_t { full, same, valid };

/// The options of `cov` and `corrcoef`.
///
///     array<double> x{{0, 2}, {1, 1}, {2, 0}};
///     std::cout << cov(x, {.rowvar = false, .aweights = array<double>{1, 2, 1}});
///     // prints: [[ 0.8 -0.8]
///     //          [-0.8  0.8]]
struct covariance_options {
    /// Whether rows are variables; else columns are.
    bool rowvar = true;
    /// Whether sums are divided by the number of observations, not by 1 less.
    bool bias = false;
    /// Divides by this much less than the number of observations, whatever `bias` says.
    std::optional<index_t> ddof = {};
    /// The number of times of each observation.
    std::optional<lazy<index_t>> fweights = {};
    /// The weight of each observation.
    std::optional<lazy<double>> aweights = {};
};

namespace detail {

/// Throws shape_error unless both are vectors with elements.
INGOT_API void check_sequences(const char* operation, std::span<const index_t> a, std::span<const index_t> v);
[[noreturn]] INGOT_API void throw_too_many_axes(const char* operation, extents_ref shape, int most);

template <class T>
lazy<T> conjugate_of(const lazy<T>& e) {
    if constexpr (complex_number<T>)
        return conj(e);
    else
        return e;
}

/// The dtype of sums of products of both.
template <class A, class V>
inline constexpr dtype type_of_both = promote(node_of<A>::type, node_of<V>::type);

/// The sums of products of `v` with a's elements at every position; v is not longer than a.
template <class T>
lazy<T> slid_along(const char* operation, const lazy<T>& a, const lazy<T>& v, convolve_mode how) {
    const index_t n = v.size();
    const index_t before = how == convolve_mode::full ? n - 1 : how == convolve_mode::same ? n / 2 : 0;
    const index_t after = how == convolve_mode::same ? n - 1 - before : before;
    // Padded values are read often enough to make them an array.
    const lazy<T> whole = before + after == 0 ? a : pad(a, {before, after}).kept();
    const auto windows = viewed_to_read(whole, view_windows, std::span<const index_t>(&n, 1), nullptr);
    const axes last(-1);
    if constexpr (std::is_same_v<T, bool>)
        return any_of({operation, &last}, windows && v);
    else
        return sum_of({operation, &last}, windows * v);
}

/// The sums of products of two vectors, the second one reversed, at every distance of the given mode, in the dtype to
/// which they promote. Throws shape_error where one is no vector or has no elements.
///
///     array<double> a{1, 2, 3}, v{0, 1, 0.5};
///     std::cout << convolve(a, v) << ' ' << convolve(a, v, convolve_mode::same) << ' ' << convolve(a, v,
///     convolve_mode::valid);
///     // prints: [0.  1.  2.5 4.  1.5] [1.  2.5 4. ] [2.5]
template <array_expression A, array_expression V>
auto convolve(const A& a, const V& v, convolve_mode how = convolve_mode::full,
              const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using C = type_of<computed_in(type_of_both<A, V>)>;
    check_sequences("convolve", shape_of_expression(a).values(), shape_of_expression(v).values());
    const lazy<C> x = a, y = v;
    return lazy<type_of<type_of_both<A, V>>>(x.size() < y.size() ? slid_along<C>("convolve", y, flip(x), how)
                                                                 : slid_along<C>("convolve", x, flip(y), how));
}

/// The sums of products of two vectors, the second one conjugated, at every distance of the given mode, in the dtype to
/// which they promote. Throws shape_error where one is no vector or has no elements.
///
///     array<int> a{1, 2, 3}, v{0, 1, 2};
///     std::cout << correlate(a, v) << ' ' << correlate(a, v, convolve_mode::full);
///     // prints: [8] [2 5 8 3 0]
template <array_expression A, array_expression V>
auto correlate(const A& a, const V& v, convolve_mode how = convolve_mode::valid,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using C = type_of<computed_in(type_of_both<A, V>)>;
    check_sequences("correlate", shape_of_expression(a).values(), shape_of_expression(v).values());
    const lazy<C> x = a, y = conjugate_of(lazy<C>(v));
    return lazy<type_of<type_of_both<A, V>>>(x.size() < y.size() ? lazy<C>(flip(slid_along<C>("correlate", y, x, how)))
                                                                 : slid_along<C>("correlate", x, y, how));
}

// ---- variables -----------------------------------------------------------------------------------------------------

/// The variables as rows, in float64 or complex128.
template <class C, class E>
lazy<C> variables(const char* operation, const E& e, bool rowvar) {
    shape_room room;
    const extents_ref shape = as_node(e).extents(room);
    if (shape.rank > 2) throw_too_many_axes(operation, shape, 2);
    const bool of_columns = !rowvar && shape.rank == 2;
    const lazy<C> rows = viewed_to_read(lazy<C>(e), view_at_least, 2);
    return of_columns ? lazy<C>(transpose(rows)) : rows;
}

/// Throws shape_error unless both have as many observations.
INGOT_API void check_observations(const char* operation, index_t of_first, index_t of_second);
/// The weights of observations, and the divisor of weighted sums of products.
struct observation_weights {
    array<double> each;
    double total, divisor;
};
/// The weights of n observations. Waits for their sums. Throws shape_error unless there are n in a vector, error where
/// one is negative or they add up to 0.
INGOT_API observation_weights weigh(const char* operation, index_t n, index_t less, const covariance_options&);

template <class C>
lazy<C> covariances(const char* operation, const lazy<C>& rows, const covariance_options& how) {
    const axes last(-1);
    const index_t n = rows.shape()[1], less = how.ddof.value_or(how.bias ? 0 : 1);
    const auto products = [&](const lazy<C>& a, const lazy<C>& b, double divisor) {
        return sum_of({operation, &last}, expand_dims(a, 1) * expand_dims(conjugate_of(b), 0)) / divisor;
    };
    lazy<C> all = rows;
    if (how.fweights || how.aweights) {
        const observation_weights w = weigh(operation, n, less, how);
        const auto middle = sum_of({operation, &last, true}, rows * w.each) / w.total;
        const lazy<C> off = lazy<C>(rows - middle).kept();
        all = products(off, off * w.each, w.divisor);
    } else {
        const lazy<C> off = lazy<C>(rows - mean_of({operation, &last, true}, rows)).kept();
        all = products(off, off, static_cast<double>(n > less ? n - less : 0));
    }
    return rows.shape()[0] == 1 ? lazy<C>(squeeze(all)) : all;
}
template <class C, class E>
lazy<C> covariances_of(const char* operation, const E& e, const covariance_options& how) {
    return covariances(operation, variables<C>(operation, e, how.rowvar), how);
}
template <class C, class E, class Y>
lazy<C> covariances_of(const char* operation, const E& e, const Y& y, const covariance_options& how) {
    const lazy_parts<C> both{variables<C>(operation, e, how.rowvar), variables<C>(operation, y, how.rowvar)};
    check_observations(operation, both[0].shape()[1], both[1].shape()[1]);
    return covariances(operation, joined(operation, both, 0).kept(), how);
}
/// Covariances divided by the deviations of both variables; the result is clipped so that rounding gives no correlation
/// beyond 1.
template <class C>
lazy<C> correlations(const lazy<C>& covariances) {
    const lazy<C> c = covariances.kept();
    if (c.ndim() == 0) return c / c;
    const auto deviation = sqrt(real(diagonal(c)));
    const auto r = c / expand_dims(deviation, 1) / expand_dims(deviation, 0);
    if constexpr (complex_number<C>)
        return complex_of(clip(real(r), -1, 1), clip(imag(r), -1, 1));
    else
        return clip(r, -1, 1);
}

/// The covariance matrix of variables. Each row of e is a variable, each column an observation of all; a vector is one
/// variable, and the result then has no axes. A second expression may have further variables. Sums are divided by 1
/// less than the number of observations, or with a last `ddof(n)` by n less; a last `covariance_options` sets this and
/// more, and its weights are waited for. float64 or complex128. Throws shape_error for more than two axes and where
/// numbers of observations or weights differ, error where weights are negative or add up to 0.
///
///     array<double> x{0, 1, 2}, y{2, 1, 0};
///     std::cout << cov(x, y) << ' ' << cov(x, ddof(0)) << ' ' << cov(x, {.fweights = array<int>{2, 0, 2}});
///     // prints: [[ 1. -1.]
///     //          [-1.  1.]] 0.6666666666666666 1.3333333333333333
template <array_expression E>
auto cov(const E& e, const covariance_options& how, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return covariances_of<type_of<promote(node_of<E>::type, dtype::f8)>>("cov", e, how);
}
template <array_expression E>
auto cov(const E& e, ddof less = ddof(1), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return cov(e, covariance_options{.ddof = less.value()});
}
template <array_expression E, array_expression Y>
auto cov(const E& e, const Y& y, const covariance_options& how, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return covariances_of<type_of<promote(type_of_both<E, Y>, dtype::f8)>>("cov", e, y, how);
}
template <array_expression E, array_expression Y>
auto cov(const E& e, const Y& y, ddof less = ddof(1), const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return cov(e, y, covariance_options{.ddof = less.value()});
}

/// The correlations of variables: their covariances divided by the deviations of both. Arguments are those of `cov`,
/// except `ddof`, on which the result does not depend.
///
///     std::cout << corrcoef(array<int>{0, 1, 2, 3}, array<int>{9, 7, 5, 3});
///     // prints: [[ 1. -1.]
///     //          [-1.  1.]]
template <array_expression E>
auto corrcoef(const E& e, const covariance_options& how = {}, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return correlations(covariances_of<type_of<promote(node_of<E>::type, dtype::f8)>>("corrcoef", e, how));
}
template <array_expression E, array_expression Y>
auto corrcoef(const E& e, const Y& y, const covariance_options& how = {},
              const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return correlations(covariances_of<type_of<promote(type_of_both<E, Y>, dtype::f8)>>("corrcoef", e, y, how));
}

}  // namespace detail

using detail::convolve;
using detail::corrcoef;
using detail::correlate;
using detail::cov;

}  // namespace ingot
