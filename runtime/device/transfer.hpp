// Copies between buffers, devices and the host's own memory, in order with the streams that use the buffers. Unpinned
// memory is copied through pinned pieces, two in flight: the CPU fills one while the GPU drains the other.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <ingot/core/buffer.hpp>
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

// All functions run on `preferred` where it is a stream of the device in question, else on that device's default
// stream.

/// Copies bytes of a buffer, from an offset, to host memory, and waits for them.
void copy_to_host(buffer& from, std::size_t offset, std::size_t bytes, void* to, stream_state& preferred);
/// Copies host memory to bytes of a buffer; when it returns, `from` may be changed.
void copy_from_host(buffer& to, std::size_t offset, std::size_t bytes, const void* from, stream_state& preferred);
/// Reads or writes bytes a piece at a time, in order: `take` receives each piece, `give` fills each. Host memory is one
/// piece, in place; memory of other devices passes through two pinned pieces. Where `take` or `give` throws, the rest
/// is not copied.
void read_in_pieces(buffer& from, std::size_t offset, std::size_t bytes, stream_state& preferred,
                    const std::function<void(std::span<const std::byte>)>& take);
void write_in_pieces(buffer& to, std::size_t offset, std::size_t bytes, stream_state& preferred,
                     const std::function<void(std::span<std::byte>)>& give);
/// Copies from buffer to buffer, of any devices. The copy is asynchronous unless one is host memory that is not pinned.
void copy(buffer& to, std::size_t to_offset, buffer& from, std::size_t from_offset, std::size_t bytes,
          stream_state& preferred);
/// Sets every byte.
void fill(buffer& to, std::size_t offset, std::size_t bytes, unsigned char value, stream_state& preferred);

/// memcpy and memset on the shared workers.
void copy_on_host(void* to, const void* from, std::size_t bytes);
void fill_on_host(void* to, unsigned char value, std::size_t bytes);

}  // namespace ingot::runtime
