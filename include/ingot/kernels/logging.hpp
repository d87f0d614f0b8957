// What Ingot does behind an expression, told as it happens: compiles, kernels found in caches, cuts into several
// kernels, memory taken from a device and given back. INGOT_LOG prints it; set_logger hands it to the program.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ingot/core/device.hpp>
#include <ingot/core/export.hpp>

namespace ingot {

/// What a record is about.
enum class log_kind : std::uint8_t {
    compile,      ///< a source was compiled, by NVRTC or by the host's compiler
    memory_hit,   ///< a kernel was loaded already, where a statement met it for the first time
    disk_hit,     ///< a kernel came from the cache on disk
    bundle_hit,   ///< a kernel came from a bundle (with_cache_bundle)
    cut,          ///< a statement is several kernels: which, and why
    allocation,   ///< memory was taken from the device, or from its with_allocator's
    deallocation  ///< and given back
};

/// One thing that Ingot did. The texts live until the logger returns.
struct log_record {
    log_kind kind = log_kind::compile;
    std::string_view text{};  ///< one line that says all of it
    std::string_view name{};  ///< the expression, or the kernel of a source of the user's own
    std::string_view key{};   ///< a compiled kernel's name in the cache: 32 hexadecimal digits
    double milliseconds = 0;  ///< that a compile took
    std::size_t bytes = 0;    ///< of memory
    std::size_t kernels = 0;  ///< and library calls that a statement was cut into
    ingot::device device{};   ///< whose memory it is, or what the kernel is for: of all GPUs the first
};

/// A function of a record, or none: a std::function, whose header takes a tenth of a second to compile.
///
///     const logger print([](const log_record& r) { std::cout << r.text; });
///     print({.text = "a record"});
///     std::cout << ' ' << static_cast<bool>(print) << static_cast<bool>(logger());
///     // prints: a record 10
class logger {
public:
    /// None.
    logger() = default;
    /// Any function, of which a copy is held.
    template <std::copy_constructible F>
        requires std::invocable<F&, const log_record&> && (!std::same_as<F, logger>)
    logger(F f) : function_(new F(std::move(f))), call_(call<F>), clone_(clone<F>), drop_(drop<F>) {}
    logger(const logger& l)
        : function_(l ? l.clone_(l.function_) : nullptr), call_(l.call_), clone_(l.clone_), drop_(l.drop_) {}
    logger(logger&& l) noexcept { swap(l); }
    logger& operator=(logger l) noexcept {
        swap(l);
        return *this;
    }
    ~logger() {
        if (function_ != nullptr) drop_(function_);
    }
    // Inner
    void swap(logger& l) noexcept {
        std::swap(function_, l.function_);
        std::swap(call_, l.call_);
        std::swap(clone_, l.clone_);
        std::swap(drop_, l.drop_);
    }

    /// Tells it of a record. There is a function.
    void operator()(const log_record& r) const { call_(function_, r); }
    explicit operator bool() const noexcept { return function_ != nullptr; }

private:
    template <class F>
    static void call(void* f, const log_record& r) {
        (*static_cast<F*>(f))(r);
    }
    template <class F>
    static void* clone(const void* f) {
        return new F(*static_cast<const F*>(f));
    }
    template <class F>
    static void drop(void* f) noexcept {
        delete static_cast<F*>(f);
    }

    void* function_ = nullptr;
    void (*call_)(void*, const log_record&) = nullptr;
    void* (*clone_)(const void*) = nullptr;
    void (*drop_)(void*) noexcept = nullptr;
};

/// Tells `next` of what Ingot does from now on, on any thread, and returns what was told before. An empty one, as at
/// the start, is what the environment's INGOT_LOG asks for: "compile", "cache", "cut", "memory", several of them with
/// commas between, or "all", printed on standard error, a line each. A logger is called in the middle of a statement:
/// it evaluates nothing and uses no arrays. Several threads may call it at once; what it throws is dropped. Statements
/// that come again have nothing to tell and cost nothing more.
///
///     std::size_t compiled = 0;
///     const logger before = set_logger([&](const log_record& r) {
///         if (r.kind == log_kind::compile || r.kind == log_kind::disk_hit) ++compiled;
///     });
///     const array<double> x{1, 2, 3};
///     const array<double> y = cbrt(x) * 17.25 + x, z = cbrt(y) * 17.25 + y;
///     set_logger(before);
///     std::cout << "kernels made: " << compiled;
///     // prints: kernels made: 1
INGOT_API logger set_logger(logger next);

}  // namespace ingot
