// scipy.fft's sine transforms, and cosine and sine transforms along several axes. They are expressions composed of the
// cosine transforms of fft.hpp; type 1 is the Fourier transform of an odd sequence.
#pragma once

#include <cmath>
#include <vector>

#include <ingot/fft/transforms.hpp>

namespace ingot {
namespace detail {

template <class E>
auto sine_transformed(const char* operation, const E& e, int type, bool inverse, const fft::points& n, index_t axis,
                      fft::norm how) {
    using R = transform_part<E>;
    return transforms<R>::by_sines(operation, lazy<R>(e), one_axis(operation, e, n, axis), type, inverse, how);
}

/// Transforms one axis after the other.
template <class E, class F>
lazy<transform_part<E>> transformed_along(const char* operation, const E& e, const fft::extents& s, const axes* over,
                                          const F& one) {
    lazy<transform_part<E>> x = e;
    for (const transformed_axis& a : several_axes(operation, e, s, over)) x = one(x, a);
    return x;
}
template <class E>
auto cosine_transformed_along(const char* operation, const E& e, int type, bool inverse, const fft::extents& s,
                              const axes* over, fft::norm how) {
    return transformed_along(operation, e, s, over, [&](const auto& x, const transformed_axis& a) {
        return cosine_transformed(operation, x, type, inverse, fft::points(a.points), a.axis, how);
    });
}
template <class E>
auto sine_transformed_along(const char* operation, const E& e, int type, bool inverse, const fft::extents& s,
                            const axes* over, fft::norm how) {
    return transformed_along(operation, e, s, over, [&](const auto& x, const transformed_axis& a) {
        return sine_transformed(operation, x, type, inverse, fft::points(a.points), a.axis, how);
    });
}

}  // namespace detail

namespace fft {

/// scipy.fft's discrete sine transform of type 1, 2, 3 or 4 of n real numbers along an axis, by default the last; with
/// norm::ortho its matrix is orthogonal. The result is an expression in float32 or float64. Throws shape_error as
/// `fft`, and for another type.
///
///     const array<double> x{1, 2, 3};
///     std::cout << round(fft::dst(x, 1), 3) << ' '
///               << allclose(fft::dst(x, 3, 2), array<double>{3.41421356, -0.58578644});
///     // prints: [ 9.657 -4.     1.657] True
template <detail::real_expression E>
auto dst(const E& e, int type = 2, const points& n = none, index_t axis = -1, norm how = norm::backward,
         const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::sine_transformed("dst", e, type, false, n, axis, how);
}

/// The inverse of `dst` of that type. Throws as it does.
///
///     const array<double> x{1, 2, 3, 4};
///     std::cout << allclose(fft::idst(fft::dst(x)), x) << ' ' << allclose(fft::idst(fft::dst(x, 1), 1), x);
///     // prints: True True
template <detail::real_expression E>
auto idst(const E& e, int type = 2, const points& n = none, index_t axis = -1, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::sine_transformed("idst", e, type, true, n, axis, how);
}

/// `dct` along several axes, by default all, of s points each: an expression in float32 or float64. Throws shape_error
/// as `dct`, and where there are not as many extents as axes.
///
///     const array<double> x{{1, 2}, {3, 4}};
///     std::cout << allclose(fft::dctn(x), fft::dct(fft::dct(x, 2, none, 0))) << ' '
///               << fft::dctn(x, 2, {3, 5}).shape();
///     // prints: True (3, 5)
template <detail::real_expression E>
auto dctn(const E& e, int type = 2, const extents& s = none, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::cosine_transformed_along("dctn", e, type, false, s, nullptr, how);
}
template <detail::real_expression E>
auto dctn(const E& e, int type, const extents& s, const axes& over, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::cosine_transformed_along("dctn", e, type, false, s, &over, how);
}

/// The inverse of `dctn` of that type. Throws as it does.
///
///     const array<double> x{{1, 2}, {3, 4}};
///     std::cout << allclose(fft::idctn(fft::dctn(x)), x) << ' '
///               << allclose(fft::idctn(fft::dctn(x, 4, none, 0), 4, none, 0), x);
///     // prints: True True
template <detail::real_expression E>
auto idctn(const E& e, int type = 2, const extents& s = none, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::cosine_transformed_along("idctn", e, type, true, s, nullptr, how);
}
template <detail::real_expression E>
auto idctn(const E& e, int type, const extents& s, const axes& over, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::cosine_transformed_along("idctn", e, type, true, s, &over, how);
}

/// `dst` along several axes, by default all, of s points each: an expression in float32 or float64. Throws shape_error
/// as `dst`, and where there are not as many extents as axes.
///
///     const array<double> x{{1, 2}, {3, 4}};
///     std::cout << allclose(fft::dstn(x), fft::dst(fft::dst(x, 2, none, 0)));
///     // prints: True
template <detail::real_expression E>
auto dstn(const E& e, int type = 2, const extents& s = none, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::sine_transformed_along("dstn", e, type, false, s, nullptr, how);
}
template <detail::real_expression E>
auto dstn(const E& e, int type, const extents& s, const axes& over, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::sine_transformed_along("dstn", e, type, false, s, &over, how);
}

/// The inverse of `dstn` of that type. Throws as it does.
///
///     const array<double> x{{1, 2}, {3, 4}};
///     std::cout << allclose(fft::idstn(fft::dstn(x)), x) << ' '
///               << allclose(fft::idstn(fft::dstn(x, 1, none, {0, 1}), 1, none, {0, 1}), x);
///     // prints: True True
template <detail::real_expression E>
auto idstn(const E& e, int type = 2, const extents& s = none, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::sine_transformed_along("idstn", e, type, true, s, nullptr, how);
}
template <detail::real_expression E>
auto idstn(const E& e, int type, const extents& s, const axes& over, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::sine_transformed_along("idstn", e, type, true, s, &over, how);
}

}  // namespace fft
}  // namespace ingot
