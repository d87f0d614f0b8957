// Watches a launch's memory accesses: whether the memory is allocated, whether accesses of several threads are ordered,
// and, on request, how many bytes move.
#pragma once

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "memory.hpp"
#include "races.hpp"
#include "traffic.hpp"

namespace emulator {

/// A block's shared memory: a trace of each byte, once one is touched.
using shared_traces = std::vector<trace>;

class memory_watch {
public:
    memory_watch(machine& asks, const device_memory& memory) : machine_(asks), memory_(memory) {
        if (std::getenv("EMULATOR_TRAFFIC") != nullptr) traffic_ = std::make_unique<traffic>();
    }

    /// An access to the GPU's memory, from a place in the code.
    void touch(const char* at, std::size_t bytes, bool writes, const void* code, const moment& m) {
        check_allocated(at, bytes);
        check_twice_written();
        if (const std::optional<race> found = traces_.touch(at, bytes, m, writes)) note(at, bytes, "memory", *found);
        if (traffic_)
            traffic_->touch(m.block, m.thread, code, reinterpret_cast<std::uintptr_t>(at), bytes, writes, false);
    }
    /// An access to shared memory, which begins at `begin` and has a trace for each of its bytes.
    void touch_shared(const char* begin, std::size_t offset, std::size_t bytes, bool writes, const void* code,
                      const moment& m, shared_traces& traces) {
        check_twice_written();
        for (std::size_t i = offset; i < offset + bytes; ++i)
            if (const std::optional<race> found = traces[i].touch(m, writes))
                note(begin + i, 1, "shared memory", *found);
        if (traffic_ && code != nullptr) traffic_->touch(m.block, m.thread, code, offset, bytes, writes, true);
    }
    void touch_ordering(const void* at, std::size_t bytes) {
        check_allocated(at, bytes);
        traces_.touch_ordering(at, bytes);
    }

    /// Before another access, or another thread: whether two have written the same, which nothing has to order.
    void check_twice_written() {
        for (const twice_written& t : twice_written_) {
            if (std::memcmp(t.at, t.before.data(), t.before.size()) == 0) continue;
            const std::string values = " (" + in_hexadecimal(t.at, t.before.size()) + ", it was " +
                                       in_hexadecimal(t.before.data(), t.before.size()) + ")";
            machine_.fault((t.where + t.found.text() + values).c_str());
        }
        twice_written_.clear();
    }

    void end_block(std::uint32_t block) {
        if (traffic_) traffic_->end_block(block);
    }
    /// The traffic; empty where it was not requested.
    std::string moved() const { return traffic_ ? traffic_->text() : ""; }

private:
    /// A write where another thread has written, before it is made.
    struct twice_written {
        const char* at;
        std::vector<char> before;
        std::string where;
        race found;
    };

    void note(const char* at, std::size_t bytes, const char* where, const race& found) {
        if (!found.is_of_writes()) machine_.fault((where + found.text()).c_str());
        twice_written_.push_back({at, {at, at + bytes}, where, found});
    }

    void check_allocated(const void* at, std::size_t bytes) {
        for (const device_memory::range& known : known_)
            if (known.holds(at, bytes)) return;
        const device_memory::range found = memory_.around(at);
        if (!found.holds(at, bytes)) {
            if (reaches_pageable_) return;
            machine_.fault("memory that is not allocated is touched");
        }
        known_[turn_++ % std::size(known_)] = found;
    }

    /// The bytes of a little-endian machine as a number.
    static std::string in_hexadecimal(const char* at, std::size_t bytes) {
        static constexpr char digits[] = "0123456789abcdef";
        std::string text;
        for (std::size_t i = bytes; i-- > 0;) {
            const auto byte = static_cast<unsigned char>(at[i]);
            text += {digits[byte / 16], digits[byte % 16]};
        }
        return text;
    }

    machine& machine_;
    const bool reaches_pageable_ = std::getenv("EMULATED_PAGEABLE") != nullptr;  // memory of the host's own
    const device_memory& memory_;
    device_memory::range known_[4];
    unsigned int turn_ = 0;
    memory_traces traces_;
    std::vector<twice_written> twice_written_;
    std::unique_ptr<traffic> traffic_;
};

}  // namespace emulator
