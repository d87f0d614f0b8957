// Sums, products and comparisons of two sparse matrices element by element: their sorted rows are merged.
#include <ingot/sparse/elementwise.hpp>

#include <span>
#include <string>
#include <type_traits>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/complex_parts.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/scatter.hpp>

#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/sparse/triplets.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::sparse {

using runtime::merge_rule;

namespace {

void check_same_shape(const char* operation, const shape_like& a, const shape_like& b) {
    if (a == b) return;
    throw shape_error("[" + std::string(operation) + "] shapes " + detail::to_text(a.values()) + " and " +
                      detail::to_text(b.values()) + " were given; operands of one shape are wanted");
}

template <class R, class T, class I>
csr<R, I> merged(const char* operation, merge_rule rule, const csr<T, I>& a, const csr<T, I>& b) {
    const shape_like shape = a.shape();
    check_same_shape(operation, shape, b.shape());
    check_one_device(operation, a.indptr(), b.indptr());
    const with_device there(a.indptr().device());
    if (a.nnz() + b.nnz() == 0) return csr<R, I>(shape);
    runtime::stream_state& stream = *runtime::context_on(a.indptr().as_leaf().on_device()).stream;
    const detail::leaf<T> values[] = {detail::contiguous_values_as<T>(a.values()),
                                      detail::contiguous_values_as<T>(b.values())};
    const detail::leaf<I> indices[] = {detail::contiguous_values_as<I>(a.indices()),
                                       detail::contiguous_values_as<I>(b.indices())};
    const detail::leaf<I> indptr[] = {detail::contiguous_values_as<I>(a.indptr()),
                                      detail::contiguous_values_as<I>(b.indptr())};
    const auto read_at = [&]<class V>(const detail::leaf<V>& l) -> V* {
        if (!l.memory()) return nullptr;
        runtime::order_read(*l.memory(), stream);
        return static_cast<V*>(l.memory()->data) + l.where().offset;
    };
    const auto parts = [&](int k) -> runtime::csr_parts {
        return {read_at(values[k]), read_at(indices[k]), read_at(indptr[k])};
    };
    const auto made = [&]<class V>(std::type_identity<V>, index_t length) {
        detail::leaf<V> l = detail::new_leaf<V>(operation, std::span(&length, 1), stream.device);
        runtime::order_write(*l.memory(), stream);
        return l;
    };
    const index_t items = shape[0] + a.nnz() + b.nnz(), piece = runtime::items_of_piece(stream.device.is_cuda());
    const auto counts = made(std::type_identity<index_t>{}, (items + piece - 1) / piece);
    runtime::sparse_merge m{rule, detail::dtype_of<T>, detail::dtype_of<I>, parts(0), parts(1), shape[0], items};
    m.counts = static_cast<index_t*>(counts.memory()->data);
    runtime::libraries::merge_counts(m, stream);
    const array<index_t> sums(cumsum(array<index_t>(detail::adopted{}, counts)));
    const index_t entries = sums(-1).item();
    if (entries == 0) return csr<R, I>(shape);
    check_width<I>(operation, {shape[0], shape[1]}, entries);
    const auto result = made(std::type_identity<R>{}, entries);
    const auto columns = made(std::type_identity<I>{}, entries), starts = made(std::type_identity<I>{}, shape[0] + 1);
    m.a = parts(0), m.b = parts(1);
    m.counts = read_at(sums.as_leaf());
    m.values = result.memory()->data, m.indices = columns.memory()->data, m.indptr = starts.memory()->data;
    runtime::libraries::merges(m, stream);
    runtime::add(runtime::counter::library_calls);
    return csr<R, I>(typename csr<R, I>::sorted{}, array<R>(detail::adopted{}, result),
                     array<I>(detail::adopted{}, columns), array<I>(detail::adopted{}, starts), shape[0], shape[1]);
}

}  // namespace

template <sparse_element T, sparse_index I>
csr<T, I> added(const char* operation, const csr<T, I>& a, const csr<T, I>& b, int sign) {
    return merged<T>(operation, sign < 0 ? merge_rule::subtract : merge_rule::add, a, b);
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
    return merged<T>("multiply", merge_rule::multiply, a, b);
}

template <sparse_element T, sparse_index I>
csr<T, I> multiply(const csr<T, I>& a, const array<T>& b) {
    check_same_shape("multiply", a.shape(), b.shape());
    const array<T> flat(ravel(b));
    const array<index_t> keys = triplets_of(a).keys;
    return a.map_values([&](const array<T>& v) { return v * elements_at(flat, keys); });
}

template <sparse_element T, sparse_index I>
csr<float, I> marked(const char* operation, const csr<T, I>& a, const array<bool>& flags, bool is_true_of_zero) {
    if (is_true_of_zero)
        throw error(
            "[" + std::string(operation) +
            "] this comparison is true for elements without an entry, which are 0, so its result would be dense; "
            "compare a.to_dense() instead");
    const triplets<T> x = triplets_of(a);
    const with_device there(a.device());
    array<index_t> keys = elements_at(x.keys, true_places(flags));
    return csr_of<float, I>(operation, triplets<float>{ones<float>(keys.size()), std::move(keys), x.extents});
}

template <sparse_element T, sparse_index I>
csr<float, I> compared(const char* operation, comparison how, const csr<T, I>& a, const csr<T, I>& b) {
    constexpr merge_rule rules[] = {merge_rule::not_equal, merge_rule::less, merge_rule::greater};
    return merged<float>(operation, rules[static_cast<int>(how)], a, b);
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
