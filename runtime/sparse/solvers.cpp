// Triangular systems: the check of their extents and diagonal, and the call.
#include <ingot/sparse/solvers.hpp>

#include <limits>
#include <string>

#include <ingot/core/creation.hpp>
#include <ingot/core/reductions.hpp>

#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/sparse/triplets.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::sparse {

template <sparse_element T, sparse_index I>
array<T> solved_triangular(const csr<T, I>& a, const array<T>& b, const triangular_options& how) {
    const shape_like own = a.shape(), given = b.shape();
    const auto fails = [&](const char* wanted) {
        return shape_error("[spsolve_triangular] the matrix has shape " + detail::to_text(own.values()) +
                           " and the right-hand side " + detail::to_text(given.values()) + "; " + wanted);
    };
    if (own[0] != own[1]) throw fails("a square matrix is wanted");
    if ((given.count() != 1 && given.count() != 2) || given[0] != own[0])
        throw fails("a right-hand side with as many rows as the matrix is wanted");
    const detail::device_id here = a.values().as_leaf().on_device(), there = b.as_leaf().on_device();
    if (here != detail::no_device && there != detail::no_device && here != there)
        detail::throw_two_devices("spsolve_triangular", here, there);
    const index_t width = given.count() == 1 ? 1 : given[1], rows = own[0];
    if (rows > std::numeric_limits<std::uint32_t>::max() / std::max<index_t>(width, 1))
        throw fails("fewer than 2^32 unknowns are wanted");
    if (!how.unit_diagonal && any(a.diagonal() == T(0)).item())
        throw linalg_error(
            "[spsolve_triangular] the diagonal has a 0; one without 0 is wanted, for this matrix is singular");
    if (rows * width == 0 || a.nnz() == 0) return b;
    runtime::stream_state& stream = *runtime::context_on(here).stream;
    detail::leaf<T> result = detail::new_leaf<T>("spsolve_triangular", given.values(), stream.device);
    const auto address = [&]<class V>(const detail::leaf<V>& l) {
        runtime::order_read(*l.memory(), stream);
        return static_cast<V*>(l.memory()->data) + l.where().offset;
    };
    const detail::leaf<T> values = detail::contiguous_values_as<T>(a.values());
    const detail::leaf<I> indices = detail::contiguous_values_as<I>(a.indices());
    const detail::leaf<I> indptr = detail::contiguous_values_as<I>(a.indptr());
    const detail::leaf<T> side = detail::contiguous_values_as<T>(b);
    detail::leaf<index_t> slots;
    void* scratch = nullptr;
    if (stream.device.is_cuda()) {
        const with_device on_it(a.device());
        slots = zeros<index_t>(1 + rows * width * runtime::slot_bytes(detail::dtype_of<T>) / 8).as_leaf();
        scratch = address(slots);
        runtime::order_write(*slots.memory(), stream);
    }
    runtime::order_write(*result.memory(), stream);
    runtime::libraries::triangular_solves(
        {detail::dtype_of<T>, detail::dtype_of<I>, address(values), address(indices), address(indptr), address(side),
         result.memory()->data, scratch, rows, width, how.lower, how.unit_diagonal},
        stream);
    runtime::add(runtime::counter::library_calls);
    return array<T>(detail::adopted{}, std::move(result));
}

#define INGOT_TRIANGULAR(T, I) \
    template INGOT_API array<T> solved_triangular(const csr<T, I>&, const array<T>&, const triangular_options&);
INGOT_SPARSE_TYPES(INGOT_TRIANGULAR)

}  // namespace ingot::sparse
