// The interface through which the pool, the ordering and the copies use a kind of device. It has one implementation for
// the host, one for CUDA, and one in the tests whose streams run their work in random interleavings. Pointers, streams
// and events of one backend mean nothing to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <ingot/core/device.hpp>

namespace ingot::runtime {

enum class native_stream : std::uintptr_t {};  // a CUstream
enum class native_event : std::uintptr_t {};   // a CUevent

/// A host function that runs in a stream's order.
struct launch_record {
    void (*body)(void* argument);
    void* argument;
};

enum class copy_direction : std::uint8_t { to_device, to_host, within, between };  // between: two devices of one kind

struct memory_info {
    std::size_t free = 0, total = 0;
};

/// One device. Every function may be called from any thread. A failing call throws device_error; functions marked
/// noexcept swallow failures, because they run in destructors, possibly after the driver's shutdown.
class backend {
public:
    virtual ~backend() = default;

    /// Whether work is complete when the call that submitted it returns, so that there is nothing to wait for.
    virtual bool synchronous() const noexcept { return false; }
    /// Whether the CPU may access the memory directly.
    virtual bool host_accessible() const noexcept { return false; }
    virtual std::string name() const = 0;
    virtual memory_info memory() const = 0;

    /// Memory aligned to 512 bytes; null when there is none left.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void release(void* data, std::size_t bytes) noexcept = 0;
    /// Page-locked host memory; null when there is none left.
    virtual void* allocate_pinned(std::size_t bytes) = 0;
    virtual void release_pinned(void* data, std::size_t bytes) noexcept = 0;

    virtual native_stream create_stream() = 0;
    /// Makes a stream that does not synchronise with the legacy default stream, in either direction.
    virtual native_stream create_non_blocking_stream() { return create_stream(); }
    /// Throws device_error unless a foreign stream can be worked on. Returns a number that no other stream of the
    /// process has or will have; 0 where the driver gives none.
    virtual std::uint64_t identify(native_stream) { return 0; }
    /// The stream with which every blocking stream is in order; an event recorded on it is behind the present work of
    /// all.
    virtual native_stream legacy_stream() const { return native_stream{0}; }
    /// The calling thread's default stream.
    virtual native_stream per_thread_stream() const { return native_stream{0}; }
    /// Throws device_error where these bytes of foreign memory do not belong to the device, as far as can be told.
    virtual void check_memory(const void*, std::size_t) {}
    virtual bool idle(native_stream) = 0;
    virtual void synchronize(native_stream) = 0;

    /// `blocking`: a thread that waits for the event sleeps.
    virtual native_event create_event(bool timed, bool blocking = false) = 0;
    virtual void destroy_event(native_event) noexcept = 0;
    /// Takes back an event that is neither timed nor blocking, perhaps for reuse.
    virtual void recycle_event(native_event e) noexcept { destroy_event(e); }
    virtual void record(native_event, native_stream) = 0;
    /// Work put on the stream from now on starts after the event's latest record.
    virtual void wait(native_stream, native_event) = 0;
    virtual bool done(native_event) = 0;
    virtual void synchronize(native_event) = 0;
    virtual float elapsed(native_event from, native_event to) = 0;  // milliseconds

    /// Copies in stream order. The copy is asynchronous only if the host memory is pinned.
    virtual void copy(void* to, const void* from, std::size_t bytes, copy_direction, native_stream) = 0;
    virtual void fill(void* to, unsigned char value, std::size_t bytes, native_stream) = 0;
    virtual void launch(native_stream, const launch_record&) = 0;

    /// Lets the calling thread call the driver for this device.
    virtual void bind_thread() {}
};

std::unique_ptr<backend> make_host_backend();
/// Null where there is no driver or no such GPU.
std::unique_ptr<backend> make_cuda_backend(int index);

/// The number of the GPU to which a pointer or a stream belongs. Throws device_error where the driver knows none, or
/// the stream belongs to a context other than the one in which Ingot works.
int gpu_of_memory(const void* data);
/// Throws device_error where a pointer that was given as host memory points to a GPU's memory.
void check_host_memory(const void* data);
int gpu_of_stream(native_stream);

}  // namespace ingot::runtime
