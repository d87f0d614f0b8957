// Streams as the runtime sees them. All streams of all devices are numbered in one table; an entry belongs to one
// native stream for ever. When its last owner goes, the entry retires, and a later stream of the same device takes it
// over with its native stream. So the number in a buffer always means a stream behind the same work.
//
// A foreign native stream may end once Ingot's last handle of it has gone. Then `marker` is behind all its work and
// stands for it; a stream that takes the entry over waits for the marker. While a handle exists the native stream must
// exist. A thread's default stream has an entry of the thread's own; other threads use the legacy default stream in its
// place, which is in order with it.
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
/// Streams with their own bit in a buffer's mask of readers. All later ones share the last bit.
inline constexpr stream_index distinct_streams = 63;
inline constexpr std::uint64_t shared_bit = std::uint64_t{1} << distinct_streams;

/// The origin of the native stream: Ingot's own, a user's, or one of CUDA's defaults.
enum class stream_origin : std::uint8_t { own, foreign, legacy, per_thread };

struct stream_state {
    stream_index index;
    stream_origin origin = stream_origin::own;
    bool non_blocking = false;
    bool synchronous;          // the backend's
    std::uint64_t own_bit;     // in a mask of readers; 0 past the 63rd stream
    std::uint64_t reader_bit;  // the bit that a read sets: own_bit, or the shared one
    device_id device;
    runtime::backend* backend;
    runtime::pool* pool;  // of the device's memory
    native_stream native;
    native_event marker;  // recorded anew whenever another stream has to wait for this one
    std::atomic<std::uint32_t> owners{0};
    std::atomic<graph_capture*> capture{nullptr};  // records the work of the stream (graphs.hpp)

    // For streams that are not Ingot's own; guarded by native_mutex.
    mutable std::mutex native_mutex;
    std::uint64_t native_id = 0;  // the driver's unique number; for a thread's default stream, the thread's
    bool is_abandoned = false;    // the native stream may have ended

    std::atomic<codegen::error_record*> errors{nullptr};  // set once work may report an error (error_record.hpp)

    std::vector<codegen::error_record*> graph_errors;  // of graphs launched on the stream; under native_mutex

    // Zeroed scratch. An outgrown one is kept, because another thread may be about to launch with it.
    std::mutex scratch_mutex;
    std::vector<buffer_ref> scratch;
};

/// A stream with one owner: a retired idle one, or a new one.
stream_state& acquire_stream(device_state&, bool non_blocking = false);
/// The stream of a foreign native one, or Ingot's own with that handle, with one more owner. Throws device_error.
stream_state& adopt_stream(device_state&, native_stream);
/// Ingot's own stream of a GPU with this handle, with one more owner; null where the handle is foreign. Own streams
/// never end, so that no other stream can have their handles.
stream_state* retain_own_stream(native_stream);
/// A stream for captures alone, over their pool; it never retires.
stream_state& make_capture_stream(device_state&, pool&);
/// The device's legacy default stream and the calling thread's default stream, with one more owner.
stream_state& legacy_stream_of(device_state&);
stream_state& thread_stream_of(device_state&);
stream_state& stream_at(stream_index) noexcept;
/// Number of entries in the table.
stream_index stream_count() noexcept;

/// For fork, as pool::mutex.
std::mutex& stream_table_mutex() noexcept;

/// Records an event behind all present work of the stream.
void record(native_event, const stream_state&);
/// Records `marker` behind all present work, unless it stands for that already.
void mark_present_work(const stream_state&);
/// Whether the stream is known to have no work left.
bool is_idle(const stream_state&);
/// Waits until all present work is complete.
void wait_on_host(const stream_state&);

/// Waits for the stream, then throws the errors that its work reported.
void synchronize(stream_state&);
/// Called after each wait for a stream, where it is not null: throws where other ranks' parts did not arrive.
extern constinit std::atomic<void (*)()> after_wait;

/// Runs after a wait for the stream: ends memory that it used, and throws the errors that it reported.
void throw_reported(stream_state&);

/// Memory of at least that size that is zero and that every kernel leaves zero. It belongs to the stream, on a
/// synchronous backend to the calling thread.
void* zeroed_scratch(stream_state&, std::size_t bytes);

}  // namespace ingot::runtime
