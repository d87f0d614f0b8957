// Copies between buffers, devices and the host's own memory, in order with the streams that use the buffers.
// Memory that is not pinned goes through pinned pieces, two in flight: the CPU fills one while the GPU drains the
// other.
#pragma once

#include <cstddef>

#include <ingot/buffer.hpp>
#include "runtime/stream.hpp"

namespace ingot::runtime {

// All run on `preferred` where it is a stream of the device in question, else on that device's default stream.

/// Copies bytes of a buffer, from an offset, to the host's memory, and waits for them.
void copy_to_host(buffer& from, std::size_t offset, std::size_t bytes, void* to, stream_state& preferred);
/// Copies to bytes of a buffer; when it returns, `from` may be changed.
void copy_from_host(buffer& to, std::size_t offset, std::size_t bytes, const void* from, stream_state& preferred);
/// Copies from buffer to buffer, of any devices. Asynchronous unless one is host memory that is not pinned.
void copy(buffer& to, std::size_t to_offset, buffer& from, std::size_t from_offset, std::size_t bytes,
          stream_state& preferred);
/// Sets every byte.
void fill(buffer& to, std::size_t offset, std::size_t bytes, unsigned char value, stream_state& preferred);

/// memcpy and memset on the shared workers.
void copy_on_host(void* to, const void* from, std::size_t bytes);
void fill_on_host(void* to, unsigned char value, std::size_t bytes);

}  // namespace ingot::runtime
