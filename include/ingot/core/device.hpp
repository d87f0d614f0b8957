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

#include <ingot/core/error.hpp>
#include <ingot/core/export.hpp>
#include <ingot/core/key.hpp>

namespace ingot {

namespace runtime {
struct stream_state;
class backend;
}  // namespace runtime

/// The arithmetic of kernels: `standard`, in which the compiler may contract a * b + c, or `fast`, `strict` and `tf32`,
/// described below. `with_math` sets it.
using detail::math_mode;

/// The kinds of devices. An `other` device has a backend that a program brings along, such as the tests' fake GPU. The
/// device of an array that lies in parts on the devices of several ranks is `distributed` (distributed.hpp).
enum class device_kind : std::uint8_t { host, cuda, other, distributed };

/// Names a device: a kind and a number. device::host(1) is a second host device, with streams and memory of its own.
///
///     const device d = device::parse("host:1");
///     std::cout << d << ' ' << d.is_host() << d.is_cuda() << ' ' << d.index() << ' ' << (d == device::host(1));
///     std::cout << ' ' << (d.kind() == device_kind::host) << (device::cuda_count() == 0 || d != device::cuda());
///     // prints: host:1 10 1 1 11
class device {
public:
    constexpr device() noexcept = default;
    /// Throws device_error for a number below 0 or above 255. Whether the device exists is checked at its first use.
    constexpr device(device_kind kind, int index) : kind_(kind), index_(static_cast<std::uint8_t>(index)) {
        if (index != index_) throw_no_such_device(kind, index);
    }
    /// A host device by its number.
    static constexpr device host(int index = 0) { return {device_kind::host, index}; }
    /// A GPU by its number.
    static constexpr device cuda(int index = 0) { return {device_kind::cuda, index}; }
    /// Reads "host", "host:1", "cuda", "cuda:3"; anything else throws device_error.
    INGOT_API static device parse(std::string_view text);
    /// Number of GPUs that can be used; 0 without a driver.
    INGOT_API static int cuda_count() noexcept;

    /// The kind of the device.
    constexpr device_kind kind() const noexcept { return kind_; }
    /// Its number among those of its kind.
    constexpr int index() const noexcept { return index_; }
    /// Whether it is a host device.
    constexpr bool is_host() const noexcept { return kind_ == device_kind::host; }
    /// Whether it is a GPU.
    constexpr bool is_cuda() const noexcept { return kind_ == device_kind::cuda; }

    /// The maker's name: "NVIDIA H200". Throws device_error where there is no such device.
    ///
    ///     std::cout << !device::host().name().empty();
    ///     // prints: 1
    INGOT_API std::string name() const;

    /// Waits for all work of all streams of the device, then throws the errors that it left.
    ///
    ///     device::host().synchronize();
    ///     std::cout << "done";
    ///     // prints: done
    INGOT_API void synchronize() const;

    /// Compares both members at once, since every node of a tree compares devices.
    friend constexpr bool operator==(device a, device b) noexcept {
        return std::bit_cast<std::uint16_t>(a) == std::bit_cast<std::uint16_t>(b);
    }

private:
    [[noreturn]] INGOT_API static void throw_no_such_device(device_kind, int index);

