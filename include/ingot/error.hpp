// The exceptions that Ingot throws. Every one derives from ingot::error, its text names the operation, what was
// given and what was wanted: "[add] shapes (2, 3) and (4,) do not broadcast".
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace ingot {

/// Base of all of Ingot's exceptions.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Shapes, ranks or axes that do not fit, and reductions over nothing that need a value.
class shape_error : public error {
public:
    using error::error;
};

/// A dtype, a scalar or an exponent that the operation cannot take.
class dtype_error : public error {
public:
    using error::error;
};

/// An index outside its axis.
class index_error : public error {
public:
    using error::error;
};

/// Arrays of two devices in one expression, a device that is not there, or a failing driver call.
class device_error : public error {
public:
    using error::error;
};

/// No memory on the device, after everything cached was given back; the text has the sizes.
class out_of_memory : public error {
public:
    using error::error;
};

/// A shared library that cannot be found or lacks a function.
class library_error : public error {
public:
    using error::error;
};

/// A matrix that the linear algebra function cannot handle.
class linalg_error : public error {
public:
    using error::error;
};

/// The compiler rejected a generated or a user's source.
class compile_error : public error {
public:
    compile_error(const std::string& what, std::string log, std::string source)
        : error(what), log_(std::move(log)), source_(std::move(source)) {}
    /// What the compiler printed.
    const std::string& log() const noexcept { return log_; }
    /// The source, each line with its number.
    const std::string& source() const noexcept { return source_; }

private:
    std::string log_;
    std::string source_;
};

}  // namespace ingot
