// Blocks of indices on the axes of a key, and the elements of a strided array at these indices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot::runtime::interpreter {

inline constexpr std::size_t block_elements = 1024;

using indices = std::vector<std::int64_t>;
using extents_of_axes = std::span<const std::int64_t>;

/// The indices of up to block_elements points of an iteration space; null for an axis outside the space.
struct index_block {
    std::size_t count = 0;
    std::vector<const std::int64_t*> on_axis;
};

/// The number of points in the space of these axes.
inline std::int64_t volume(extents_of_axes extents, const indices& axes) {
    std::int64_t n = 1;
    for (const std::int64_t a : axes) n *= extents[static_cast<std::size_t>(a)];
    return n;
}

/// to[i] = (begin + i) / inner % extent.
inline void count_digits(std::int64_t begin, std::int64_t inner, std::int64_t extent, std::size_t n, std::int64_t* to) {
    std::int64_t digit = begin / inner % extent, left = inner - begin % inner;
    for (std::size_t i = 0; i < n; ++i) {
        to[i] = digit;
        if (--left > 0) continue;
        left = inner;
        if (++digit == extent) digit = 0;
    }
}

/// Calls `f` with each block of points in the space of these axes; the last axis varies fastest.
template <class F>
void for_each_block(extents_of_axes extents, const indices& axes, F f) {
    const std::int64_t size = volume(extents, axes);
    std::vector<indices> digits(axes.size(), indices(block_elements));
    index_block where;
    where.on_axis.resize(extents.size());
    for (std::size_t k = 0; k < axes.size(); ++k) where.on_axis[static_cast<std::size_t>(axes[k])] = digits[k].data();
    for (std::int64_t begin = 0; begin < size; begin += static_cast<std::int64_t>(block_elements)) {
        where.count = static_cast<std::size_t>(std::min<std::int64_t>(block_elements, size - begin));
        std::int64_t inner = 1;
        for (std::size_t k = axes.size(); k-- > 0; inner *= extents[static_cast<std::size_t>(axes[k])])
            count_digits(begin, inner, extents[static_cast<std::size_t>(axes[k])], where.count, digits[k].data());
        f(where);
    }
}

/// at[i] = offset + sum of strides * indices of point i.
inline void locate(std::int64_t offset, const std::int64_t* strides, const index_block& where, indices& at) {
    std::fill_n(at.begin(), where.count, offset);
    for (std::size_t a = 0; a < where.on_axis.size(); ++a) {
        const std::int64_t stride = strides[a];
        if (stride == 0 || where.on_axis[a] == nullptr) continue;
        for (std::size_t i = 0; i < where.count; ++i) at[i] += stride * where.on_axis[a][i];
    }
}

}  // namespace ingot::runtime::interpreter
