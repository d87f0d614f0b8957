// Work that is recorded instead of run, to be launched as one. A capture has its own stream, on which its body works,
// over its own pool: memory taken there belongs to the graph. On a GPU the driver records the work of the stream; on a
// host Ingot records each step that would otherwise run.
//
// Memory from before the capture is noted when a statement is ordered: it is neither waited for nor marked then, but
// when the graph is launched. The graph holds it as a foreign handle does (buffer::exports), so that arrays are still
// written in place, and their copies are deep from then on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <ingot/core/buffer.hpp>
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

struct source_text;
struct raw_program;

/// A reference that does not make writes split the array.
class held_buffer {
public:
    explicit held_buffer(buffer& b) noexcept : buffer_(&b) {
        b.references.fetch_add(1, std::memory_order_relaxed);
        b.exports.fetch_add(1, std::memory_order_acq_rel);
    }
    held_buffer(held_buffer&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
    held_buffer& operator=(held_buffer other) noexcept {
        std::swap(buffer_, other.buffer_);
        return *this;
    }
    ~held_buffer() {
        if (buffer_ == nullptr) return;
        buffer_->exports.fetch_sub(1, std::memory_order_acq_rel);
        buffer_ref::adopt(buffer_);
    }
    buffer& operator*() const noexcept { return *buffer_; }
    /// Whether anything else holds the buffer.
    bool is_shared() const noexcept {
        settle_references();
        return buffer_->references.load(std::memory_order_acquire) > buffer_->exports.load(std::memory_order_acquire);
    }

private:
    buffer* buffer_;
};

struct touched_buffer {
    held_buffer memory;
    bool is_written;
};

/// A recorded step on the host.
using host_step = std::function<void()>;

class graph_capture {
public:
    explicit graph_capture(stream_state& on) noexcept : stream(on), steps(&all_steps) {}

    /// Notes memory from before the capture that a statement reads or writes.
    void touch(buffer&, bool writes);
    /// Notes memory of the capture's own pool.
    void note(buffer& b) {
        own_.push_back(&b);
        made_at_[&b] = depth;
    }
    /// Keeps a constant, whose values are the same now and in every launch.
    void keep(const buffer_ref& constant) {
        made_at_[constant.get()] = depth;
        constants.push_back(constant);
    }
    /// Throws error where a write would give an array new memory because it shares its own: the next launch, or the
    /// next turn of a loop, would read the old memory. An array that was made during the recording may move.
    void check_may_move(const buffer&) const;
    bool is_constant(const buffer& b) const noexcept {
        for (const buffer_ref& c : constants)
            if (c.get() == &b) return true;
        return false;
    }
    /// Notes a program whose kernel is recorded: launches are in order with its variables, over which arrays may be
    /// made later.
    void use_variables(const raw_program& p) {
        if (std::find(programs.begin(), programs.end(), &p) == programs.end()) programs.push_back(&p);
    }
    void record(host_step step) { steps->push_back(std::move(step)); }

    /// Memory of the own pool that is in use now.
    std::vector<held_buffer> own_in_use() const;

    stream_state& stream;
    std::vector<host_step> all_steps;
    std::vector<host_step>* steps;  // where the next step goes
    std::size_t size = 0;           // kernels and library calls
    std::unordered_map<buffer*, touched_buffer> touched;
    std::vector<buffer_ref> constants;
    std::vector<const raw_program*> programs;  // programs live for ever
    unsigned depth = 0;                        // of loops

private:
    std::vector<buffer*> own_;
    std::unordered_map<const buffer*, unsigned> made_at_;
};

/// Whether a graph, other than one that is being recorded, uses the memory as an array's elements.
bool is_in_graphs(const buffer&) noexcept;
/// Gives an array new memory because something else holds its present memory too. Graphs that use that memory would
/// compute with old elements, so their launches throw from now on. It is called once the new elements are written, so
/// that a write that fails leaves graphs unchanged.
void move_to(buffer_ref& memory, buffer_ref fresh);

/// The kernel that passes a loop's condition to the driver; cudaGraphSetConditional is a device function.
source_text condition_source(std::uint32_t architecture);

/// The capture of the calling thread; null where there is none.
graph_capture* capture_of_thread() noexcept;
/// Throw device_error for work that cannot be recorded; the second one only if the stream is being captured, in the
/// capturing thread.
[[noreturn]] void throw_not_recorded(const char* what);
void check_not_recorded(const stream_state&, const char* what);
/// Throws where work is put on a stream other than the capture's: it would run now and not in launches.
void check_stream_of_capture(const stream_state&);

}  // namespace ingot::runtime
