// See ordering.hpp.
#include "runtime/device/ordering.hpp"

#include <string>

#include <ingot/core/error.hpp>

#include "runtime/device/graphs.hpp"

namespace ingot::runtime {

void wait_for_stream(const stream_state& later, const stream_state& earlier) {
    if (&later == &earlier || earlier.synchronous) return;
    if (later.capture.load(std::memory_order_relaxed) != nullptr) return wait_on_host(earlier);
    if (later.synchronous || later.device.kind() != earlier.device.kind()) {
        wait_on_host(earlier);
        return;
    }
    // Two threads may record the same marker at once; the later record only makes one of them wait longer.
    mark_present_work(earlier);
    later.backend->wait(later.native, earlier.marker);
}

void throw_read_only(const char* operation) {
    throw read_only_error("[" + std::string(operation) +
                          "] the array is over memory that was given as read-only; write to a copy of it");
}

void slow::order_read(buffer& b, const stream_state& s) {
    if (graph_capture* const capture = s.capture.load(std::memory_order_relaxed)) return capture->touch(b, false);
    const stream_index writer = b.writer.load(std::memory_order_relaxed);
    if (writer != no_stream) wait_for_stream(s, stream_at(writer));
    // The bit is set once the wait is in the stream, so that another thread that sees it launches behind the wait. Work
    // of a synchronous stream is complete before another stream could wait for it.
    if (!s.synchronous) b.readers.fetch_or(s.reader_bit, std::memory_order_release);
}

void slow::order_write(buffer& b, const stream_state& s) {
    if (b.read_only) throw_read_only("write");
    if (graph_capture* const capture = s.capture.load(std::memory_order_relaxed)) return capture->touch(b, true);
    const stream_index writer = b.writer.load(std::memory_order_relaxed);
    if (writer != no_stream) wait_for_stream(s, stream_at(writer));
    for_each_reader(b.readers.load(std::memory_order_acquire), [&](stream_state& r) { wait_for_stream(s, r); });
    b.writer.store(s.index, std::memory_order_relaxed);
    b.readers.store(0, std::memory_order_relaxed);
}

}  // namespace ingot::runtime
