// DLPack in both directions: arrays that share memory with PyTorch, CuPy, JAX, NumPy and other libraries that support
// it. The structs are those of dlpack.h 1.0 under Ingot's own names. Every function also takes the types of that
// header, recognised by their members: to_dlpack<DLManagedTensor>(x), from_dlpack<float>(capsule).
//
// Ownership passes as in Python's protocol: where from_dlpack throws, the tensor stays its owner's; where it returns,
// the tensor's deleter is called once, when the last array over the memory is gone and the streams that use it have
// passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/device.hpp>
#include <ingot/files/npy.hpp>

namespace ingot {

namespace dlpack {

/// The device of memory: DLDevice. The kinds that Ingot knows are the constants below.
///
///     dlpack::managed_tensor_versioned* m = to_dlpack(array<int>{1}.to(device::host()));
///     std::cout << (m->dl_tensor.device.device_type == dlpack::cpu) << m->dl_tensor.device.device_id;
///     m->deleter(m);
///     // prints: 10
struct device_ref {
    std::int32_t device_type;
    std::int32_t device_id;
};
/// DLDeviceType's values for the host, a GPU, page-locked host memory and managed memory.
///
///     std::cout << dlpack::cpu << dlpack::cuda << dlpack::cuda_host << dlpack::cuda_managed;
///     // prints: 12313
inline constexpr std::int32_t cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13;

/// The type of an element: DLDataType.
///
///     dlpack::managed_tensor_versioned* m = to_dlpack(array<float>{1});
///     std::cout << int{m->dl_tensor.dtype.code} << ' ' << int{m->dl_tensor.dtype.bits} << ' ' <<
///     m->dl_tensor.dtype.lanes; m->deleter(m);
///     // prints: 2 32 1
struct data_type {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

/// Somebody else's elements: DLTensor. Strides are in elements, null for C order.
///
///     dlpack::managed_tensor_versioned* m = to_dlpack(array<float>{{1, 2, 3}, {4, 5, 6}});
///     const dlpack::tensor& t = m->dl_tensor;
///     std::cout << t.ndim << ' ' << t.shape[1] << ' ' << t.strides[0] << ' ' << t.byte_offset;
///     m->deleter(m);
///     // prints: 2 3 3 0
struct tensor {
    void* data;
    device_ref device;
    std::int32_t ndim;
    data_type dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};

/// A tensor and its deleter, as before DLPack 1.0: DLManagedTensor.
///
///     auto* m = to_dlpack<dlpack::managed_tensor>(array<float>{1, 2});
///     std::cout << m->dl_tensor.shape[0];
///     m->deleter(m);
///     // prints: 2
struct managed_tensor {
    tensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(managed_tensor* self);
};

/// The version of DLPack of a tensor: DLPackVersion.
///
///     dlpack::managed_tensor_versioned* m = to_dlpack(array<float>{1});
///     std::cout << m->version.major << '.' << m->version.minor;
///     m->deleter(m);
///     // prints: 1.0
struct version {
    std::uint32_t major;
    std::uint32_t minor;
};

/// A tensor with its version and flags: DLManagedTensorVersioned.
///
///     const array<float> kept{1, 2};
///     dlpack::managed_tensor_versioned* m = to_dlpack(kept);
///     std::cout << ((m->flags & dlpack::read_only) != 0);
///     m->deleter(m);
///     // prints: 1
struct managed_tensor_versioned {
    dlpack::version version;
    void* manager_ctx;
    void (*deleter)(managed_tensor_versioned* self);
    std::uint64_t flags;
    tensor dl_tensor;
};
/// The flag DLPACK_FLAG_BITMASK_READ_ONLY.
///
///     std::cout << dlpack::read_only;
///     // prints: 1
inline constexpr std::uint64_t read_only = 1;

static_assert(sizeof(tensor) == 48 && offsetof(tensor, device) == 8 && offsetof(tensor, ndim) == 16 &&
              offsetof(tensor, dtype) == 20 && offsetof(tensor, shape) == 24 && offsetof(tensor, strides) == 32 &&
              offsetof(tensor, byte_offset) == 40);
static_assert(sizeof(managed_tensor) == 64 && offsetof(managed_tensor, manager_ctx) == 48 &&
              offsetof(managed_tensor, deleter) == 56);
static_assert(sizeof(managed_tensor_versioned) == 80 && offsetof(managed_tensor_versioned, manager_ctx) == 8 &&
              offsetof(managed_tensor_versioned, deleter) == 16 && offsetof(managed_tensor_versioned, flags) == 24 &&
              offsetof(managed_tensor_versioned, dl_tensor) == 32);

}  // namespace dlpack

namespace detail {

/// DLManagedTensor, either Ingot's or that of dlpack.h.
template <class M>
concept managed_tensor = sizeof(M) >= sizeof(dlpack::managed_tensor) && requires(M& m) {
    m.dl_tensor.device.device_type;
    m.dl_tensor.dtype.lanes;
    m.dl_tensor.byte_offset;
    m.manager_ctx;
    m.deleter(&m);
};
template <class M>
concept versioned_tensor = managed_tensor<M> && requires(M& m) {
    m.version.major;
    m.flags;
};

/// The state of an export until its deleter is called.
struct exported_tensor;
/// Exports the memory as a tensor. `shared`: both sides see writes. The work of `for_stream`, or of the current stream
/// where it is null, waits for the array's.
INGOT_API exported_tensor& export_tensor(dtype, const buffer_ref& memory, const layout& where, bool shared,
                                         const stream* for_stream);
/// Exports an array for writing; its buffer is un-shared after all checks.
INGOT_API exported_tensor& export_to_write(dtype, buffer_ref& memory, const layout& where, const stream* for_stream);
INGOT_API dlpack::tensor described(exported_tensor&) noexcept;
INGOT_API bool is_read_only(const exported_tensor&) noexcept;
INGOT_API void end_export(void* exported) noexcept;
[[noreturn]] INGOT_API void throw_needs_version();

/// A tensor to take over, and its deleter.
struct foreign_tensor {
    dlpack::tensor what;
    bool read_only = false;
    void* self = nullptr;
    void (*end)(void* self) = nullptr;
};
/// Throws dtype_error where Ingot does not have the dtype.
INGOT_API dtype dtype_of_tensor(const dlpack::tensor&);
INGOT_API void import_tensor(destination, const foreign_tensor&, const stream* on);
[[noreturn]] INGOT_API void throw_no_tensor();
[[noreturn]] INGOT_API void throw_unknown_version(std::uint32_t major, std::uint32_t minor);

template <managed_tensor M>
foreign_tensor as_foreign(M* m) {
    if (m == nullptr) throw_no_tensor();
    foreign_tensor t{};
    if constexpr (versioned_tensor<M>) {
        if (m->version.major != 1) throw_unknown_version(m->version.major, m->version.minor);
        t.read_only = (m->flags & dlpack::read_only) != 0;
    }
    // Members are assigned one by one: a copy of a struct just assembled would wait for its stores.
    const auto& from = m->dl_tensor;
    t.what.data = from.data;
    t.what.device.device_type = static_cast<std::int32_t>(from.device.device_type);
    t.what.device.device_id = from.device.device_id;
    t.what.ndim = from.ndim;
    t.what.dtype.code = from.dtype.code;
    t.what.dtype.bits = from.dtype.bits;
    t.what.dtype.lanes = from.dtype.lanes;
    t.what.shape = from.shape;
    t.what.strides = from.strides;
    t.what.byte_offset = from.byte_offset;
    t.self = m;
    t.end = [](void* self) {
        M* const ended = static_cast<M*>(self);
        if (ended->deleter) ended->deleter(ended);
    };
    return t;
}

template <managed_tensor M>
M* as_managed(exported_tensor& e) {
    M* m = nullptr;
    try {
        if (!versioned_tensor<M> && is_read_only(e)) throw_needs_version();
        m = new M{};
    } catch (...) {
        end_export(&e);
        throw;
    }
    const dlpack::tensor from = described(e);
    auto& to = m->dl_tensor;
    to.data = from.data;
    to.device.device_type = static_cast<decltype(to.device.device_type)>(from.device.device_type);
    to.device.device_id = from.device.device_id;
    to.ndim = from.ndim;
    to.dtype.code = from.dtype.code;
    to.dtype.bits = from.dtype.bits;
    to.dtype.lanes = from.dtype.lanes;
    to.shape = from.shape;
    to.strides = from.strides;
    to.byte_offset = 0;
    if constexpr (versioned_tensor<M>) {
        m->version.major = 1;
        m->version.minor = 0;
        m->flags = is_read_only(e) ? dlpack::read_only : 0;
    }
    m->manager_ctx = &e;
    m->deleter = [](M* self) {
        end_export(self->manager_ctx);
        delete self;
    };
    return m;
}

template <managed_tensor M, class T>
M* as_shared(array<T>& x, const stream* for_stream) {
    leaf<T>& l = access::target(x);
    return as_managed<M>(export_to_write(dtype_of<T>, l.memory(), l.where(), for_stream));
}
template <managed_tensor M, class T>
M* as_read_alone(const array<T>& x, const stream* for_stream) {
    return as_managed<M>(export_tensor(dtype_of<T>, x.as_leaf().memory(), x.as_leaf().where(), false, for_stream));
}

}  // namespace detail

/// Exports the array as a DLPack tensor over the same memory, which lives until the caller, or the tensor's new owner,
/// calls `m->deleter(m)`. If the array may be written, both sides see each other's writes, as after mutable_data(): its
/// buffer is un-shared first and its later copies are deep. A const array is exported read-only and keeps its values: a
/// later write to it goes elsewhere. M is dlpack::managed_tensor_versioned or dlpack::managed_tensor, or those of
/// dlpack.h; the latter has no read-only flag, so a const array needs the former.
///
/// `for_stream` is the consumer's stream, by default the current one: the consumer's later work on it runs behind the
/// array's kernels, and Ingot's work on other streams behind the consumer's work up to then. Throws device_error where
/// DLPack has no name for the array's device, read_only_error where the array's memory is read-only and M is not
/// versioned.
///
///     array<float> x{{1, 2, 3}, {4, 5, 6}};
///     dlpack::managed_tensor_versioned* m = to_dlpack(x);
///     array<float> same = from_dlpack<float>(m);      // now it is this array that calls the deleter
///     same *= 10;
///     std::cout << x;
///     // prints: [[10. 20. 30.]
///     //          [40. 50. 60.]]
template <detail::managed_tensor M = dlpack::managed_tensor_versioned, class T>
M* to_dlpack(array<T>& x) {
    return detail::as_shared<M>(x, nullptr);
}
template <detail::managed_tensor M = dlpack::managed_tensor_versioned, class T>
M* to_dlpack(array<T>& x, const stream& for_stream) {
    return detail::as_shared<M>(x, &for_stream);
}
template <detail::managed_tensor M = dlpack::managed_tensor_versioned, class T>
M* to_dlpack(array<T>&& x) {
    return to_dlpack<M>(x);
}
template <detail::managed_tensor M = dlpack::managed_tensor_versioned, class T>
M* to_dlpack(array<T>&& x, const stream& for_stream) {
    return to_dlpack<M>(x, for_stream);
}
template <detail::versioned_tensor M = dlpack::managed_tensor_versioned, class T>
M* to_dlpack(const array<T>& x) {
    return detail::as_read_alone<M>(x, nullptr);
}
template <detail::versioned_tensor M = dlpack::managed_tensor_versioned, class T>
M* to_dlpack(const array<T>& x, const stream& for_stream) {
    return detail::as_read_alone<M>(x, &for_stream);
}

/// An array over somebody else's tensor, which the call takes over unless it throws: the tensor's deleter is called
/// when the array and all its readers are gone. As any array over memory that is not Ingot's it is written in place;
/// where the tensor is read-only a write throws read_only_error. The producer has made the memory ready for stream
/// `on`, by default the current one. Strides may be null, negative and 0. Throws dtype_error where the tensor's
/// elements are not T, have lanes, or have a type that Ingot lacks; device_error for a device that Ingot cannot reach,
/// a pointer that is not the device's, or one that T's alignment forbids; shape_error for a negative extent or rank;
/// and error where the version is not 1.
///
///     auto* m = to_dlpack<dlpack::managed_tensor>(array<float>{1, 2, 3});
///     try {
///         from_dlpack<double>(m);
///     } catch (const dtype_error& e) {
///         std::cout << e.what() << '\n';
///     }
///     std::cout << from_dlpack<float>(m) + 1;
///     // prints: [from_dlpack] the tensor holds float32, and float64 is wanted
///     //         [2. 3. 4.]
template <element_type T, detail::managed_tensor M>
array<T> from_dlpack(M* m) {
    detail::leaf<T> l;
    detail::import_tensor({detail::dtype_of<T>, l.memory(), l.where()}, detail::as_foreign(m), nullptr);
    return array<T>(detail::adopted{}, std::move(l));
}
template <element_type T, detail::managed_tensor M>
array<T> from_dlpack(M* m, const stream& on) {
    detail::leaf<T> l;
    detail::import_tensor({detail::dtype_of<T>, l.memory(), l.where()}, detail::as_foreign(m), &on);
    return array<T>(detail::adopted{}, std::move(l));
}

/// The dtype of a tensor. Throws dtype_error where Ingot does not have it.
///
///     dlpack::managed_tensor_versioned* m = to_dlpack(array<bool>{true});
///     std::cout << name(dlpack_dtype(m));
///     m->deleter(m);
///     // prints: bool
template <detail::managed_tensor M>
dtype dlpack_dtype(M* m) {
    return detail::dtype_of_tensor(detail::as_foreign(m).what);
}

/// Calls f with the array over a tensor of any dtype; f must return one type. Throws as `from_dlpack`; an error of f
/// does not give the tensor back.
///
///     dlpack::managed_tensor_versioned* m = to_dlpack(array<std::int16_t>{1, 2, 3});
///     std::cout << from_dlpack_any(m, [](const auto& x) { return astype<double>(x).eval(); }) / 2;
///     // prints: [0.5 1.  1.5]
template <detail::managed_tensor M, class F>
decltype(auto) from_dlpack_any(M* m, const F& f) {
    return detail::with_element_type(
        dlpack_dtype(m), [&]<class T>(std::type_identity<T>) -> decltype(auto) { return f(from_dlpack<T>(m)); });
}

}  // namespace ingot
