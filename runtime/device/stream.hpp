// Streams as the runtime sees them. All streams of all devices are numbered in one table; an entry belongs to one
// native stream for ever. When its last owner goes the entry retires and a later stream of the same device takes it
// over, native stream and all, so that the number in a buffer never means a stream with other work than it did.
//
// Of a stream that is somebody else's the native one may end once Ingot's last handle of it has gone. Then `marker` is
// behind all its work and stands for it; whoever takes the entry over works behind that too. While there is a handle
// the native stream has to be there. A thread's default stream has an entry of the thread's own; what other threads
// want to know of it they ask the legacy default stream, which is in order with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <ingot/core/buffer.hpp>
#include "codegen/text/error_report.hpp"
#include "runtime/device/backend.hpp"

namespace ingot::runtime {

class pool;
class graph_capture;
struct device_state;

inline constexpr stream_index max_streams = 4096;
/// Streams with a bit of their own in a buffer's mask of readers. All later ones share the last bit.
inline constexpr stream_index distinct_streams = 63;
inline constexpr std::uint64_t shared_bit = std::uint64_t{1} << distinct_streams;

/// Whose the native stream is: Ingot's own, a user's, or one of CUDA's defaults.
enum class stream_origin : std::uint8_t { own, foreign, legacy, per_thread };

struct stream_state {
    stream_index index;
    stream_origin origin = stream_origin::own;
    bool non_blocking = false;
    bool synchronous;       // the backend's
    std::uint64_t own_bit;  // in a mask of readers; 0 past the 63rd stream
    std::uint64_t mark;     // what reading sets: own_bit, or the bit that stands for all others
    device_id device;
    runtime::backend* backend;
    runtime::pool* pool;  // of the device's memory
    native_stream native;
    native_event marker;  // recorded anew whenever another stream has to wait for this one
    std::atomic<std::uint32_t> owners{0};
    std::atomic<graph_capture*> capture{nullptr};  // what is put on it is recorded (graphs.hpp)

    // Of streams that are not Ingot's own, under the mutex.
    mutable std::mutex native_mutex;
    std::uint64_t native_id = 0;  // the driver's, which no other stream has; of a thread's default stream the thread's
    bool is_left = false;         // the native stream may have ended

    std::atomic<codegen::error_record*> errors{nullptr};  // once work of the stream may report any (error_record.hpp)

    std::vector<codegen::error_record*> graph_errors;  // of graphs that were launched on it; under native_mutex

    // Zeroed scratch; an outgrown one is kept, for another thread may be about to launch with it.
    std::mutex scratch_mutex;
    std::vector<buffer_ref> scratch;
};

/// A stream with one owner: a retired one that has nothing left to do, or a new one.
stream_state& acquire_stream(device_state&, bool non_blocking = false);
/// The stream of a native one that is somebody else's, or Ingot's own again, with an owner more. Throws device_error.
stream_state& adopt_stream(device_state&, native_stream);
/// Ingot's own stream of a GPU that has this handle, kept; null where it is somebody else's. Own ones never end, so
/// that no other can have their handles.
stream_state* keep_own_stream(native_stream);
/// A stream for captures alone, over a pool of their own; it never retires.
stream_state& make_capture_stream(device_state&, pool&);
/// The device's legacy default stream and the calling thread's default stream, with an owner more.
stream_state& legacy_stream_of(device_state&);
stream_state& thread_stream_of(device_state&);
stream_state& stream_at(stream_index) noexcept;
/// Number of entries in the table.
stream_index stream_count() noexcept;

/// For fork, as pool::mutex.
std::mutex& stream_table_mutex() noexcept;

/// Records an event behind all present work of the stream.
void record(native_event, const stream_state&);
/// Records `marker` there, unless it stands for all work already.
void mark_present_work(const stream_state&);
/// Whether nothing is known to be left to do.
bool is_idle(const stream_state&);
/// Waits until all present work is done.
void wait_on_host(const stream_state&);

/// Waits for the stream, then throws what its work left to be thrown.
void synchronize(stream_state&);
/// What follows a wait for work of the stream: ends memory that it used, throws the errors that it reported.
void throw_reported(stream_state&);

/// Memory that is zero and that every kernel leaves zero, of at least that size. It belongs to the stream, on a
/// synchronous backend to the calling thread.
void* zeroed_scratch(stream_state&, std::size_t bytes);

}  // namespace ingot::runtime