    device_kind kind_ = device_kind::host;
    std::uint8_t index_ = 0;
};

namespace detail {
/// `device` under a name for classes that have a member `device`.
using device_id = device;

/// No device: that of a tree of scalars alone.
inline constexpr device_id no_device{device_kind::other, 255};
/// The device of every distributed array.
inline constexpr device_id all_ranks{device_kind::distributed, 0};

/// Whether one expression may have operands of both devices. An ordinary array beside a distributed one is replicated.
constexpr bool may_meet(device_id a, device_id b) noexcept {
    return a == b || a == no_device || b == no_device || a.kind() == device_kind::distributed ||
           b.kind() == device_kind::distributed;
}
/// Adds an operand's device to that of an expression.
constexpr void meet(device_id& all, device_id own) noexcept {
    if (all == no_device || own.kind() == device_kind::distributed) all = own;
}
}  // namespace detail

/// The device's name, such as "cuda:0" or "host:0".
///
///     std::cout << to_string(device::cuda(3)) << ' ' << device::host();
///     // prints: cuda:3 host:0
INGOT_API std::string to_string(device);

/// Prints the text of `to_string`.
///
///     std::cout << device::host();
///     // prints: host:0
INGOT_API std::ostream& operator<<(std::ostream&, device);

namespace runtime {

using detail::device_id;

/// The current device, stream and mode of a thread. It holds no reference: guards keep their stream alive.
struct current_state {
    device_id device;
    stream_state* stream = nullptr;  // null until the thread first asks
    math_mode math = math_mode::standard;
    bool records = false;  // records a graph: copies of arrays are deep then
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
/// Throws device_error where the stream is another thread's default stream.
INGOT_API void check_of_thread(const stream_state&);

}  // namespace runtime

class event;

/// The type of `non_blocking`.
class non_blocking_t {
public:
    // Inner
    struct made {};
    constexpr explicit non_blocking_t(made) {}
};

/// Makes a stream that is not in order with CUDA's legacy default stream: stream(non_blocking).
///
///     stream apart(non_blocking);
///     std::cout << apart.done();
///     // prints: 1
inline constexpr non_blocking_t non_blocking{non_blocking_t::made{}};

/// A queue of work that runs in order. Copies name the same queue; it ends with the last copy, after its work. Ingot
/// orders work across streams where they use the same arrays.
///
/// On a GPU, Ingot's own streams, including each device's default one, are blocking: they are in order with CUDA's
/// legacy default stream, so kernels launched without a stream see Ingot's earlier work and Ingot's later work sees
/// theirs. `stream(non_blocking)` makes one that is not.
///
///     stream work;
///     array<double> a{1, 2, 3};
///     {
///         with_stream in(work);
///         a *= 2;
///     }
///     work.synchronize();
///     std::cout << a << ' ' << work.done() << ' ' << (work.device() == current_device());
///     // prints: [2. 4. 6.] 1 1
class stream {
public:
    /// A new stream on the current device, or on the device given. Throws device_error where that does not exist.
    INGOT_API stream();
    INGOT_API explicit stream(ingot::device device);
    /// A stream that is not in order with CUDA's legacy default stream.
    INGOT_API explicit stream(non_blocking_t);
    INGOT_API stream(ingot::device device, non_blocking_t);

    /// A handle for somebody else's CUstream or cudaStream_t, which must live as long as a copy of the handle and may
    /// be destroyed right after. Work that Ingot launches on it runs behind its owner's earlier work. Throws
    /// device_error where it is null, where the driver says that it is no stream or one of another context than its
    /// GPU's primary one, and where the current device is a host.
    ///
    ///     const auto scaled = [](const array<float>& x, void* cuda_stream) {
    ///         with_stream in(stream::from_native(cuda_stream));
    ///         return array<float>(x * 2);
    ///     };
    ///     with_device on_the_host(device::host());
    ///     try {
    ///         scaled(array<float>{1}, nullptr);
    ///     } catch (const device_error& e) {
    ///         std::cout << e.what();
    ///     }
    ///     // prints: [stream] a null stream is CUDA's default one; say stream::legacy_default() or ...
    INGOT_API static stream from_native(void* native);
    /// CUDA's legacy default stream, on the current device or the one given. Throws device_error where that is a host.
    ///
    ///     if (device::cuda_count() > 0) {
    ///         stream::legacy_default(device::cuda()).synchronize();
    ///         stream::per_thread_default(device::cuda()).synchronize();
    ///     }
    ///     std::cout << "in order";
    ///     // prints: in order
    INGOT_API static stream legacy_default();
    INGOT_API static stream legacy_default(ingot::device device);
    /// The default stream that CUDA has for the calling thread, on the current device or the one given. No other thread
    /// can work on it. Throws device_error where the device is a host.
    INGOT_API static stream per_thread_default();
    INGOT_API static stream per_thread_default(ingot::device device);

    // Inner
    explicit stream(runtime::stream_state& state) noexcept : state_(&state) { runtime::keep_stream(*state_); }

    stream(const stream& other) noexcept : stream(*other.state_) {}
    stream& operator=(const stream& other) noexcept {
        stream copy(other);
        std::swap(state_, copy.state_);
        return *this;
    }
    ~stream() { runtime::drop_stream(*state_); }

