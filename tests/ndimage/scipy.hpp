// Results to compare with SciPy's: borders, origins and shapes in C++ and in Python.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include <ingot/ndimage.hpp>

#include "tests/drawn.hpp"
#include "tests/has_scipy.hpp"
#include "tests/joins/numpy_cases.hpp"

namespace ingot::testing {

using ndimage::border;

inline constexpr border borders[] = {border::reflect, border::constant, border::nearest, border::mirror, border::wrap};
inline std::string name_of(border b) {
    static const char* const names[] = {"reflect", "constant",  "nearest",      "mirror",
                                        "wrap",    "grid-wrap", "grid-constant"};
    return std::string(", mode='") + names[static_cast<int>(b)] + "'";
}

/// Calls f(border, shape) for a third of all pairs, on a GPU for an eighth; others in each run, all where
/// INGOT_TEST_ALL is set.
template <class F>
void for_borders_and_shapes(std::initializer_list<shape_like> shapes, const F& f) {
    const bool everything = std::getenv("INGOT_TEST_ALL") != nullptr;
    const unsigned long of = everything ? 1 : current_device().is_cuda() ? 8 : 3;
    unsigned long number = test::drawing_seed() % of;
    for (const border b : borders)
        for (const shape_like& shape : shapes)
            if (number++ % of == 0) f(b, shape);
}

/// "name=value" or "name=(value, value)", after a comma.
template <class T>
std::string argument(const char* name, const std::vector<T>& values) {
    std::ostringstream text;
    text << ", " << name << "=";
    if (values.size() != 1) text << '(';
    for (const T& v : values) text << v << (values.size() != 1 ? "," : "");
    if (values.size() != 1) text << ')';
    return text.str();
}

}  // namespace ingot::testing
