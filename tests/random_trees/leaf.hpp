// Leaves of random trees: arrays of any layout with all values that find edges, scalars and random numbers, and their
// elements copied out by plain loops over indices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ingot/core/door.hpp>
#include <ingot/core/expression.hpp>

#include "bench/drawing.hpp"

namespace ingot::tests {

using random_engine = bench::drawing;
using extents = std::vector<index_t>;

/// A leaf: its layout, and the content of the whole buffer.
struct random_leaf {
    dtype type = dtype::f4;
    detail::operand_kind kind = detail::operand_kind::array;
    detail::layout where;
    extents context;               // the shape of the tree that it is in, to which it is broadcast
    std::vector<std::byte> bytes;  // of the buffer
    std::uint64_t bits[2] = {};    // of a scalar; seed and call of a generator
    std::uint32_t last = 0;        // of a generator of integers: leaves of uint32
    bool covers = false;           // it has the whole shape, for others need not
};

inline constexpr dtype grown_dtypes[] = {dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4,
                                         dtype::u4, dtype::i8, dtype::u8, dtype::f4, dtype::f8};

index_t size_of_shape(const extents& shape);

/// Calls f with a value of the dtype's C++ type.
template <class F>
auto with_type(dtype t, F f) {
    switch (t) {
        case dtype::b1:
            return f(bool{});
        case dtype::i1:
            return f(std::int8_t{});
        case dtype::u1:
            return f(std::uint8_t{});
        case dtype::i2:
            return f(std::int16_t{});
        case dtype::u2:
            return f(std::uint16_t{});
        case dtype::i4:
            return f(std::int32_t{});
        case dtype::u4:
            return f(std::uint32_t{});
        case dtype::i8:
            return f(std::int64_t{});
        case dtype::u8:
            return f(std::uint64_t{});
        case dtype::f4:
            return f(float{});
        default:
            return f(double{});
    }
}

/// A layout: axes in any order in memory, with padding between rows, backwards, and starting anywhere. To be read it
/// broadcasts into `shape` (axes left out, of extent 1, or without a stride); to be written, no two elements are one.
enum class purpose { read, written };
detail::layout random_layout(random_engine&, const extents& shape, purpose);
/// The number of elements of a buffer that holds the layout.
std::size_t reach_of(const detail::layout&);

/// Any bits that are elements of this dtype: the ends of its range, NaN, -0 and subnormals often enough.
std::vector<std::byte> random_bytes(random_engine&, dtype, std::size_t elements);

random_leaf random_array(random_engine&, const extents& context);
/// C-contiguous and of the whole shape, with some elements to spare before and after.
random_leaf covering_array(random_engine&, const extents& context);
random_leaf random_scalar(random_engine&, const extents& context);
/// Uniform random numbers, seen through any layout.
random_leaf random_generator(random_engine&, const extents& context);

/// Calls f(i, element) for each element i of `shape` in C order, with its index in the layout.
template <class F>
void for_each_element(const detail::layout& where, const extents& shape, F f) {
    const index_t elements = size_of_shape(shape);
    extents at(shape.size(), 0);
    const std::size_t lead = shape.size() - static_cast<std::size_t>(where.rank());
    for (index_t i = 0; i < elements; ++i) {
        index_t element = where.offset;
        for (int j = 0; j < where.rank(); ++j)
            if (where.shape()[j] != 1) element += at[lead + static_cast<std::size_t>(j)] * where.strides()[j];
        f(static_cast<std::size_t>(i), static_cast<std::size_t>(element));
        for (std::size_t j = shape.size(); j-- > 0;) {
            if (++at[j] < shape[j]) break;
            at[j] = 0;
        }
    }
}

/// All elements of the leaf, broadcast to its context.
std::vector<std::byte> materialised(const random_leaf&);

std::string describe(const random_leaf&);

}  // namespace ingot::tests
