// Logs Ingot's work behind expressions: compiles, kernels found in caches, cuts into several kernels, memory taken from
// a device and given back, sessions of ranks. INGOT_LOG prints it; set_logger hands it to the program.
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

/// The kinds of records.
enum class log_kind : std::uint8_t {
    compile,       ///< a source was compiled, by NVRTC or by the host's compiler
    memory_hit,    ///< a kernel of a new statement was already loaded
    disk_hit,      ///< a kernel came from the cache on disk
    bundle_hit,    ///< a kernel came from a bundle (with_cache_bundle)
    cut,           ///< a statement was cut into several kernels; the text has these and the reason
    allocation,    ///< memory was taken from the device, or from its allocator
    deallocation,  ///< memory was given back
    session        ///< a session of ranks began; the text says through what they exchange
};

/// A record of one action of Ingot. The texts live until the logger returns.
struct log_record {
    log_kind kind = log_kind::compile;
    std::string_view text{};  ///< the whole record in one line
    std::string_view name{};  ///< the expression, or the user's own kernel
    std::string_view key{};   ///< a compiled kernel's name in the cache: 32 hexadecimal digits
    double milliseconds = 0;  ///< duration of a compile
    std::size_t bytes = 0;    ///< size of memory
    std::size_t kernels = 0;  ///< kernels and library calls of a cut statement
    ingot::device device{};   ///< the memory's or the kernel's device; for all GPUs the first
};

/// A function that takes a record, or none. It replaces std::function, whose header takes a tenth of a second to
/// compile.
///
///     const logger print([](const log_record& r) { std::cout << r.text; });
///     print({.text = "a record"});
///     std::cout << ' ' << static_cast<bool>(print) << static_cast<bool>(logger());
///     // prints: a record 10
class logger {
public:
    /// No function.
    logger() = default;
    /// A copy of any function.
    template <class F>
        requires(!std::same_as<F, logger>) && std::invocable<F&, const log_record&> && std::copy_constructible<F>
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

    /// Calls the function, which must exist, with a record.
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

/// Makes `next` the logger of all threads from now on, and returns the previous one. An empty one, as at the start,
/// does what the environment's INGOT_LOG says: it prints "compile", "cache", "cut", "memory", "session", several of
/// these separated by commas, or "all", a line each on standard error. A logger is called in the middle of a statement:
/// it must evaluate nothing and use no arrays. Several threads may call it at once; its exceptions are dropped.
/// Repeated statements have nothing to log and cost nothing more.
///
///     std::size_t compiled = 0;
///     const logger before = set_logger([&](const log_record& r) {
///         const bool made = r.kind == log_kind::compile || r.kind == log_kind::disk_hit;
///         if (made && r.name.starts_with("cbrt")) ++compiled;
///     });
///     const array<double> x{1, 2, 3};
///     const array<double> y = cbrt(x) * 17.25 + x, z = cbrt(y) * 17.25 + y;
///     set_logger(before);
///     std::cout << "kernels made: " << compiled;
///     // prints: kernels made: 1
INGOT_API logger set_logger(logger next);

}  // namespace ingot
