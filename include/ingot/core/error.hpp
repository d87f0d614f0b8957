// The exceptions that Ingot throws. Every one derives from ingot::error. Its text names the operation, what was given
// and what was wanted: "[add] shapes (2, 3) and (4,) do not broadcast".
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <ingot/core/export.hpp>

namespace ingot {

/// A place in a source file, as a defaulted argument: the place of the call. Functions that evaluate or make arrays
/// take one, and errors thrown meanwhile report it. As std::source_location, of which clang 14 has none.
///
///     const source_place here = source_place::current();
///     std::cout << (here.file() != nullptr) << (here.line() > 0) << (source_place::nowhere().file() == nullptr);
///     // prints: 111
class source_place {
public:
    /// The place of the call.
    static constexpr source_place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
        return source_place(made(), file, line);
    }
    /// No place.
    static constexpr source_place nowhere() noexcept { return source_place(made(), nullptr, 0); }

    /// The file's name, as given to the compiler.
    constexpr const char* file() const noexcept { return file_; }
    /// The line, counted from 1.
    constexpr int line() const noexcept { return line_; }

private:
    struct made {  // so that braces are none
        explicit made() = default;
    };
    constexpr source_place(made, const char* file, int line) noexcept : file_(file), line_(line) {}

    const char* file_;
    int line_;
};

namespace detail {

/// The statement that the calling thread executes; without a file where it is unknown.
extern INGOT_API constinit thread_local source_place current_statement;

/// Sets the thread's current statement, where no caller has set it.
class [[nodiscard]] in_statement {
public:
    explicit in_statement(const source_place& at) noexcept : is_outermost_(current_statement.file() == nullptr) {
        if (is_outermost_) current_statement = at;
    }
    in_statement(const in_statement&) = delete;
    in_statement& operator=(const in_statement&) = delete;
    ~in_statement() {
        if (is_outermost_) current_statement = source_place::nowhere();
    }

private:
    bool is_outermost_;
};

}  // namespace detail

/// Base of all of Ingot's exceptions.
///
///     array<int> x{1, 2, 3};
///     try {
///         x.item();
///     } catch (const error& e) {
///         std::cout << e.what() << ' ' << (e.file() != nullptr) << (e.line() > 0);
///     }
///     // prints: [item] shape (3,) has 3 elements; one is wanted 11
class error : public std::runtime_error {
public:
    explicit error(const std::string& what) : std::runtime_error(what), at_(detail::current_statement) {}
    explicit error(const char* what) : std::runtime_error(what), at_(detail::current_statement) {}

    /// The file of the user's statement that threw; null where nothing in it takes a `source_place`, as operators do
    /// not.
    const char* file() const noexcept { return at_.file(); }
    /// The line of that statement, or 0.
    int line() const noexcept { return at_.line(); }

private:
    source_place at_;
};

/// Shapes, ranks or axes that do not fit, and reductions of no elements that need a value.
///
///     try {
///         auto sum = array<int>{1, 2} + array<int>{1, 2, 3};
///     } catch (const shape_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [add] shapes (2,) and (3,) do not broadcast
class shape_error : public error {
public:
    using error::error;
};

/// A dtype, a scalar or an exponent that the operation cannot take.
///
///     try {
///         auto sum = array<std::int8_t>{1, 2} + 1000;
///     } catch (const dtype_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [add] scalar 1000 does not fit int8
class dtype_error : public error {
public:
    using error::error;
};

/// An index outside its axis.
///
///     try {
///         array<int> x{1, 2};
///         x(2) = 0;
///     } catch (const index_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [index] 2 is out of range for axis 0 of extent 2
class index_error : public error {
public:
    using error::error;
};

/// Arrays of two devices in one expression, a missing device, or a failing driver call.
///
///     try {
///         array<int> x{1, 2};
///         auto sum = x.to(device::host()) + x.to(device::host(1));
///     } catch (const device_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [add] operands on host:0 and host:1; move one with .to(device)
class device_error : public error {
public:
    using error::error;
};

/// A write to somebody else's memory that was given read-only.
///
///     const float given[2] = {1, 2};
///     array<float> x = asarray<float>(unowned_memory(given, sizeof given), {2});
///     try {
///         x += 1;
///     } catch (const read_only_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [assign] the array is over memory that was given as read-only; write to a copy of it
class read_only_error : public error {
public:
    using error::error;
};

/// The device has no memory left, after all cached memory was given back; the text has the sizes.
///
///     try {
///         array<double> much = empty({1 << 28, 1 << 28});
///     } catch (const out_of_memory& e) {
///         std::cout << e.what();
///     }
///     // prints: [allocate] out of memory on ...: 576460752303423488 bytes wanted, ...
class out_of_memory : public error {
public:
    using error::error;
};

/// A rank that failed, or a statement over arrays in parts that no rank can compute from its own: the text names the
/// partitions and the way out.
class distributed_error : public error {
public:
    using error::error;
};

/// A shared library that cannot be found or lacks a function.
class library_error : public error {
public:
    using error::error;
};

/// A file that cannot be opened, read or written, or whose content is not as expected: cut short, damaged, of another
/// kind.
///
///     try {
///         load<float>("nowhere.npy");
///     } catch (const file_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [load] nowhere.npy: No such file or directory
class file_error : public error {
public:
    using error::error;
};

/// A matrix that the linear algebra function cannot handle.
class linalg_error : public error {
public:
    using error::error;
};

/// The compiler rejected a generated or a user's source.
///
///     const reduction_kernel<"T x", "T y"> wrong("x * nothing", "a + b", "y = a", "0");
///     try {
///         array<double> y = wrong(array<double>{1, 2});
///     } catch (const compile_error& e) {
///         std::cout << !e.log().empty() << ' ' << (e.source().find("nothing") != std::string::npos);
///     }
///     // prints: 1 1
class compile_error : public error {
public:
    compile_error(const std::string& what, std::string log, std::string source)
        : error(what), log_(std::move(log)), source_(std::move(source)) {}
    /// The compiler's output; a message about a user's text has the line of the text before it.
    const std::string& log() const noexcept { return log_; }
    /// The source, each line with its number.
    const std::string& source() const noexcept { return source_; }

private:
    std::string log_;
    std::string source_;
};

}  // namespace ingot