    /// Waits until all work given to the stream is done, then throws the errors that it left.
    INGOT_API void synchronize() const;

    /// Makes later work of the stream wait for the event's point. The host does not wait.
    ///
    ///     stream work;
    ///     event ready;
    ///     ready.record();
    ///     work.wait(ready);
    ///     work.synchronize();
    ///     std::cout << ready.done();
    ///     // prints: 1
    INGOT_API void wait(const event& e) const;
    /// Whether all work given to the stream is done. For another thread's default stream the answer may be late, and
    /// takes up to 50 microseconds.
    INGOT_API bool done() const;
    /// The CUstream, which is a cudaStream_t too, for use by other libraries; null on a host. It lives as long as the
    /// stream.
    ///
    ///     stream work(device::host());
    ///     std::cout << (work.native_handle() == nullptr);
    ///     // prints: 1
    INGOT_API void* native_handle() const noexcept;
    /// The device of the stream.
    INGOT_API ingot::device device() const;

    // Inner
    runtime::stream_state& state() const noexcept { return *state_; }
    friend bool operator==(const stream&, const stream&) = default;

private:
    struct adopted_t {};  // its reference is already counted
    stream(adopted_t, runtime::stream_state& state) noexcept : state_(&state) {}

    runtime::stream_state* state_;
};

/// The type of `blocking` and `no_timing`.
class event_option {
public:
    // Inner
    enum class what : std::uint8_t { blocking, no_timing };
    constexpr explicit event_option(what w) : what_(w) {}
    constexpr what value() const noexcept { return what_; }

private:
    what what_;
};

/// Makes `synchronize` of an event put the thread to sleep until the GPU wakes it; without it the thread may spin.
///
///     event done(blocking);
///     done.record();
///     done.synchronize();
///     std::cout << done.done();
///     // prints: 1
inline constexpr event_option blocking{event_option::what::blocking};
/// Makes an event without a time stamp, which is quicker to record and to wait for; `elapsed` of it throws.
///
///     event ready(no_timing), other(blocking, no_timing);
///     ready.record();
///     std::cout << ready.done();
///     // prints: 1
inline constexpr event_option no_timing{event_option::what::no_timing};

/// A point in a stream's work.
///
///     event from, to;
///     from.record();
///     array<double> a = ones({1000});
///     to.record(current_stream());
///     to.synchronize();
///     std::cout << to.done() << ' ' << (elapsed(from, to) >= 0);
///     // prints: 1 1
class event {
public:
    event() = default;
    /// An event with `blocking`, `no_timing`, or both.
    explicit event(event_option option) noexcept { set(option); }
    event(event_option one, event_option other) noexcept {
        set(one);
        set(other);
    }
    event(event&& other) noexcept
        : backend_(std::exchange(other.backend_, nullptr)),
          native_(std::exchange(other.native_, 0)),
          stream_(std::exchange(other.stream_, nullptr)),
          is_borrowed_(std::exchange(other.is_borrowed_, false)),
          is_blocking_(other.is_blocking_),
          is_timed_(other.is_timed_) {}
    event& operator=(event&& other) noexcept {
        std::swap(backend_, other.backend_);
        std::swap(native_, other.native_);
        std::swap(stream_, other.stream_);
        std::swap(is_borrowed_, other.is_borrowed_);
        std::swap(is_blocking_, other.is_blocking_);
        std::swap(is_timed_, other.is_timed_);
        return *this;
    }
    INGOT_API ~event();

    /// A handle for somebody else's CUevent or cudaEvent_t of the current device, which must live as long as the
    /// handle. Throws device_error where it is null, where the driver says that it is no event, and where the current
    /// device is a host.
    ///
    ///     with_device on_the_host(device::host());
    ///     try {
    ///         event::from_native(nullptr);
    ///     } catch (const device_error& e) {
    ///         std::cout << e.what();
    ///     }
    ///     // prints: [event] host:0 has no events but Ingot's own
    INGOT_API static event from_native(void* native);
    /// The CUevent, which is a cudaEvent_t too, for use by other libraries: made on the current device if there is none
    /// yet, null on a host. It lives as long as the event.
    ///
    ///     with_device on_the_host(device::host());
    ///     event e;
    ///     e.record();
    ///     std::cout << (e.native_handle() == nullptr);
    ///     // prints: 1
    INGOT_API void* native_handle();

