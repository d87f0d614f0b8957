// Sums and products of two sparse matrices element by element: entries of both are sorted together by their keys.
#include <ingot/sparse/elementwise.hpp>

#include <string>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/complex_parts.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/rearranging.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/sparse/triplets.hpp"

namespace ingot::sparse {

namespace {

void check_same_shape(const char* operation, const shape_like& a, const shape_like& b) {
    if (a == b) return;
    throw shape_error("[" + std::string(operation) + "] shapes " + detail::to_text(a.values()) + " and " +
                      detail::to_text(b.values()) + " differ");
}

}  // namespace

template <sparse_element T, sparse_index I>
csr<T, I> added(const char* operation, const csr<T, I>& a, const csr<T, I>& b, int sign) {
    check_same_shape(operation, a.shape(), b.shape());
    const triplets<T> x = triplets_of(a), y = triplets_of(b);
    const array<T> others = sign < 0 ? array<T>(-y.values) : y.values;
    return csr_of<T, I>(operation, without_zeros(summed(joined(x.values, others), joined(x.keys, y.keys), x.extents)));
}

template <sparse_element T, sparse_index I>
array<T> added_to_dense(const char* operation, const array<T>& dense, const csr<T, I>& a, int sign) {
    check_same_shape(operation, dense.shape(), a.shape());
    const triplets<T> t = triplets_of(a);
    array<T> flat(ravel(dense));
    if (t.keys.size() != 0) {
        if (sign < 0)
            flat(t.keys) -= t.values;
        else
            flat(t.keys) += t.values;
    }
    return array<T>(reshape(flat, a.shape()));
}

template <sparse_element T, sparse_index I>
csr<T, I> multiply(const csr<T, I>& a, const csr<T, I>& b) {
    check_same_shape("multiply", a.shape(), b.shape());
    if (a.nnz() == 0 || b.nnz() == 0) {
        const with_device there(a.device());
        return csr<T, I>(a.shape());
    }
    const triplets<T> x = triplets_of(a), y = triplets_of(b);
    const array<index_t> all = joined(x.keys, y.keys), order(argsort(all)), keys = elements_at(all, order);
    const array<T> values = joined(x.values, y.values);
    const array<index_t> pair = flatnonzero(keys(slice(1, none)) == keys(slice(none, -1)));
    const array<T> first = elements_at(values, elements_at(order, pair));
    const array<T> second = elements_at(values, elements_at(order, array<index_t>(pair + 1)));
    return csr_of<T, I>("multiply",
                        without_zeros(triplets<T>{array<T>(first * second), elements_at(keys, pair), x.extents}));
}

template <sparse_element T, sparse_index I>
csr<T, I> multiply(const csr<T, I>& a, const array<T>& b) {
    check_same_shape("multiply", a.shape(), b.shape());
    const array<T> flat(ravel(b));
    const array<index_t> keys = triplets_of(a).keys;
    return a.map_values([&](const array<T>& v) { return v * elements_at(flat, keys); });
}

namespace {

/// Entries of value 1 with these keys of a matrix.
template <class I>
csr<float, I> marks_at(const char* operation, array<index_t> keys, const matrix_extents& extents, device where) {
    const with_device there(where);
    return csr_of<float, I>(operation, triplets<float>{ones<float>(keys.size()), std::move(keys), extents});
}

}  // namespace

template <sparse_element T, sparse_index I>
csr<float, I> marked(const char* operation, const csr<T, I>& a, const array<bool>& flags, bool is_true_of_zero) {
    if (is_true_of_zero)
        throw error("[" + std::string(operation) +
                    "] a number to which the elements that have no entry compare true; the result is dense: to_dense() "
                    "is to be compared");
    const triplets<T> x = triplets_of(a);
    return marks_at<I>(operation, elements_at(x.keys, true_places(flags)), x.extents, a.device());
}

template <sparse_element T, sparse_index I>
csr<float, I> compared(const char* operation, comparison how, const csr<T, I>& a, const csr<T, I>& b) {
    check_same_shape(operation, a.shape(), b.shape());
    const triplets<T> x = triplets_of(a), y = triplets_of(b);
    const index_t count = x.keys.size() + y.keys.size();
    if (count == 0) return csr<float, I>(a.shape());
    const array<index_t> both = joined(x.keys, y.keys), order(argsort(both)), keys = elements_at(both, order);
    const array<T> values = elements_at(joined(x.values, y.values), order);
    // Where both have an entry a's stands first. Elements without an entry are 0.
    const array<index_t> place = numbers_to(count, a.device());
    const auto is_first = roll(keys, -1) == keys && place != count - 1, is_second = roll(keys, 1) == keys && place != 0;
    const auto is_of_a = order < x.keys.size();
    const lazy<T> left = where(is_of_a, values, T(0)),
                  right = where(is_of_a, where(is_first, roll(values, -1), T(0)), values);
    const array<bool> flags = [&]() -> array<bool> {
        if constexpr (detail::complex_number<T>)
            return left != right && !is_second;
        else
            return (how == comparison::not_equal ? lazy<bool>(left != right)
                    : how == comparison::less    ? lazy<bool>(left < right)
                                                 : lazy<bool>(left > right)) &&
                   !is_second;
    }();
    return marks_at<I>(operation, elements_at(keys, true_places(flags)), x.extents, a.device());
}

#define INGOT_ELEMENTWISE(T, I)                                                                       \
    template INGOT_API csr<T, I> added(const char*, const csr<T, I>&, const csr<T, I>&, int);         \
    template INGOT_API array<T> added_to_dense(const char*, const array<T>&, const csr<T, I>&, int);  \
    template INGOT_API csr<T, I> multiply(const csr<T, I>&, const csr<T, I>&);                        \
    template INGOT_API csr<T, I> multiply(const csr<T, I>&, const array<T>&);                         \
    template INGOT_API csr<float, I> marked(const char*, const csr<T, I>&, const array<bool>&, bool); \
    template INGOT_API csr<float, I> compared(const char*, comparison, const csr<T, I>&, const csr<T, I>&);
INGOT_SPARSE_TYPES(INGOT_ELEMENTWISE)

}  // namespace ingot::sparse
