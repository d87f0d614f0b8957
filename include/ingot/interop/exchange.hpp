// Arrays over memory of other libraries: spans, types with the members of an mdspan, and __cuda_array_interface__. All
// of them are shared, not copied: an array over somebody else's memory writes there (unowned_memory), an array over
// const memory is read-only. DLPack is in dlpack.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/memory.hpp>

namespace ingot {
namespace detail {

/// std::mdspan, Kokkos's and CCCL's, or another type with these members, over elements in plain memory.
template <class M>
concept mdspan_like =
    requires(const M& m) {
        { m.data_handle() } -> std::convertible_to<const void*>;
        { m.extents().extent(0) } -> std::convertible_to<index_t>;
        { m.stride(0) } -> std::convertible_to<index_t>;
        { m.extents().rank() } -> std::convertible_to<std::size_t>;
    } && std::is_pointer_v<std::remove_cvref_t<decltype(std::declval<const M&>().data_handle())>> &&
    element_type<std::remove_cvref_t<decltype(*std::declval<const M&>().data_handle())>>;

template <mdspan_like M>
using element_of = std::remove_cvref_t<decltype(*std::declval<const M&>().data_handle())>;

/// Somebody else's elements: their address, layout and owner. Strides are in elements.
struct lent_elements {
    const char* operation;
    const void* first;
    bool read_only;
    const shape_like& shape;
    const shape_like* strides;
    device_id device;
};
INGOT_API void adopt_elements(destination, const lent_elements&);
[[noreturn]] INGOT_API void throw_no_strides();

template <class T, class Owner>
void keep_owner(const leaf<T>& l, Owner owner) {
    l.memory()->end_argument = new Owner(std::move(owner));
    l.memory()->end = [](void* kept) { delete static_cast<Owner*>(kept); };
}

template <class M>
auto over_mdspan(const M& m, device_id device) {
    using T = element_of<M>;
    if constexpr (requires { m.is_strided(); })
        if (!m.is_strided()) throw_no_strides();
    index_t numbers[2][max_rank + 1];
    std::size_t rank = 0;
    for (; rank < static_cast<std::size_t>(m.extents().rank()) && rank <= max_rank; ++rank) {
        numbers[0][rank] = static_cast<index_t>(m.extents().extent(rank));
        numbers[1][rank] = static_cast<index_t>(m.stride(rank));
    }
    const shape_like shape(std::span<const index_t>(numbers[0], rank)),
        strides(std::span<const index_t>(numbers[1], rank));
    leaf<T> l;
    adopt_elements({dtype_of<T>, l.memory(), l.where()},
                   {"asarray", m.data_handle(), std::is_const_v<std::remove_pointer_t<decltype(m.data_handle())>>,
                    shape, &strides, device});
    return l;
}

}  // namespace detail

/// An array over the elements of an mdspan: std::mdspan, Kokkos's and CCCL's, or a type with `data_handle()`,
/// `extents()` and `stride(axis)`. The memory is shared and is on the host, or on the device given; const elements make
/// it read-only. An owner, such as a std::shared_ptr, is held as long as the memory is used. Throws shape_error for a
/// layout without strides, device_error where the pointer is null or no memory of the device.
///
///     struct column_major {                             // as an mdspan of layout_left
///         float* data;
///         struct shape_of {
///             std::size_t rank() const { return 2; }
///             int extent(std::size_t axis) const { return axis == 0 ? 2 : 3; }
///         };
///         float* data_handle() const { return data; }
///         shape_of extents() const { return {}; }
///         int stride(std::size_t axis) const { return axis == 0 ? 1 : 2; }
///     };
///     float values[] = {1, 2, 3, 4, 5, 6};
///     array<float> m = asarray(column_major{values});
///     m(0, 1) = 30;
///     std::cout << m << ' ' << values[2];
///     // prints: [[ 1. 30.  5.]
///     //          [ 2.  4.  6.]] 30
template <detail::mdspan_like M>
auto asarray(const M& m, ingot::device device = ingot::device::host()) {
    return array<detail::element_of<M>>(detail::adopted{}, detail::over_mdspan(m, device));
}
template <detail::mdspan_like M, class Owner>
auto asarray(const M& m, ingot::device device, Owner owner) {
    const auto l = detail::over_mdspan(m, device);
    detail::keep_owner(l, std::move(owner));
    return array<detail::element_of<M>>(detail::adopted{}, l);
}

/// An array over the elements of a span, along one axis or in C order of a shape; asarray copies them. The memory is
/// shared and is on the host, or on the device given; const elements make it read-only. Throws shape_error where the
/// span has too few elements for the shape.
///
///     std::vector<int> values{1, 2, 3, 4};
///     array<int> m = frombuffer(std::span(values), {2, 2});
///     m += 10;
///     std::cout << values[3] << ' ' << frombuffer(std::span<const int>(values))(0);
///     // prints: 14 11
template <class T>
    requires element_type<std::remove_const_t<T>>
array<std::remove_const_t<T>> frombuffer(std::span<T> values, const shape_like& shape,
                                         ingot::device device = ingot::device::host()) {
    return asarray<std::remove_const_t<T>>(unowned_memory(values.data(), values.size_bytes(), device), shape);
}
template <class T>
    requires element_type<std::remove_const_t<T>>
array<std::remove_const_t<T>> frombuffer(std::span<T> values, ingot::device device = ingot::device::host()) {
    return frombuffer(values, shape_like(values.size()), device);
}

/// The __cuda_array_interface__, version 3, of objects of Numba, CuPy, PyTorch and RAPIDS. It does not own the memory:
/// its maker does.
///
///     cuda_array_interface of{.shape = {2, 3}, .typestr = "<f4"};
///     std::cout << of.shape << of.version << (of.data == nullptr) << of.read_only << of.strides.has_value();
///     std::cout << (of.stream == nullptr);
///     // prints: (2, 3)31001
struct cuda_array_interface {
    shape_like shape;
    std::string typestr;                  // "<f4": byte order, kind, bytes
    void* data = nullptr;                 // on the GPU
    bool read_only = false;               // the second part of Python's `data`
    std::optional<shape_like> strides{};  // in bytes; without: C order
    int version = 3;
    void* stream = nullptr;  // the memory is ready on it; 1 and 2 are CUDA's default ones; null: no wait needed
};

namespace detail {

INGOT_API cuda_array_interface interface_of(dtype, const buffer_ref& memory, const layout& where, bool read_only);
/// The interface of an array that others may write; its buffer is un-shared after all checks.
INGOT_API cuda_array_interface interface_to_write(dtype, buffer_ref& memory, const layout& where);
INGOT_API void adopt_interface(destination, const cuda_array_interface&);

}  // namespace detail

/// The interface of an array on a GPU; valid as long as the array is and is not assigned to. `stream` is the current
/// one: the memory is ready on it, and Ingot's next use waits for its present work. If the array may be written, others
/// may write it, as after mutable_data(); a const array is read-only. Throws device_error where the array is on a host,
/// dtype_error for bfloat16, for which the interface has no name.
///
///     if (device::cuda_count() > 0) {
///         array<float> x = array<float>{1, 2, 3}.to(device::cuda());
///         std::cout << to_cuda_array_interface(x).typestr;
///     } else {
///         std::cout << "<f4";
///     }
///     // prints: <f4
template <class T>
cuda_array_interface to_cuda_array_interface(array<T>& x) {
    detail::leaf<T>& l = detail::access::target(x);
    return detail::interface_to_write(detail::dtype_of<T>, l.memory(), l.where());
}
template <class T>
cuda_array_interface to_cuda_array_interface(const array<T>& x) {
    return detail::interface_of(detail::dtype_of<T>, x.as_leaf().memory(), x.as_leaf().where(), true);
}
template <class T>
cuda_array_interface to_cuda_array_interface(array<T>&&) = delete;  // nothing would own the memory

/// An array over the memory of somebody else's interface, on the pointer's GPU. The current stream waits for the
/// interface's. The owner, which keeps the memory, is held as long as it is used. Throws dtype_error where the elements
/// are not T, device_error where there is no GPU or the pointer is not a GPU's, shape_error for strides that are no
/// multiples of an element's bytes, and error for a version other than 2 or 3.
///
///     try {
///         from_cuda_array_interface<double>({.shape = {2}, .typestr = "<f4"});
///     } catch (const dtype_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [from_cuda_array_interface] the elements are <f4, and float64, <f8, is wanted
template <element_type T>
array<T> from_cuda_array_interface(const cuda_array_interface& of) {
    detail::leaf<T> l;
    detail::adopt_interface({detail::dtype_of<T>, l.memory(), l.where()}, of);
    return array<T>(detail::adopted{}, std::move(l));
}
template <element_type T, class Owner>
array<T> from_cuda_array_interface(const cuda_array_interface& of, Owner owner) {
    detail::leaf<T> l;
    detail::adopt_interface({detail::dtype_of<T>, l.memory(), l.where()}, of);
    detail::keep_owner(l, std::move(owner));
    return array<T>(detail::adopted{}, std::move(l));
}

}  // namespace ingot
