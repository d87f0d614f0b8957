// Devices, streams and events, and the guards that make one of them current for the calling thread.
// The current device, stream and mode of arithmetic are one small thread-local struct: reading it costs a load.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include <ingot/export.hpp>
#include <ingot/key.hpp>

namespace ingot {

namespace runtime {
struct stream_state;
class backend;
}  // namespace runtime

using detail::math_mode;

/// What a device is. `other` devices have a backend that a program brings along; the tests' fake GPU is one.
enum class device_kind : std::uint8_t { host, cuda, other };

/// Names a device: a kind and a number. device::host(1) is a second host device, with streams and memory of its own.
class device {
public:
    constexpr device() noexcept = default;
    constexpr device(device_kind kind, std::uint8_t index) noexcept : kind_(kind), index_(index) {}
    static constexpr device host(int index = 0) noexcept {
        return {device_kind::host, static_cast<std::uint8_t>(index)};
    }
    static constexpr device cuda(int index = 0) noexcept {
        return {device_kind::cuda, static_cast<std::uint8_t>(index)};
    }
    /// Reads "host", "host:1", "cuda", "cuda:3"; anything else throws device_error.
    INGOT_API static device parse(std::string_view text);
    /// Number of GPUs that can be used; 0 without a driver.
    INGOT_API static int cuda_count() noexcept;

    constexpr device_kind kind() const noexcept { return kind_; }
    constexpr int index() const noexcept { return index_; }
    constexpr bool is_host() const noexcept { return kind_ == device_kind::host; }
    constexpr bool is_cuda() const noexcept { return kind_ == device_kind::cuda; }
    /// The maker's name: "NVIDIA H200".
    INGOT_API std::string name() const;
    /// Waits for all work of all streams of the device.
    INGOT_API void synchronize() const;

    /// In one comparison: every node of a tree makes it.
    friend constexpr bool operator==(device a, device b) noexcept {
        return std::bit_cast<std::uint16_t>(a) == std::bit_cast<std::uint16_t>(b);
    }

private:
    device_kind kind_ = device_kind::host;
    std::uint8_t index_ = 0;
};

/// The same type under a name that classes with a member `device` can use.
using device_id = device;

namespace detail {
/// No device: a tree of scalars alone.
inline constexpr device_id no_device{device_kind::other, 255};
}  // namespace detail

/// "cuda:0", "host:0".
INGOT_API std::string to_string(device_id);
INGOT_API std::ostream& operator<<(std::ostream&, device_id);

namespace runtime {

/// What is current in a thread. Holds no reference: guards keep what they make current alive.
struct current_state {
    device_id device;
    stream_state* stream = nullptr;  // null until the thread first asks
    math_mode math = math_mode::standard;
};
extern INGOT_API constinit thread_local current_state current_of_thread;

/// Gives the thread the default device (INGOT_DEVICE, else the first GPU, else the host) and its default stream.
INGOT_API void choose_current();

inline current_state& current() {
    if (current_of_thread.stream == nullptr) [[unlikely]]
        choose_current();
    return current_of_thread;
}

INGOT_API void keep_stream(stream_state&) noexcept;
INGOT_API void drop_stream(stream_state&) noexcept;

}  // namespace runtime

class event;

/// A queue of work that runs in order. Copies are the same queue; it ends with the last of them, after its work.
class stream {
public:
    /// A new one on the current device.
    INGOT_API stream();
    INGOT_API explicit stream(device_id device);
    explicit stream(runtime::stream_state& state) noexcept : state_(&state) { runtime::keep_stream(*state_); }
    stream(const stream& other) noexcept : stream(*other.state_) {}
    stream& operator=(const stream& other) noexcept {
        stream copy(other);
        std::swap(state_, copy.state_);
        return *this;
    }
    ~stream() { runtime::drop_stream(*state_); }

    /// Waits until all work given to the stream is done.
    INGOT_API void synchronize() const;
    /// Makes later work of the stream wait for the event's point.
    INGOT_API void wait(const event& e) const;
    /// Whether all work given to the stream is done.
    INGOT_API bool done() const;
    INGOT_API ingot::device device() const;
    runtime::stream_state& state() const noexcept { return *state_; }
    friend bool operator==(const stream&, const stream&) = default;

private:
    runtime::stream_state* state_;
};

/// A point in a stream's work.
class event {
public:
    event() = default;
    event(event&& other) noexcept
        : backend_(std::exchange(other.backend_, nullptr)),
          native_(std::exchange(other.native_, 0)),
          stream_(std::exchange(other.stream_, nullptr)) {}
    event& operator=(event&& other) noexcept {
        std::swap(backend_, other.backend_);
        std::swap(native_, other.native_);
        std::swap(stream_, other.stream_);
        return *this;
    }
    INGOT_API ~event();

    /// Marks the present end of the stream's work; of the current stream's without an argument.
    INGOT_API void record(const stream& s);
    INGOT_API void record();
    /// Waits on the host for the point, then throws what the stream's work left to be thrown.
    INGOT_API void synchronize() const;
    INGOT_API bool done() const;
    /// Milliseconds from one point to a later one. Waits for both.
    INGOT_API friend float elapsed(const event& from, const event& to);

private:
    friend class stream;
    runtime::backend* backend_ = nullptr;  // null until recorded
    std::uintptr_t native_ = 0;
    runtime::stream_state* stream_ = nullptr;  // that it was recorded on last; it stands for ever
};
INGOT_API float elapsed(const event& from, const event& to);

/// The current device and stream of the calling thread.
inline device_id current_device() { return runtime::current().device; }
inline stream current_stream() { return stream(*runtime::current().stream); }

/// Waits for the current stream.
INGOT_API void synchronize();

namespace runtime {

/// What guards have in common: the state before, put back at the end.
class current_guard {
public:
    current_guard(const current_guard&) = delete;
    current_guard& operator=(const current_guard&) = delete;

protected:
    current_guard() noexcept : before_(current_of_thread) {}
    ~current_guard() { current_of_thread = before_; }

private:
    current_state before_;
};

}  // namespace runtime

/// Makes a device and its default stream current until the guard ends.
class [[nodiscard]] with_device : runtime::current_guard {
public:
    INGOT_API explicit with_device(device_id device);
};

/// Makes a stream, and the device it is of, current until the guard ends.
class [[nodiscard]] with_stream : runtime::current_guard {
public:
    explicit with_stream(const stream& s) : kept_(s) {
        runtime::current_of_thread.device = kept_.device();
        runtime::current_of_thread.stream = &kept_.state();
    }

private:
    stream kept_;
};

/// Sets how expressions that are evaluated until the guard ends may compute.
class [[nodiscard]] with_math : runtime::current_guard {
public:
    explicit with_math(math_mode mode) noexcept { runtime::current_of_thread.math = mode; }
};

/// float32 division, square roots and functions by the GPU's approximations (some 1e-6 relative, functions of large
/// arguments worse), subnormals as zero. The host computes as ever.
inline constexpr math_mode fast = math_mode::fast;
/// No contraction of a * b + c: exact operations give NumPy's bits.
inline constexpr math_mode strict = math_mode::strict;
inline constexpr math_mode tf32 = math_mode::tf32;

}  // namespace ingot
