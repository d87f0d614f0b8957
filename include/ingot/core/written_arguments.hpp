// Marks the arrays that a user's kernel writes: k(x, out(y)), k(inout(z)).
#pragma once

#include <type_traits>

#include <ingot/core/array.hpp>

namespace ingot {

namespace detail {

/// The type of out(x) and inout(x).
template <class T>
struct written_argument {
    using value_type = T;
    array<T>& to;
    bool is_read;
};

template <class A>
inline constexpr bool is_written_argument = false;
template <class T>
inline constexpr bool is_written_argument<written_argument<T>> = true;

}  // namespace detail

/// Marks an array that a kernel writes and does not read: a raw kernel, or an elementwise kernel that is a statement.
/// An array that shares its memory with a copy first gets new, uninitialised memory: elements that a raw kernel does
/// not write are then unspecified.
///
///     const raw_kernel fill("extern \"C\" __global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }", "fill");
///     array<int> x = empty<int>(4);
///     fill(1, 4, out(x));
///     std::cout << x;
///     // prints: [0 1 2 3]
template <class T>
detail::written_argument<T> out(array<T>& x) {
    return {x, false};
}
/// An array that a raw kernel reads and writes. A copy that shares its memory does not change.
///
///     const raw_kernel next("extern \"C\" __global__ void next(int* x) { x[threadIdx.x] += 1; }", "next");
///     array<int> x{1, 2}, before = x;
///     next(1, 2, inout(x));
///     std::cout << x << ' ' << before;
///     // prints: [2 3] [1 2]
template <class T>
detail::written_argument<T> inout(array<T>& x) {
    return {x, true};
}

}  // namespace ingot
