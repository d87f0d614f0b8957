// Sorts a row only as far as it decides the elements at some positions: smaller ones are before each and greater ones
// behind. Elements are compared by in_order.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>

#include <ingot/core/shape.hpp>

#include "runtime/sorting/fast_sort.hpp"
#include "runtime/sorting/row_order.hpp"

namespace ingot::runtime {

/// Moves the elements for which f is true before the others, without a branch that depends on it.
template <class T, class F>
T* move_before(T* first, T* last, const F& f) {
    T* end = first;
    for (T* i = first; i != last; ++i) {
        const T x = *i;
        *i = *end;
        *end = x;
        end += f(x);
    }
    return end;
}

/// std::nth_element. A sample's element near kth's share of the row cuts off most of the others in a pass.
template <class T, class Before>
void select_element(T* first, T* kth, T* last, const Before& before) {
    constexpr std::size_t count = 32, margin = 3, worth_a_sample = 512;
    if (kth == first) return std::iter_swap(kth, std::min_element(first, last, before));
    if (kth + 1 == last) return std::iter_swap(kth, std::max_element(first, last, before));
    // Each pass leaves a part of the row, unless its sample is unlike the row.
    for (int passes = 0; passes < 40; ++passes) {
        const auto n = static_cast<std::size_t>(last - first);
        if (n < worth_a_sample) break;
        std::array<T, count> sample;
        for (std::size_t i = 0; i < count; ++i) sample[i] = first[n / count * i + n / count / 2];
        std::sort(sample.begin(), sample.end(), before);
        const std::size_t share = static_cast<std::size_t>(kth - first) * count / n;
        const T pivot = sample[share < count / 2 ? share + margin : share - margin];
        T* const less = move_before(first, last, [&](const T& x) { return before(x, pivot); });
        if (kth < less) {
            last = less;
        } else if (less != first) {
            first = less;
        } else {
            first = move_before(first, last, [&](const T& x) { return !before(pivot, x); });
            if (kth < first) return;
        }
    }
    std::nth_element(first, kth, last, before);
}

/// `positions` ascend; those of the first to the last element are decided.
template <class T, class Before>
void select_positions(T* row, T* first, T* last, std::span<const index_t> positions, const Before& before) {
    while (!positions.empty() && row + positions.front() < first) positions = positions.subspan(1);
    while (!positions.empty() && row + positions.back() >= last) positions = positions.first(positions.size() - 1);
    if (positions.empty()) return;
    const std::size_t middle = positions.size() / 2;
    T* const kth = row + positions[middle];
    select_element(first, kth, last, before);
    select_positions(row, first, kth, positions.first(middle), before);
    select_positions(row, kth + 1, last, positions.subspan(middle + 1), before);
}
template <class T>
void select_positions(T* row, std::size_t n, std::span<const index_t> positions) {
    constexpr std::size_t worth_vectors = 64, worth_selecting = 512;
    if constexpr (std::floating_point<T>) {
        if (n >= worth_vectors && n < worth_selecting) return fast_sort(row, n);
        T* const end = move_before(row, row + n, [](T x) { return x == x; });
        select_positions(row, row, end, positions, std::less<T>());
    } else {
        select_positions(row, row, row + n, positions, in_order());
    }
}

}  // namespace ingot::runtime
