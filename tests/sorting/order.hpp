// The order that sorts promise.
#pragma once

#include <cmath>
#include <concepts>

namespace ingot::testing {

/// NaN last, and equal.
template <class T>
bool before(T a, T b) {
    if constexpr (std::integral<T>)
        return a < b;
    else
        return static_cast<double>(a) < static_cast<double>(b) ||
               (std::isnan(static_cast<double>(b)) && !std::isnan(static_cast<double>(a)));
}

}  // namespace ingot::testing
