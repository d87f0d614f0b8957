// Scattered sums, maxima and minima: over the elements that indices name, which may repeat. Sums have the same bits in
// every run: on the host values are added in the order of the indices, elsewhere floats are summed exactly first and
// then added once to each element.
#pragma once

#include <optional>
#include <utility>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/scans.hpp>

namespace ingot {

/// The type of `unordered`.
class unordered_t {
public:
    // Inner
    struct made {};
    constexpr explicit unordered_t(made) {}
};
/// The last argument of scatter_add that lets a GPU add floats in any order: faster, and the last bits may differ from
/// run to run.
///
///     array<float> sums = zeros<float>(3);
///     scatter_add(sums(array<int>{0, 2, 0}), 0.5f, unordered);
///     std::cout << sums;
///     // prints: [1.  0.  0.5]
inline constexpr unordered_t unordered{unordered_t::made{}};

namespace detail {

/// The target of scatter_add and the others: x(i, j) over an array that may be written, made in the call.
template <class S>
concept indexed_target = requires(S s) { s.template write<scatter_rule::set>("", 0); };

/// The range of elements that a layout reaches: the first, and their number.
struct reached_range {
    index_t first, count;
};
inline reached_range reached_by(const layout& where) {
    index_t first = where.offset, last = where.offset;
    for (int j = 0; j < where.rank(); ++j) {
        if (where.shape()[j] == 0) return {where.offset, 0};
        const index_t way = (where.shape()[j] - 1) * where.strides()[j];
        (way < 0 ? first : last) += way;
    }
    return {first, last - first + 1};
}

/// For each of n indices the sum of its weights; `at` has the index of each weight, negative for none. Finite weights
/// are summed as integers, in a unit of less than 2^-80 of the greatest at their index: so the bits do not depend on
/// the order, and a weight loses less than double precision loses in a sum with that greatest. Waits for whether all
/// are finite.
INGOT_API array<double> exact_sums(const char* operation, const array<index_t>& at, const array<double>& weights,
                                   index_t n);

/// exact_sums for float32 numbers, exact on a GPU.
INGOT_API array<double> exact_sums_of_singles(const char* operation, const array<index_t>& at,
                                              const array<float>& weights, index_t n);

/// The indices that sort a vector; the sort is stable.
INGOT_API array<index_t> ascending_order(const array<index_t>&);

/// The sums of weights, a vector in float32, float64 or complex128, at each of n indices, in double precision.
template <class W>
auto exact_sums_of(const char* operation, const array<index_t>& at, const array<W>& weights, index_t n) {
    if constexpr (complex_number<W>)
        return array<W>(complex_of(exact_sums(operation, at, array<double>(real(weights)), n),
                                   exact_sums(operation, at, array<double>(imag(weights)), n)));
    else if constexpr (std::same_as<W, float>)
        return exact_sums_of_singles(operation, at, weights, n);
    else
        return exact_sums(operation, at, weights, n);
}

/// Adds values to the elements with these numbers: values for one element are summed first, and the sum is added once,
/// so the bits do not depend on the order. Waits for whether all are finite. Where there are far fewer values than
/// elements, values are sorted first, and only elements with values have a sum.
template <class T, class Value, class Place>
void add_exactly(const char* operation, leaf<T>& target, const buffer* seen, Value value, const Place& place,
                 std::uint32_t own) {
    constexpr bool is_single = kind_of(dtype_of<T>) == kind::floating && sizeof(T) <= 4;
    using Sum = type_of<promote(dtype_of<T>, dtype::f8)>;
    using W = std::conditional_t<is_single, float, Sum>;
    const shape_like shape = shape_of_expression(place);
    shape_room from;
    view_room view;
    if (view_assigned(view, operation, value.extents(from), extents_ref::of(shape.values()))) value.apply(view, 0);
    const reached_range all = reached_by(target.where());
    std::optional<with_device> on;  // puts values without a device beside the target
    if (current_device() != target.on_device()) on.emplace(target.on_device());
    const array<deferred<index_t, T>> at(ravel(place) - all.first);
    array<W> weights(ravel(broadcast_to(as_values<W>(as_values<T>(value)), shape)));
    { const Value released(std::move(value)); }  // so that the target is written in place
    const index_t k = at.size();
    if (k == 0) return;
    const auto write = [&](const auto& sums, const auto& at_numbers) {
        // An element without values is not changed, nor is the sign of its zero.
        const auto chosen = where(sums != 0, at_numbers + all.first, index_t{-1});
        write_places<scatter_rule::add>(operation, target, seen, as_node(astype<T>(sums)), as_node(chosen), own);
    };
    if (all.count / 8 <= k) {
        write(exact_sums_of(operation, at, weights, all.count), position_along<T>(all.count, 0));
    } else {
        const array<deferred<index_t, T>> order = ascending_order(at);
        const array<deferred<index_t, T>> sorted(take<unchecked_mode>(at, order, 0));
        array<deferred<bool, T>> begins = ones<bool>(k);
        begins(slice(1, none)) = sorted(slice(1, none)) != sorted(slice(none, -1));
        const array<deferred<index_t, T>> number(cumsum(begins) - 1);
        weights = array<W>(take<unchecked_mode>(weights, order, 0));
        const array<Sum> sums = exact_sums_of(operation, number, weights, k);
        const array<Sum> of_each(where(begins, take<unchecked_mode>(sums, number, 0), Sum(0)));
        write(of_each, sorted);
    }
}

/// Adds e's values to the elements that x(i, ...) names; an element that occurs several times gets all its values:
/// scatter_add(x(i), 1) counts. The bits are the same in every run. On the host floats are added in the order of the
/// indices. On a GPU the values for one element are summed first, exactly but for bits beyond 2^-80 of the greatest,
/// and added once; the call waits for whether all values are finite, and therefore throws in a graph. With a last
/// `unordered` values are added in any order.
///
///     array<int> counts = zeros<int>(4);
///     scatter_add(counts(array<int>{1, 3, 1}), 1);
///     std::cout << counts;
///     // prints: [0 2 0 1]
template <indexed_target S, class E>
    requires assignable_to<E, typename S::value_type>
void scatter_add(S&& elements, E&& e, unordered_t) {
    elements.template write<scatter_rule::add>("scatter_add", std::forward<E>(e));
}
template <indexed_target S, class E>
    requires assignable_to<E, typename S::value_type>
void scatter_add(S&& elements, E&& e) {
    using T = typename S::value_type;
    if constexpr (kind_of(dtype_of<T>) == kind::floating || kind_of(dtype_of<T>) == kind::complex) {
        if (!elements.is_on_host())
            return elements.with_places([&](leaf<T>& target, const buffer* seen, const auto& place, std::uint32_t own) {
                add_exactly("scatter_add", target, seen, source_node<T>("scatter_add", std::forward<E>(e)), place, own);
            });
    }
    scatter_add(std::move(elements), std::forward<E>(e), unordered);
}
/// Replaces each element that x(i, ...) names by the maximum of it and e's values for it; NaN if one is NaN.
///
///     array<int> a = zeros<int>(3);
///     scatter_max(a(array<int>{0, 0, 2}), array<int>{5, 7, -1});
///     std::cout << a;
///     // prints: [7 0 0]
template <indexed_target S, class E>
    requires assignable_to<E, typename S::value_type> && (kind_of(S::type) != kind::complex)
void scatter_max(S&& elements, E&& e) {
    elements.template write<scatter_rule::max>("scatter_max", std::forward<E>(e));
}
/// Replaces each element that x(i, ...) names by the minimum of it and e's values for it; NaN if one is NaN.
///
///     array<int> a = zeros<int>(3);
///     scatter_min(a(array<int>{0, 0, 2}), array<int>{5, -7, 1});
///     std::cout << a;
///     // prints: [-7  0  0]
template <indexed_target S, class E>
    requires assignable_to<E, typename S::value_type> && (kind_of(S::type) != kind::complex)
void scatter_min(S&& elements, E&& e) {
    elements.template write<scatter_rule::min>("scatter_min", std::forward<E>(e));
}

}  // namespace detail

using detail::scatter_add;
using detail::scatter_max;
using detail::scatter_min;

}  // namespace ingot
