// Copies between buffers, devices and the host's own memory, in order with the streams that use the buffers.
// Memory that is not pinned goes through pinned pieces, two in flight: the CPU fills one while the GPU drains the
// other.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <ingot/core/buffer.hpp>
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

// All run on `preferred` where it is a stream of the device in question, else on that device's default stream.

/// Copies bytes of a buffer, from an offset, to the host's memory, and waits for them.
void copy_to_host(buffer& from, std::size_t offset, std::size_t bytes, void* to, stream_state& preferred);
/// Copies to bytes of a buffer; when it returns, `from` may be changed.
void copy_from_host(buffer& to, std::size_t offset, std::size_t bytes, const void* from, stream_state& preferred);
/// The same bytes a piece at a time, in order: `take` is given each as it comes, `give` is to fill each. Memory of the
/// host is one piece, as it lies; of another device's no more is on the host than two pinned ones. Where `take` or
/// `give` throws, the rest is left.
void read_in_pieces(buffer& from, std::size_t offset, std::size_t bytes, stream_state& preferred,
                    const std::function<void(std::span<const std::byte>)>& take);
void write_in_pieces(buffer& to, std::size_t offset, std::size_t bytes, stream_state& preferred,
                     const std::function<void(std::span<std::byte>)>& give);
/// Copies from buffer to buffer, of any devices. Asynchronous unless one is host memory that is not pinned.
void copy(buffer& to, std::size_t to_offset, buffer& from, std::size_t from_offset, std::size_t bytes,
          stream_state& preferred);
/// Sets every byte.
void fill(buffer& to, std::size_t offset, std::size_t bytes, unsigned char value, stream_state& preferred);

/// memcpy and memset on the shared workers.
void copy_on_host(void* to, const void* from, std::size_t bytes);
void fill_on_host(void* to, unsigned char value, std::size_t bytes);

}  // namespace ingot::runtime
