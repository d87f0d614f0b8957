// Functions for the table's two rows that belong to no library (libraries.def). They are slow: they only copy their
// operands through the device's own queue, so that they run on every device.
#pragma once

#include <cstring>
#include <vector>

#include <ingot/core/library_nodes.hpp>
#include <ingot/ingot.hpp>

#include "runtime/front/library_functions.hpp"

namespace library_functions {

using ingot::index_t;
using ingot::runtime::library_arguments;
using ingot::runtime::library_array;

/// Calls `f` with each multi-index of these extents, as the offsets that it has in two arrays of them.
template <class F>
void for_each_point(std::span<const index_t> extents, std::span<const index_t> a, std::span<const index_t> b, F f) {
    index_t size = 1;
    for (const index_t n : extents) size *= n;
    for (index_t i = 0; i < size; ++i) {
        index_t left = i, at_a = 0, at_b = 0;
        for (std::size_t j = extents.size(); j-- > 0; left /= extents[j]) {
            at_a += left % extents[j] * a[j];
            at_b += left % extents[j] * b[j];
        }
        f(at_a, at_b);
    }
}

/// The rows of each matrix in reverse, each row copied in the stream's order.
inline void run_reverse_rows(const library_arguments& given) {
    const library_array &from = given.operands[0], &to = given.results[0];
    const std::size_t n = given.batch_axes, each = ingot::detail::size_of(from.type);
    const index_t rows = from.extents[n], columns = from.extents[n + 1];
    for_each_point(from.extents.first(n), from.strides, to.strides, [&](index_t a, index_t b) {
        for (index_t i = 0; i < rows; ++i)
            given.stream.backend->copy(
                static_cast<char*>(to.data) + (b + (rows - 1 - i) * columns) * static_cast<index_t>(each),
                static_cast<const char*>(from.data) + (a + i * columns) * static_cast<index_t>(each),
                static_cast<std::size_t>(columns) * each, ingot::runtime::copy_direction::within, given.stream.native);
    });
}

/// All elements within an array's reach, on the host.
inline std::vector<float> on_host(const library_array& a, ingot::runtime::stream_state& stream) {
    index_t last = 0;
    for (const index_t n : a.extents)
        if (n == 0) return {};
    for (std::size_t j = 0; j < a.extents.size(); ++j) last += a.strides[j] * (a.extents[j] - 1);
    std::vector<float> values(static_cast<std::size_t>(last + 1));
    stream.backend->copy(values.data(), a.data, values.size() * sizeof(float), ingot::runtime::copy_direction::to_host,
                         stream.native);
    stream.backend->synchronize(stream.native);
    return values;
}

/// For float32.
inline void run_matrix_product(const library_arguments& given) {
    const std::vector<float> a = on_host(given.operands[0], given.stream), b = on_host(given.operands[1], given.stream);
    const library_array &x = given.operands[0], &y = given.operands[1], &to = given.results[0];
    const std::size_t n = given.batch_axes;
    std::vector<float> made;
    for_each_point(x.extents.first(n), x.strides, y.strides, [&](index_t at_x, index_t at_y) {
        for (index_t i = 0; i < x.extents[n]; ++i)
            for (index_t j = 0; j < y.extents[n + 1]; ++j) {
                float sum = 0;
                for (index_t k = 0; k < x.extents[n + 1]; ++k)
                    sum += a[static_cast<std::size_t>(at_x + i * x.strides[n] + k * x.strides[n + 1])] *
                           b[static_cast<std::size_t>(at_y + k * y.strides[n] + j * y.strides[n + 1])];
                made.push_back(sum);
            }
    });
    given.stream.backend->copy(to.data, made.data(), made.size() * sizeof(float),
                               ingot::runtime::copy_direction::to_device, given.stream.native);
    given.stream.backend->synchronize(given.stream.native);
}

template <class E>
auto reverse_rows(const E& e) {
    ingot::runtime::register_library_function("reverse_rows", {run_reverse_rows});
    return ingot::detail::call_library<ingot::detail::library_function::reverse_rows, typename E::value_type>(
        "reverse_rows", e);
}
template <class A, class B>
auto matrix_product(const A& a, const B& b) {
    ingot::runtime::register_library_function("matrix_product", {run_matrix_product});
    return ingot::detail::call_library<ingot::detail::library_function::matrix_product, float>("matrix_product", a, b);
}

}  // namespace library_functions
