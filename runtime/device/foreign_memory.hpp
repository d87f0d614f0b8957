// What every way in and out for memory of others has in common: whose it is, where it reaches, and its order with the
// streams of both sides.
#pragma once

#include <cstdint>
#include <span>

#include <ingot/core/buffer.hpp>
#include <ingot/core/device.hpp>
#include <ingot/core/layout.hpp>

namespace ingot::runtime {

/// The stream of that device for what somebody else does or did: the one named, else the current one, else the default.
/// Throws device_error where the one named is of another device.
stream_state& stream_for_others(const char* operation, device_id, const stream* named);

/// Makes the stream's later work wait for what the memory is used for; it is taken for a writer unless it `only_reads`.
void hand_over(buffer&, const stream_state&, bool only_reads);

/// Gives the array a buffer of its own that others may write, as mutable_data() does: its later copies are deep. What
/// can be refused is refused before: a call that throws leaves the array's memory where it was.
void open_to_writers(buffer_ref&);

/// Somebody's elements as a buffer from the lowest byte that they reach, and where they lie in it. Strides are in
/// elements, C order where null. An axis of stride 0 makes it read-only. Throws shape_error of a negative extent or
/// more elements than can be counted, device_error of a pointer that is null, not aligned to an element, or no memory
/// of the device.
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
