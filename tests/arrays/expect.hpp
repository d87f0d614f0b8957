// Helpers that compare an expression's shape and values.
#pragma once

#include <doctest/doctest.h>

#include <vector>

#include <ingot/ingot.hpp>

/// Whether e has this shape and these values, in C order.
template <ingot::array_expression E>
bool holds(const E& e, const ingot::shape_like& shape, std::vector<typename E::value_type> values) {
    return e.shape() == shape && e.to_host() == values;
}

/// 0, 1, 2, ... in a shape.
template <class T = int>
ingot::array<T> counted(const ingot::shape_like& shape) {
    ingot::index_t n = 1;
    for (ingot::index_t extent : shape) n *= extent;
    return ingot::asarray(ingot::arange<T>(static_cast<T>(n)).to_host(), shape);
}

/// The text of the exception of type E that f throws.
template <class E, class F>
std::string thrown(F&& f) {
    try {
        f();
    } catch (const E& e) {
        return e.what();
    }
    return "nothing was thrown";
}
