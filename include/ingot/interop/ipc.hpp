// Arrays and events that another process opens by handles: plain bytes, sent by a pipe, a file or MPI. Both processes
// use one memory of a GPU; nothing is copied.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/device.hpp>

namespace ingot {

/// Opaque bytes by which another process opens an array.
///
///     std::cout << std::is_trivially_copyable_v<ipc_handle> << sizeof(ipc_handle);
///     // prints: 1768
struct ipc_handle {
    std::byte bytes[768]{};
};
/// Opaque bytes by which another process opens an event.
///
///     std::cout << std::is_trivially_copyable_v<ipc_event_handle> << sizeof(ipc_event_handle);
///     // prints: 1192
struct ipc_event_handle {
    std::byte bytes[192]{};
};

namespace detail {

INGOT_API ipc_handle export_memory(dtype, const buffer_ref& memory, const layout& where, bool read_only);
/// The handle of an array that others may write; its buffer is un-shared once it is known to be shareable.
INGOT_API ipc_handle export_memory_to_write(dtype, buffer_ref& memory, const layout& where);
INGOT_API void open_memory(destination, const ipc_handle&);

}  // namespace detail

/// A handle by which other processes read and write the array's memory; for a const array they read its present values.
/// It waits for the work on the array. The receiver must open the handle while the array exists; from then on the
/// memory lives until the receiver releases it, but not longer than this process. The processes order their work
/// themselves, by ipc_event or by waiting. The whole piece of the pool that contains the array is open to them. Throws
/// device_error for an array on a host and for memory that the driver cannot share, shape_error for an array that is
/// not in C order.
///
///     const with_device on_the_host(device::host());
///     array<float> x{1, 2, 3};
///     try {
///         to_ipc_handle(x);
///     } catch (const device_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [to_ipc_handle] the array is on host:0; handles are of memory of GPUs
template <class T>
ipc_handle to_ipc_handle(array<T>& x) {
    detail::leaf<T>& l = detail::access::target(x);
    return detail::export_memory_to_write(detail::dtype_of<T>, l.memory(), l.where());
}
template <class T>
ipc_handle to_ipc_handle(const array<T>& x) {
    return detail::export_memory(detail::dtype_of<T>, x.as_leaf().memory(), x.as_leaf().where(), true);
}
template <class T>
ipc_handle to_ipc_handle(array<T>&&) = delete;  // nothing would own the memory

/// Opens another process' array by its handle, over its memory (unowned_memory), on the same GPU. Throws dtype_error
/// where the elements are not T, device_error where the process or the array is gone, the GPU is none of this process'
/// or the handle is its own, and error for bytes that are no handle of an array.
///
///     try {
///         from_ipc_handle<float>(ipc_handle{});
///     } catch (const error& e) {
///         std::cout << e.what();
///     }
///     // prints: [from_ipc_handle] the bytes given are no handle of an array
template <element_type T>
array<T> from_ipc_handle(const ipc_handle& handle) {
    detail::leaf<T> l;
    detail::open_memory({detail::dtype_of<T>, l.memory(), l.where()}, handle);
    return array<T>(detail::adopted{}, std::move(l));
}

/// An event on a GPU that other processes can open. `stream::wait` takes it as any event: streams of one process wait
/// for what another records.
///
///     if (device::cuda_count() > 0) {
///         const with_device on_the_gpu(device::cuda());
///         ipc_event ready;
///         ready.record();
///         current_stream().wait(ready);
///         std::cout << sizeof ready.handle();
///     } else {
///         std::cout << 192;
///     }
///     // prints: 192
class ipc_event {
public:
    /// A new event on the current device. Throws device_error on a host.
    INGOT_API ipc_event();
    /// Opens another process' event. Throws device_error where that is gone or the driver cannot open it, error for
    /// bytes that are no handle of an event.
    ///
    ///     try {
    ///         ipc_event opened(ipc_event_handle{});
    ///     } catch (const error& e) {
    ///         std::cout << e.what();
    ///     }
    ///     // prints: [ipc_event] the bytes given are no handle of an event
    INGOT_API explicit ipc_event(const ipc_event_handle&);
    ipc_event(ipc_event&& other) noexcept { swap(other); }
    ipc_event& operator=(ipc_event&& other) noexcept {
        swap(other);
        return *this;
    }
    INGOT_API ~ipc_event();

    /// The handle for other processes, valid while this object exists. Throws device_error for an event that was
    /// opened.
    INGOT_API ipc_event_handle handle() const;
    /// Marks the present end of the work of a stream, by default the current one.
    void record(const stream& s) { event_.record(s); }
    void record() { event_.record(); }
    /// Waits on the host for the point.
    ///
    ///     if (device::cuda_count() > 0) {
    ///         const with_device on_the_gpu(device::cuda());
    ///         ipc_event ready;
    ///         ready.record(current_stream());
    ///         ready.synchronize();
    ///         std::cout << ready.done();
    ///     } else {
    ///         std::cout << 1;
    ///     }
    ///     // prints: 1
    void synchronize() const { event_.synchronize(); }
    /// Whether the point is reached; true where nothing was recorded.
    bool done() const { return event_.done(); }
    operator const event&() const noexcept { return event_; }

private:
    void swap(ipc_event& other) noexcept {
        std::swap(backend_, other.backend_);
        std::swap(native_, other.native_);
        std::swap(is_opened_, other.is_opened_);
        std::swap(event_, other.event_);
    }

    runtime::backend* backend_ = nullptr;
    void* native_ = nullptr;  // owned
    bool is_opened_ = false;
    event event_;  // over the native one
};

}  // namespace ingot
