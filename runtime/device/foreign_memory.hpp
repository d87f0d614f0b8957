// Common parts of importing and exporting foreign memory: its device, its extent, and its order with the streams of
// both sides.
#pragma once

#include <cstdint>
#include <span>

#include <ingot/core/buffer.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/layout.hpp>

namespace ingot::runtime {

/// The stream of the device that orders foreign work: the named one, else the current one, else the default. Throws
/// device_error where the named one belongs to another device.
stream_state& stream_for_foreign_use(const char* operation, device_id, const stream* named);

/// Makes the stream's later work wait for the memory's present uses. The stream counts as a writer unless it
/// `only_reads`.
void order_foreign_use(buffer&, const stream_state&, bool only_reads);

/// Gives the array its own buffer that foreign code may write, as mutable_data() does; its later copies are deep. A
/// call that throws leaves the array's memory unchanged.
void expose_for_writing(buffer_ref&);

/// Foreign elements as a buffer that begins at the lowest byte they reach, and their layout in it. Strides are in
/// elements; null means C order. An axis of stride 0 makes the buffer read-only. Throws (1) shape_error for a negative
/// extent or more elements than can be counted; (2) device_error for a pointer that is null, not aligned to an element,
/// or not to memory of the device.
struct foreign_elements {
    const char* operation;
    dtype type;
    device_id device;
    void* first;
    std::span<const detail::index_t> shape;
    const detail::index_t* strides;
    bool read_only;
};
buffer_ref buffer_over(const foreign_elements&, detail::layout& where);

}  // namespace ingot::runtime
