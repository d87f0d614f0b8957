// Products of sparse matrices with dense operands: the check of their extents, and the call.
#include <algorithm>
#include <string>

#include <ingot/core/complex_parts.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/core/views.hpp>
#include <ingot/sorting/searching.hpp>

#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/sparse/product.hpp"
#include "runtime/sparse/triplets.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::sparse {

namespace {

/// Throws shape_error unless x is a vector or a matrix of that many rows, and device_error where it is elsewhere.
template <class T, class I>
void check_operand(const csr<T, I>& a, const array<T>& x, bool is_transposed) {
    const shape_like own = a.shape(), given = x.shape();
    const index_t wanted = own[is_transposed ? 0 : 1];
    if ((given.count() != 1 && given.count() != 2) || given[0] != wanted)
        throw shape_error("[matmul] a " + std::string(is_transposed ? "transposed " : "") + "sparse matrix of shape " +
                          detail::to_text(own.values()) + " is multiplied by an array of shape " +
                          detail::to_text(given.values()) + "; a vector or a matrix with " + std::to_string(wanted) +
                          " rows is wanted");
    if (const detail::device_id here = a.values().as_leaf().on_device(), there = x.as_leaf().on_device();
        here != detail::no_device && there != detail::no_device && here != there)
        detail::throw_two_devices("matmul", here, there);
}

template <class T, class I>
array<T> product_by_library(const csr<T, I>& a, const array<T>& x, bool is_transposed) {
    const shape_like own = a.shape(), given = x.shape();
    const index_t width = given.count() == 1 ? 1 : given[1], extent = own[is_transposed ? 1 : 0];
    const shape_like made = given.count() == 1 ? shape_like{extent} : shape_like{extent, width};
    if (a.nnz() == 0 || extent * width == 0) {
        const with_device there(a.device());
        return zeros<T>(made);
    }
    runtime::stream_state& stream = *runtime::context_on(a.values().as_leaf().on_device()).stream;
    detail::leaf<T> result = detail::new_leaf<T>("matmul", made.values(), stream.device);
    const auto address = [&]<class V>(const detail::leaf<V>& l) -> const void* {
        runtime::order_read(*l.memory(), stream);
        return static_cast<const V*>(l.memory()->data) + l.where().offset;
    };
    const detail::leaf<T> values = detail::contiguous_values_as<T>(a.values());
    const detail::leaf<I> indices = detail::contiguous_values_as<I>(a.indices());
    const detail::leaf<I> indptr = detail::contiguous_values_as<I>(a.indptr());
    const detail::leaf<T> operand = detail::contiguous_values_as<T>(x);
    runtime::order_write(*result.memory(), stream);
    runtime::libraries::sparse_products(
        {detail::dtype_of<T>, detail::dtype_of<I>, address(values), address(indices), address(indptr), address(operand),
         result.memory()->data, own[0], own[1], width, a.nnz(), is_transposed},
        stream);
    runtime::add(runtime::counter::library_calls);
    return array<T>(detail::adopted{}, std::move(result));
}

}  // namespace

template <sparse_element T, sparse_index I>
array<T> csr<T, I>::product(const array<T>& x) const {
    check_operand(*this, x, false);
    return product_by_library(*this, x, false);
}

template <sparse_element T, sparse_index I>
array<T> csr<T, I>::transposed_product(const array<T>& x) const {
    check_operand(*this, x, true);
    if (device().is_host() || nnz() == 0 || x.size() == 0) return product_by_library(*this, x, true);
    // On a GPU entries are brought together by their columns.
    return product_by_library(transpose().to_csr(), x, false);
}

template <sparse_element T, sparse_index I>
array<T> csr<T, I>::product_from_left(const array<T>& x) const {
    if (x.ndim() == 1) return transposed_product(x);
    return array<T>(ingot::transpose(transposed_product(array<T>(ingot::transpose(x)))));
}

#define INGOT_PRODUCTS(T, I)                                                          \
    template INGOT_API array<T> csr<T, I>::product(const array<T>&) const;            \
    template INGOT_API array<T> csr<T, I>::transposed_product(const array<T>&) const; \
    template INGOT_API array<T> csr<T, I>::product_from_left(const array<T>&) const;
INGOT_SPARSE_TYPES(INGOT_PRODUCTS)

}  // namespace ingot::sparse
