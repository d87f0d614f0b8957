// Memory that arrays share: a control block with a reference count, and the pointer that counts. A buffer also knows
// which streams use it, so that runtime/device/ordering.hpp orders work across streams without events from the user.
// Only counting is inline; allocation and release are in the library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <ingot/core/device.hpp>
#include <ingot/core/export.hpp>

namespace ingot {

namespace runtime {
struct chunk;
/// Number of a stream in the table of all streams.
using stream_index = std::uint16_t;
inline constexpr stream_index no_stream = 0xffff;
}  // namespace runtime

namespace detail {

/// One piece of memory. Its address is fixed while there are references; the control block itself is recycled with it.
struct alignas(64) buffer {
    std::atomic<std::uint32_t> references{0};
    std::atomic<runtime::stream_index> writer{runtime::no_stream};  // the last stream that wrote
    device_id device;
    bool externally_visible = false;  // mutable_data() was called: later copies of the array are deep
    bool unowned = false;             // not Ingot's memory: written in place, copies are deep
    bool pinned = false;              // page-locked, if there is a GPU
    std::uint8_t size_class = 0;      // set by the pool
    bool read_only = false;           // unowned: writes throw read_only_error
    // References of others' handles on the memory, which see writes to it: they cause no split.
    std::atomic<std::uint16_t> exports{0};
    std::atomic<std::uint64_t> readers{0};  // other streams that read since; bit 63: a stream beyond the 63rd
    void* data = nullptr;
    std::size_t bytes = 0;            // as requested
    std::size_t capacity = 0;         // as counted by the pool
    runtime::chunk* chunk = nullptr;  // the pool's chunk that contains it; null for memory that is not Ingot's
    void (*end)(void*) = nullptr;     // unowned: called with `end_argument` after the last use
    void* end_argument = nullptr;
};

}  // namespace detail

namespace runtime {
/// Whether two buffers have bytes in common: they are the same, or one is over memory that is not Ingot's.
inline bool share_bytes(const detail::buffer& a, const detail::buffer& b) noexcept {
    if (&a == &b) return true;
    if (!a.unowned && !b.unowned) return false;
    const auto from_a = reinterpret_cast<std::uintptr_t>(a.data), from_b = reinterpret_cast<std::uintptr_t>(b.data);
    return from_a < from_b + b.bytes && from_b < from_a + a.bytes;
}

/// Returns a buffer without references to its source. Any thread may call it at any time.
INGOT_API void release_buffer(detail::buffer&) noexcept;
/// Returns the references that the calling thread took for leaves of trees and did not use.
INGOT_API void settle_references() noexcept;
}  // namespace runtime

namespace detail {

/// A counted pointer to a buffer, or null.
class buffer_ref {
public:
    constexpr buffer_ref() noexcept = default;
    // Inner: takes over one reference that is counted already.
    static buffer_ref adopt(buffer* counted) noexcept {
        buffer_ref r;
        r.buffer_ = counted;
        return r;
    }

    buffer_ref(const buffer_ref& other) noexcept : buffer_(other.buffer_) {
        if (buffer_) buffer_->references.fetch_add(1, std::memory_order_relaxed);
    }
    buffer_ref(buffer_ref&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
    buffer_ref& operator=(buffer_ref other) noexcept {
        std::swap(buffer_, other.buffer_);
        return *this;
    }
    ~buffer_ref() {
        // The only holder needs no atomic subtraction, since no other thread can copy the reference meanwhile.
        if (buffer_ && (buffer_->references.load(std::memory_order_acquire) == 1 ||
                        buffer_->references.fetch_sub(1, std::memory_order_acq_rel) == 1))
            runtime::release_buffer(*buffer_);
    }

    /// The buffer, or null.
    buffer* get() const noexcept { return buffer_; }
    /// The buffer, which must exist.
    buffer* operator->() const noexcept { return buffer_; }
    /// The buffer, which must exist.
    buffer& operator*() const noexcept { return *buffer_; }
    explicit operator bool() const noexcept { return buffer_ != nullptr; }
    friend bool operator==(const buffer_ref&, const buffer_ref&) = default;

    /// The number of references.
    std::uint32_t use_count() const noexcept {
        runtime::settle_references();
        return buffer_ ? buffer_->references.load(std::memory_order_acquire) : 0;
    }
    /// Whether only the caller's `own` references hold the buffer, so that it may be written.
    bool unique(std::uint32_t own = 1) const noexcept {
        return use_count() == own + (buffer_ ? buffer_->exports.load(std::memory_order_acquire) : 0u);
    }

private:
    buffer* buffer_ = nullptr;
};

/// Allocates at least one byte, not initialised, aligned to 512 bytes, for use on the stream, or on the device's
/// default stream where the stream is another device's. The defaults are the current device and stream. Throws
/// out_of_memory.
INGOT_API buffer_ref allocate_buffer(std::size_t bytes, device_id device, runtime::stream_state& stream);
INGOT_API buffer_ref allocate_buffer(std::size_t bytes);

/// Allocates host memory that a GPU copies to and from at full speed. Throws out_of_memory.
INGOT_API buffer_ref allocate_pinned_buffer(std::size_t bytes);

/// A buffer over memory that is not Ingot's, which never frees it. `end` is called once, when the last reference is
/// gone and the streams that use the memory have passed: at once where they have, else by the next thread that drops
/// another such buffer, allocates, waits for a stream or ends the process. It must not throw.
INGOT_API buffer_ref unowned_buffer(void* data, std::size_t bytes, device_id device, void (*end)(void*) = nullptr,
                                    void* end_argument = nullptr);

}  // namespace detail

namespace runtime {
using detail::allocate_buffer;
using detail::allocate_pinned_buffer;
using detail::buffer;
using detail::buffer_ref;
using detail::unowned_buffer;
}  // namespace runtime
}  // namespace ingot
