// Orders work across streams. It is called before a launch for every buffer that the launch reads or writes: a read
// waits for the buffer's writer, a write for the writer and all readers since. An event is recorded only when such a
// dependence is found, behind the present work of the other stream; work on one stream costs a load and a compare for
// each buffer.
//
// Several threads may order reads of one buffer at once. A write is ordered by a thread that alone uses the buffer.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// Makes later work of `later` wait for all present work of `earlier`.
void wait_for_stream(const stream_state& later, const stream_state& earlier);
/// Calls f(stream) for every stream in a mask of readers.
template <class F>
void for_each_reader(std::uint64_t readers, F&& f) {
    for (std::uint64_t left = readers & ~shared_bit; left != 0; left &= left - 1)
        f(stream_at(static_cast<stream_index>(std::countr_zero(left))));
    if (readers & shared_bit)
        for (stream_index i = distinct_streams; i < stream_count(); ++i) f(stream_at(i));
}

[[noreturn]] void throw_read_only(const char* operation);

namespace slow {
void order_read(buffer&, const stream_state&);
void order_write(buffer&, const stream_state&);
}  // namespace slow

inline void order_read(buffer& b, const stream_state& s) {
    // A set bit says that the stream has already waited for the writer; the writer's own reads need no bit.
    if (b.writer.load(std::memory_order_relaxed) == s.index) return;
    if (b.readers.load(std::memory_order_acquire) & s.own_bit) return;
    slow::order_read(b, s);
}

inline void order_write(buffer& b, const stream_state& s) {
    if (b.writer.load(std::memory_order_relaxed) == s.index && b.readers.load(std::memory_order_relaxed) == 0) return;
    slow::order_write(b, s);
}

}  // namespace ingot::runtime
