// Work that is recorded in place of being done, to be launched as one. A capture has a stream of its own, on which the
// body of the capture works, over a pool of its own: what it takes stays with the graph. On a GPU the driver records
// what is put on the stream; on a host Ingot does, where it would otherwise run something.
//
// Memory that was there before is noted when a statement is ordered: it is neither waited for nor marked, which
// launches do. The graph holds it as somebody's handle on it would (buffer::exports), so that arrays go on being
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

/// A reference that does not ask others' writes to split.
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
    /// Whether others hold it as well.
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

/// Something that a host does.
using host_step = std::function<void()>;

class graph_capture {
public:
    explicit graph_capture(stream_state& on) noexcept : stream(on), steps(&all_steps) {}

    /// Of a statement that reads or writes memory from before the capture.
    void touch(buffer&, bool writes);
    /// Memory of the capture's own pool.
    void note(buffer& b) {
        own_.push_back(&b);
        made_at_[&b] = depth;
    }
    /// What has its values now, and with every launch.
    void keep(const buffer_ref& constant) {
        made_at_[constant.get()] = depth;
        constants.push_back(constant);
    }
    /// Throws error where a write would give an array other memory, which shares this with another: the next launch, or
    /// the next turn of a loop, would read it here. Not where the array was made in what is recorded.
    void check_may_move(const buffer&) const;
    bool is_constant(const buffer& b) const noexcept {
        for (const buffer_ref& c : constants)
            if (c.get() == &b) return true;
        return false;
    }
    /// Of a kernel of the program: launches are in order with its variables, arrays over which may be made later.
    void use_variables(const raw_program& p) {
        if (std::find(programs.begin(), programs.end(), &p) == programs.end()) programs.push_back(&p);
    }
    void record(host_step step) { steps->push_back(std::move(step)); }

    /// Own memory that is in use now.
    std::vector<held_buffer> own_in_use() const;

    stream_state& stream;
    std::vector<host_step> all_steps;
    std::vector<host_step>* steps;  // where the next goes
    std::size_t size = 0;           // kernels and library calls
    std::unordered_map<buffer*, touched_buffer> touched;
    std::vector<buffer_ref> constants;
    std::vector<const raw_program*> programs;  // which stand for ever
    unsigned depth = 0;                        // of loops

private:
    std::vector<buffer*> own_;
    std::unordered_map<const buffer*, unsigned> made_at_;
};

/// Whether a graph, not one that is being recorded, looks at the memory for its arrays' elements.
bool is_in_graphs(const buffer&) noexcept;
/// Gives an array other memory because something else holds its own as well: graphs that look at that would go on with
/// the old elements, and throw when they are launched. To be called once the new elements are there, so that a write
/// that fails leaves graphs as they are.
void move_to(buffer_ref& memory, buffer_ref fresh);

/// The kernel that hands a loop's condition to the driver; cudaGraphSetConditional is the device's own.
source_text condition_source(std::uint32_t architecture);

/// The capture of the calling thread; null where there is none.
graph_capture* capture_of_thread() noexcept;
/// Of a stream of which one is under way, in the thread whose it is: what cannot be recorded throws device_error.
[[noreturn]] void throw_not_recorded(const char* what);
void check_not_recorded(const stream_state&, const char* what);
/// Work on another stream than that of the thread's capture would be done at once, and not by launches.
void check_stream_of_capture(const stream_state&);

}  // namespace ingot::runtime
