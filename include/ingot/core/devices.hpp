// Several devices: their properties, and arrays that kernels of another device read in place. An expression is of one
// device; `x.to(device)` copies there, in order with the streams of both, `peer_view(x, device)` copies nothing.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/device.hpp>

namespace ingot {

/// The properties of a device. On a host, and where a driver does not tell, numbers are 0 except for memory and
/// processors.
///
///     const device_properties host = properties_of(device::host());
///     std::cout << (host.multiprocessors > 0) << (host.free_memory <= host.total_memory) << host.compute_capability;
///     // prints: 110
struct device_properties {
    std::string name;
    std::size_t total_memory = 0, free_memory = 0;        // bytes
    int multiprocessors = 0;                              // on a host: worker threads
    int compute_capability = 0;                           // 90 for 9.0
    std::size_t l2_bytes = 0;                             // the cache that all multiprocessors share
    std::size_t shared_bytes_per_block = 0;               // maximum, for kernels that ask for it
    std::size_t shared_bytes_per_multiprocessor = 0;      //
    int registers_per_block = 0;                          // 32-bit registers
    int max_threads_per_block = 0;                        //
    int max_threads_per_multiprocessor = 0;               //
    int warp_size = 0;                                    //
    int clock_khz = 0, memory_clock_khz = 0;              //
    int memory_bus_bits = 0;                              //
    int copy_engines = 0;                                 // beside kernels; 2: both directions at once
    bool integrated = false, cooperative_launch = false;  // memory is the host's; kernels with grid-wide barriers
    int pci_domain = 0, pci_bus = 0, pci_device = 0;
    std::string uuid;  // 32 hexadecimal digits, the same in every process
};

/// The properties of a device; every call asks the driver. Throws device_error where there is no such device.
///
///     std::cout << (properties_of(device::host()).name == device::host().name());
///     // prints: 1
INGOT_API device_properties properties_of(device);

/// Whether kernels of one device can read the memory of another in place: GPUs with peer access, hosts among
/// themselves, a device its own. Throws device_error where there is no such device.
///
///     std::cout << can_access(device::host(), device::host(1));
///     // prints: 1
INGOT_API bool can_access(device from, device memory_of);

namespace detail {

/// The memory for read-only use on another device, in order behind the work that writes it.
INGOT_API buffer_ref peer_memory(const buffer_ref&, device_id on);

/// Throws shape_error where the shapes differ. No other array shares `to`.
INGOT_API void transfer_elements(destination to, const buffer_ref& from, const layout& from_where);

}  // namespace detail

/// An array of page-locked memory of the host, not initialised: copies between it and a GPU run at full speed and
/// asynchronously. Throws out_of_memory.
///
///     array<float> staging = empty_pinned<float>({2, 3});
///     staging.fill(1);
///     std::cout << staging.shape() << ' ' << staging.device() << ' ' << sum(staging);
///     // prints: (2, 3) host:0 6.0
template <element_type T>
array<T> empty_pinned(const shape_like& shape) {
    detail::check_extents("empty_pinned", shape.values());
    detail::layout where = detail::contiguous_layout(shape.values());
    if (where.size() == 0) return array<T>(detail::adopted{}, detail::leaf<T>({}, std::move(where)));
    detail::buffer_ref memory = detail::allocate_pinned_buffer(static_cast<std::size_t>(where.size()) * sizeof(T));
    return array<T>(detail::adopted{}, detail::leaf<T>(std::move(memory), std::move(where)));
}

/// Copies all elements into an array of the same shape on any device, on the current stream where that belongs to one
/// of the two, in order with other uses of both arrays. The copy is asynchronous unless host memory that is not pinned
/// takes part; a read of an array waits. Throws shape_error where the shapes differ.
///
///     array<float> there = zeros<float>(3).to(device::host(1));
///     transfer(there, array<float>{1, 2, 3});
///     std::cout << there << ' ' << there.device();
///     // prints: [1. 2. 3.] host:1
template <element_type T>
void transfer(array<T>& to, const array<T>& from) {
    detail::leaf<T>& target = detail::access::target(to);
    const detail::leaf<T>& source = from.as_leaf();
    detail::transfer_elements({detail::dtype_of<T>, target.memory(), target.where()}, source.memory(), source.where());
}

/// The array for expressions of another device, whose kernels read it in place: peer access is enabled the first time.
/// The result is a value, which holds the array's present memory; it cannot be written, and a copy of it is on the
/// device that reads. Where others may write the array's memory (mutable_data, unowned_memory) it shows a copy. Throws
/// device_error, naming both, where the devices have no access to each other: `x.to(device)` copies between all.
///
///     array<float> there = array<float>{1, 2, 3}.to(device::host(1));
///     const with_device here(device::host());
///     std::cout << array<float>(peer_view(there, device::host()) * 2);
///     // prints: [2. 4. 6.]
template <element_type T>
array<T> peer_view(array<T> x, ingot::device on) {
    const detail::leaf<T>& of = std::as_const(x).as_leaf();
    if (!of.memory() || of.memory()->device == on) return x;
    return array<T>(detail::adopted{}, detail::leaf<T>(detail::peer_memory(of.memory(), on), of.where()));
}

}  // namespace ingot