    /// Marks the present end of the work of a stream, by default the current one.
    INGOT_API void record(const stream& s);
    INGOT_API void record();
    /// Waits on the host for the point, then throws the errors that the stream's work left.
    INGOT_API void synchronize() const;
    /// Whether the point is reached; true where nothing was recorded.
    INGOT_API bool done() const;
    /// Milliseconds from one point to a later one. Waits for both.
    INGOT_API friend float elapsed(const event& from, const event& to);

private:
    friend class stream;
    INGOT_API void make(runtime::backend&);
    void set(event_option option) noexcept {
        (option.value() == event_option::what::blocking ? is_blocking_ : is_timed_) =
            option.value() == event_option::what::blocking;
    }

    runtime::backend* backend_ = nullptr;  // null until recorded
    std::uintptr_t native_ = 0;
    runtime::stream_state* stream_ = nullptr;  // the last one it was recorded on; a stream_state is never freed
    bool is_borrowed_ = false;
    bool is_blocking_ = false, is_timed_ = true;
};

/// Milliseconds from one point to a later one. Waits for both. Throws device_error unless both were recorded, on one
/// device, without `no_timing`.
///
///     event from, to;
///     from.record();
///     to.record();
///     std::cout << (elapsed(from, to) >= 0);
///     // prints: 1
INGOT_API float elapsed(const event& from, const event& to);

/// The current device of the calling thread: the innermost guard's, else the default one.
///
///     with_device on_the_host(device::host());
///     std::cout << current_device();
///     // prints: host:0
inline detail::device_id current_device() { return runtime::current().device; }

/// The current stream of the calling thread: the innermost guard's, else the default one of the current device.
///
///     stream work;
///     with_stream in(work);
///     std::cout << (current_stream() == work);
///     // prints: 1
inline stream current_stream() { return stream(*runtime::current().stream); }

/// Waits for the current stream, then throws the errors that its work left.
///
///     array<double> a = ones({1000});
///     synchronize();
///     std::cout << current_stream().done();
///     // prints: 1
INGOT_API void synchronize(const source_place& here = source_place::current());

namespace runtime {

/// Base of the guards: restores the state before, at the end.
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

/// Makes a device and its default stream current until the guard ends. Throws device_error where there is no such
/// device.
///
///     with_device on_the_second(device::host(1));
///     std::cout << ones({2}).device();
///     // prints: host:1
class [[nodiscard]] with_device : runtime::current_guard {
public:
    INGOT_API explicit with_device(ingot::device device);
};

/// Makes a stream and its device current until the guard ends. Throws device_error where it is the default stream of
/// another thread.
///
///     stream work(device::host());
///     with_stream in(work);
///     std::cout << (ones({2}) + 1) << ' ' << current_device();
///     // prints: [2. 2.] host:0
class [[nodiscard]] with_stream : runtime::current_guard {
public:
    explicit with_stream(const stream& s) : kept_(s) {
        runtime::check_of_thread(kept_.state());
        runtime::current_of_thread.device = kept_.device();
        runtime::current_of_thread.stream = &kept_.state();
    }

private:
    stream kept_;
};

/// Sets the arithmetic of expressions that are evaluated until the guard ends: `fast`, `strict`, `tf32`.
///
///     with_math as_numpy(strict);
///     array<double> x{1.5, 2.5};
///     std::cout << x * x - x;
///     // prints: [0.75 3.75]
class [[nodiscard]] with_math : runtime::current_guard {
public:
    explicit with_math(math_mode mode) noexcept { runtime::current_of_thread.math = mode; }
};

/// float32 division, square roots and functions by the GPU's approximations (some 1e-6 relative, functions of large
/// arguments worse), with subnormals as zero. The host's arithmetic does not change.
inline constexpr math_mode fast = math_mode::fast;
/// No contraction of a * b + c: exact operations give NumPy's bits.
inline constexpr math_mode strict = math_mode::strict;
/// Products of float32 and complex64 matrices on a GPU may round their operands to TF32, of ten bits behind the point
/// (some 1e-3 relative), which tensor cores multiply fast. No other arithmetic changes.
inline constexpr math_mode tf32 = math_mode::tf32;

}  // namespace ingot
