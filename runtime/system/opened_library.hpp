// The functions of a shared library as a typed table. A library is opened when it is first asked for, once and for
// ever; where that fails, the reason is kept and thrown again at every later call.
#pragma once

#include <atomic>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/system/dynamic_library.hpp"

namespace ingot::runtime {

/// The base of a table, whose members name their functions:
///
///     struct zlib_api : api_table {
///         using api_table::api_table;
///         static library_files files();
///         int (*inflate)(z_stream*, int flush) = function("inflate");
///     };
class api_table {
public:
    explicit api_table(const dynamic_library& library) : library_(&library) {}

protected:
    /// Converts to a pointer to a function of any type.
    struct any_function {
        void* address;
        template <class F>
        operator F*() const noexcept {
            return reinterpret_cast<F*>(address);
        }
    };
    /// Throws library_error where the library lacks the function.
    any_function function(const std::string& name) const { return {library_->require(name.c_str())}; }
    /// Null where the library lacks the function.
    any_function optional_function(const char* name) const noexcept { return {library_->find(name)}; }
    const std::string& library_name() const noexcept { return library_->name(); }

private:
    const dynamic_library* library_;
};

/// The files in which a library may be; the first one that opens and has all functions is taken.
struct library_files {
    std::vector<std::string> names;
    std::string absence;  // the error where no file is taken, which names the package; empty: the loader's reason
};
/// The file of one of NVIDIA's libraries (find_cuda_library), or an error that names the library's package.
library_files files_of_cuda_library(const std::string& stem, std::initializer_list<int> majors);

/// A fork locks this mutex, so that a child does not wait for a thread of its parent that was opening a library.
std::mutex& opening_mutex();
[[noreturn]] void throw_absence(const char* operation, const std::string& absence);

template <class Api>
class opened_library {
public:
    /// Throws library_error, which names the operation and the package.
    static const Api& get(const char* operation) {
        const opened_library& one = only();
        if (!one.api_) throw_absence(operation, one.absence_);
        return *one.api_;
    }
    /// Null where the library cannot be opened.
    static const Api* find() { return only().api_.get(); }
    /// Why it cannot be opened.
    static const std::string& absence() { return only().absence_; }

private:
    opened_library() {
        const library_files files = Api::files();
        for (const std::string& name : files.names) try {
                library_ = std::make_unique<const dynamic_library>(name);
                api_ = std::make_unique<const Api>(*library_);
                return;
            } catch (const library_error& reason) {
                absence_ = reason.what();
            }
        if (!files.absence.empty()) absence_ = files.absence;
    }

    static const opened_library& only() {
        if (const opened_library* const known = only_.load(std::memory_order_acquire)) [[likely]]
            return *known;
        const std::lock_guard lock(opening_mutex());
        if (only_.load(std::memory_order_relaxed) == nullptr)
            only_.store(new opened_library, std::memory_order_release);
        return *only_.load(std::memory_order_relaxed);
    }

    static inline constinit std::atomic<const opened_library*> only_{nullptr};

    std::unique_ptr<const dynamic_library> library_;
    std::unique_ptr<const Api> api_;
    std::string absence_;
};

}  // namespace ingot::runtime
