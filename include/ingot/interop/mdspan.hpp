// Arrays as mdspans: the standard library's where available, Kokkos's, CCCL's, or a type with their members. Such a
// view shows the array's own elements and owns nothing. asarray of interop.hpp makes an array from an mdspan.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <version>
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

#include <ingot/core/array.hpp>
#include <ingot/core/layout.hpp>

namespace ingot {
namespace detail {

/// An mdspan of elements T, or const T, that is constructed from a pointer and a mapping.
template <class M, class T>
concept mdspan_of =
    requires {
        typename M::extents_type;
        typename M::mapping_type;
        typename M::index_type;
        { M::extents_type::rank() } -> std::convertible_to<std::size_t>;
    } && std::same_as<std::remove_const_t<typename M::element_type>, T> &&
    std::constructible_from<M, typename M::element_type*, const typename M::mapping_type&>;

template <class Mapping>
using strides_of = std::remove_cvref_t<decltype(std::declval<const Mapping&>().strides())>;
/// A mapping that takes strides, as layout_stride's; others get their strides from their extents.
template <class Mapping, class Extents>
concept takes_strides = requires { typename strides_of<Mapping>; } &&
                        std::constructible_from<Mapping, const Extents&, const strides_of<Mapping>&>;

/// The strides of an mdspan, in elements. `wanted` has its static extents, and -1 where an extent is dynamic; its index
/// type counts to `most`. Throws shape_error where the array does not fit.
INGOT_API void strides_for_mdspan(const layout&, std::span<const index_t> wanted, index_t most, index_t* strides);
[[noreturn]] INGOT_API void throw_other_stride(const layout&, std::size_t axis, index_t stride, index_t wanted);

template <class M>
typename M::mapping_type mapping_of(const layout& where) {
    using extents = typename M::extents_type;
    using mapping = typename M::mapping_type;
    using index = typename M::index_type;
    constexpr std::size_t rank = extents::rank();
    index_t wanted[rank + 1], strides[rank + 1];
    for (std::size_t j = 0; j < rank; ++j) {
        const std::size_t fixed = extents::static_extent(j);
        wanted[j] = fixed == std::numeric_limits<std::size_t>::max() ? -1 : static_cast<index_t>(fixed);
    }
    const auto most = static_cast<unsigned long long>(std::numeric_limits<index>::max());
    const auto most_known = static_cast<unsigned long long>(std::numeric_limits<index_t>::max());
    strides_for_mdspan(where, {wanted, rank}, static_cast<index_t>(most < most_known ? most : most_known), strides);
    const extents shape = [&]<std::size_t... J>(std::index_sequence<J...>) {
        return extents(static_cast<index>(where.shape()[J])...);
    }(std::make_index_sequence<rank>{});
    if constexpr (takes_strides<mapping, extents>) {
        strides_of<mapping> given{};
        for (std::size_t j = 0; j < rank; ++j) given[j] = static_cast<index>(strides[j]);
        return mapping(shape, given);
    } else {
        const mapping own(shape);
        if constexpr (rank > 0)
            for (std::size_t j = 0; j < rank && where.size() != 0; ++j)
                if (const auto stride = static_cast<index_t>(own.stride(j));
                    where.shape()[j] != 1 && stride != strides[j])
                    throw_other_stride(where, j, strides[j], stride);
        return own;
    }
}

}  // namespace detail

/// The array's elements as an mdspan M: std::mdspan, Kokkos's or CCCL's, or a type that has `element_type`,
/// `index_type`, `extents_type` and `mapping_type` and is constructed from a pointer and a mapping, with any layout:
/// layout_stride takes every array whose strides are positive, layout_right one in C order. It is valid as long as the
/// array is and is not assigned to. Where M's elements are not const it writes, as mutable_data() does: the array
/// un-shares its buffer, and its later copies are deep. On a GPU the pointer is to its memory, and nothing waits.
///
/// Throws shape_error where the array has other axes or extents than M, strides that M's layout does not have, or more
/// elements than M's indices count; read_only_error where M writes and the array's memory is read-only.
///
///     struct plane {  // std::mdspan<float, std::dextents<int, 2>, std::layout_stride> has all this
///         using element_type = float;
///         using index_type = int;
///         struct extents_type {
///             extents_type(int rows, int columns) : sizes{rows, columns} {}
///             static constexpr std::size_t rank() { return 2; }
///             static constexpr std::size_t static_extent(std::size_t) { return std::size_t(-1); }
///             int sizes[2];
///         };
///         struct mapping_type {
///             mapping_type(const extents_type&, const std::array<int, 2>& given) : steps(given) {}
///             std::array<int, 2> strides() const { return steps; }
///             std::array<int, 2> steps;
///         };
///         plane(float* first, const mapping_type& by) : data(first), steps(by.steps) {}
///         float& at(int i, int j) const { return data[i * steps[0] + j * steps[1]]; }
///         float* data;
///         std::array<int, 2> steps;
///     };
///     with_device on_the_host(device::host());
///     array<float> m{{1, 2, 3}, {4, 5, 6}};
///     to_mdspan<plane>(m).at(1, 2) = 60;
///     std::cout << m;
///     // prints: [[ 1.  2.  3.]
///     //          [ 4.  5. 60.]]
template <class M, class T>
    requires detail::mdspan_of<M, T> && std::is_const_v<typename M::element_type>
M to_mdspan(const array<T>& x) {
    return M(x.data(), detail::mapping_of<M>(x.as_leaf().where()));
}
template <class M, class T>
    requires detail::mdspan_of<M, T>
M to_mdspan(array<T>& x) {
    if constexpr (std::is_const_v<typename M::element_type>) {
        return to_mdspan<M>(std::as_const(x));
    } else {
        const auto mapping = detail::mapping_of<M>(std::as_const(x).as_leaf().where());  // checks before un-sharing
        return M(x.mutable_data(), mapping);
    }
}
template <class M, class T>
M to_mdspan(array<T>&&) = delete;  // nothing would own the memory

#ifdef __cpp_lib_mdspan
/// The standard library's mdspan, of this rank and any strides: to_mdspan<2>(x).
template <std::size_t Rank, class T>
std::mdspan<T, std::dextents<index_t, Rank>, std::layout_stride> to_mdspan(array<T>& x) {
    return to_mdspan<std::mdspan<T, std::dextents<index_t, Rank>, std::layout_stride>>(x);
}
template <std::size_t Rank, class T>
std::mdspan<const T, std::dextents<index_t, Rank>, std::layout_stride> to_mdspan(const array<T>& x) {
    return to_mdspan<std::mdspan<const T, std::dextents<index_t, Rank>, std::layout_stride>>(x);
}
template <std::size_t Rank, class T>
void to_mdspan(array<T>&&) = delete;
#endif

}  // namespace ingot
