// Streams as the runtime sees them. All streams of all devices are numbered in one table; an entry belongs to one
// native stream for ever. When its last owner goes the entry retires and a later stream of the same device takes it
// over, native stream and all, so that the number in a buffer never means a stream with other work than it did.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <ingot/buffer.hpp>
#include "codegen/text/error_report.hpp"
#include "runtime/backend.hpp"

namespace ingot::runtime {

class pool;
struct device_state;

inline constexpr stream_index max_streams = 4096;
/// Streams with a bit of their own in a buffer's mask of readers. All later ones share the last bit.
inline constexpr stream_index distinct_streams = 63;
inline constexpr std::uint64_t shared_bit = std::uint64_t{1} << distinct_streams;

struct stream_state {
    stream_index index;
    bool synchronous;       // the backend's
    std::uint64_t own_bit;  // in a mask of readers; 0 past the 63rd stream
    std::uint64_t mark;     // what reading sets: own_bit, or the bit that stands for all others
    device_id device;
    runtime::backend* backend;
    runtime::pool* pool;  // of the device's memory
    native_stream native;
    native_event marker;  // recorded anew whenever another stream has to wait for this one
    std::atomic<std::uint32_t> owners{0};

    std::atomic<codegen::error_record*> errors{nullptr};  // once work of the stream may report any (error_record.hpp)

    // Zeroed scratch; an outgrown one is kept, for another thread may be about to launch with it.
    std::mutex scratch_mutex;
    std::vector<buffer_ref> scratch;
};

/// A stream with one owner: a retired one that has nothing left to do, or a new one.
stream_state& acquire_stream(device_state&);
stream_state& stream_at(stream_index) noexcept;
/// Number of entries in the table.
stream_index stream_count() noexcept;

/// For fork, as pool::mutex.
std::mutex& stream_table_mutex() noexcept;

/// Waits for the stream, then throws what its work left to be thrown.
void synchronize(stream_state&);
/// What follows a wait for work of the stream: ends memory that it used, throws the errors that it reported.
void throw_reported(stream_state&);

/// Memory that is zero and that every kernel leaves zero, of at least that size. It belongs to the stream, on a
/// synchronous backend to the calling thread.
void* zeroed_scratch(stream_state&, std::size_t bytes);

}  // namespace ingot::runtime
