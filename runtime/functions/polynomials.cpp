// Polynomial fits by least squares, and roots as eigenvalues of the companion matrix.
#include <ingot/core/polynomials.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <ingot/core/building.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/linalg/solvers.hpp>

namespace ingot::detail {

index_t coefficient_count(const char* operation, extents_ref shape) {
    if (shape.rank != 1)
        throw shape_error("[" + std::string(operation) + "] coefficients of shape " + to_text(shape.span()) +
                          "; a vector is wanted");
    return shape.data[0];
}

array<double> fitted_polynomial(const lazy<double>& x, const lazy<double>& y, index_t degree,
                                const polyfit_options& options) {
    const shape_like points = x.shape(), values = y.shape();
    if (degree < 0) throw dtype_error("[polyfit] degree " + std::to_string(degree) + "; at least 0 is wanted");
    if (points.count() != 1 || points[0] == 0 || values.count() < 1 || values.count() > 2 || values[0] != points[0])
        throw shape_error("[polyfit] shapes " + to_text(points.values()) + " and " + to_text(values.values()) +
                          ": a vector with elements, and as many values or rows of values, are wanted");
    const index_t n = points[0];
    const array<double> at(x);
    lazy<double> powers(vander(at, degree + 1)), wanted = y;
    if (options.w) {
        const shape_like given = options.w->shape();
        if (given != points)
            throw shape_error("[polyfit] weights of shape " + to_text(given.values()) + " for points of shape " +
                              to_text(points.values()));
        powers = powers * expand_dims(*options.w, 1);
        wanted =
            values.count() == 2 ? lazy<double>(wanted * expand_dims(*options.w, 1)) : lazy<double>(wanted * *options.w);
    }
    // Columns are scaled to length 1, so that one bound for small values holds for all of them.
    const array<double> scale(sqrt(sum(powers * powers, 0)));
    const double least = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    const array<double> found(std::get<0>(linalg::lstsq(powers / scale, wanted, least)));
    return array<double>(values.count() == 2 ? lazy<double>(found / expand_dims(scale, 1))
                                             : lazy<double>(found / scale));
}

array<std::complex<double>> polynomial_roots(const lazy<std::complex<double>>& p) {
    coefficient_count("roots", extents_ref::of(shape_of_expression(p).values()));
    const std::vector<std::complex<double>> all_given = p.to_host();
    std::size_t first = 0, end = all_given.size();
    while (first < end && all_given[first] == 0.0) ++first;
    while (end > first && all_given[end - 1] == 0.0) --end;
    const std::size_t at_zero = all_given.size() - end;  // roots that are 0
    const auto degree = static_cast<index_t>(end - first) - 1;
    array<std::complex<double>> found = zeros<std::complex<double>>(first == end ? 0 : static_cast<index_t>(at_zero));
    if (degree < 1) return found;
    array<std::complex<double>> companion = eye<std::complex<double>>(degree, degree, -1);
    std::vector<std::complex<double>> row;
    for (std::size_t k = first + 1; k < end; ++k) row.push_back(-all_given[k] / all_given[first]);
    companion(0) = asarray(row);
    return array<std::complex<double>>(append(linalg::eigvals(companion), found));
}

}  // namespace ingot::detail
