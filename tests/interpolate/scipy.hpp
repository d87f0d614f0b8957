// Places and points to compare with SciPy's interpolation.
#pragma once

#include <complex>
#include <random>
#include <string>
#include <vector>

#include <ingot/interpolate.hpp>

#include "tests/drawn.hpp"
#include "tests/has_scipy.hpp"
#include "tests/joins/numpy_cases.hpp"

namespace ingot::testing {

/// Increasing numbers: equally spaced ones, ones near to that, and ones that are not.
inline array<double> increasing(index_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<double> x;
    double last = -2;
    for (index_t i = 0; i < n; ++i) {
        const double step = std::uniform_real_distribution<double>(0.1, 1)(random);
        last += seed % 3 == 0 ? 0.5 : seed % 3 == 1 ? 0.45 + step / 10 : step * step * 3 + 0.01;
        x.push_back(last);
    }
    return asarray(x);
}

/// Values in no order between -3 and 3.
template <class T>
array<T> values_of(const shape_like& shape, unsigned seed) {
    std::mt19937 random(seed);
    const auto one = [&] { return std::uniform_real_distribution<double>(-3, 3)(random); };
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& v : values)
        if constexpr (detail::complex_number<T>)
            v = T(static_cast<typename T::value_type>(one()), static_cast<typename T::value_type>(one()));
        else
            v = static_cast<T>(one());
    return asarray<T>(values, shape);
}

/// Places on knots, between them, beyond the ends, and NaN, in that shape.
inline array<double> places_among(const array<double>& knots, const shape_like& shape, unsigned seed) {
    std::mt19937 random(seed);
    const std::vector<double> x = knots.to_host();
    const double width = x.back() - x.front() + 1;
    std::vector<double> places;
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    for (index_t i = 0; i < n; ++i)
        places.push_back(i % 4 == 0   ? x[random() % x.size()]
                         : i % 9 == 5 ? std::numeric_limits<double>::quiet_NaN()
                                      : x.front() - 0.3 * width +
                                            std::uniform_real_distribution<double>(0, 1.6)(random) * width);
    return asarray(places, shape);
}

}  // namespace ingot::testing
