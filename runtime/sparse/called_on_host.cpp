// Calls of the functions that the host computes row by row: their arguments are read, their results made.
#include <span>

#include <ingot/core/complex_parts.hpp>
#include <ingot/core/creation.hpp>

#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/sparse/rows_on_host.hpp"
#include "runtime/sparse/triplets.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::sparse {

namespace {

/// The arrays of a csr, kept until the call is over.
template <class T, class I>
struct read_csr {
    read_csr(const csr<T, I>& a, runtime::stream_state& stream)
        : values(detail::contiguous_values_as<T>(a.values())),
          indices(detail::contiguous_values_as<I>(a.indices())),
          indptr(detail::contiguous_values_as<I>(a.indptr())) {
        const auto address = [&]<class V>(const detail::leaf<V>& l) -> const V* {
            if (!l.memory()) return nullptr;
            runtime::order_read(*l.memory(), stream);
            return static_cast<const V*>(l.memory()->data) + l.where().offset;
        };
        parts = {address(values), address(indices), address(indptr)};
    }
    detail::leaf<T> values;
    detail::leaf<I> indices, indptr;
    runtime::csr_parts parts{};
};

template <class V>
detail::leaf<V> made(const char* operation, index_t length, runtime::stream_state& stream) {
    detail::leaf<V> l = detail::new_leaf<V>(operation, std::span(&length, 1), stream.device);
    if (l.memory()) runtime::order_write(*l.memory(), stream);
    return l;
}
template <class V>
void* memory_of(const detail::leaf<V>& l) {
    return l.memory() ? l.memory()->data : nullptr;
}
template <class T, class I>
csr<T, I> csr_of_made(detail::leaf<T> values, detail::leaf<I> indices, detail::leaf<I> indptr, index_t rows,
                      index_t columns) {
    runtime::add(runtime::counter::library_calls);
    return csr<T, I>(typename csr<T, I>::sorted{}, array<T>(detail::adopted{}, std::move(values)),
                     array<I>(detail::adopted{}, std::move(indices)), array<I>(detail::adopted{}, std::move(indptr)),
                     rows, columns);
}

}  // namespace

template <class T, class I>
csr<T, I> transposed_on_host(const char* operation, const csr<T, I>& a) {
    const shape_like shape = a.shape();
    runtime::stream_state& stream = *runtime::context_on(a.indptr().as_leaf().on_device()).stream;
    const read_csr<T, I> from(a, stream);
    detail::leaf<T> values = made<T>(operation, a.nnz(), stream);
    detail::leaf<I> indices = made<I>(operation, a.nnz(), stream), indptr = made<I>(operation, shape[1] + 1, stream);
    runtime::transpose_on_host({detail::dtype_of<T>,
                                detail::dtype_of<I>,
                                from.parts,
                                shape[0],
                                shape[1],
                                {memory_of(values), memory_of(indices), memory_of(indptr)}});
    return csr_of_made<T, I>(std::move(values), std::move(indices), std::move(indptr), shape[1], shape[0]);
}

template <class T, class I>
csr<T, I> multiplied_on_host(const char* operation, const csr<T, I>& a, const csr<T, I>& b) {
    const index_t rows = a.shape()[0], columns = b.shape()[1];
    runtime::stream_state& stream = *runtime::context_on(a.indptr().as_leaf().on_device()).stream;
    const read_csr<T, I> x(a, stream), y(b, stream);
    detail::leaf<I> indptr = made<I>(operation, rows + 1, stream);
    runtime::csr_product p{detail::dtype_of<T>,
                           detail::dtype_of<I>,
                           x.parts,
                           y.parts,
                           rows,
                           columns,
                           1 + 4 * (a.nnz() + b.nnz()) / columns,
                           {nullptr, nullptr, memory_of(indptr)}};
    const index_t entries = runtime::count_products_on_host(p);
    check_width<I>(operation, {rows, columns}, entries);
    detail::leaf<T> values = made<T>(operation, entries, stream);
    detail::leaf<I> indices = made<I>(operation, entries, stream);
    p.to.values = memory_of(values), p.to.indices = memory_of(indices);
    runtime::write_products_on_host(p);
    return csr_of_made<T, I>(std::move(values), std::move(indices), std::move(indptr), rows, columns);
}

#define INGOT_CALLED(T, I)                                                \
    template csr<T, I> transposed_on_host(const char*, const csr<T, I>&); \
    template csr<T, I> multiplied_on_host(const char*, const csr<T, I>&, const csr<T, I>&);
INGOT_SPARSE_TYPES(INGOT_CALLED)

}  // namespace ingot::sparse
