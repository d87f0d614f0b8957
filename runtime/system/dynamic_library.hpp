// A shared library opened at run time, and the search for NVIDIA's libraries. Files are found before they are opened,
// so that a library's identity is known without loading it.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

#include "runtime/system/handle.hpp"

namespace ingot::runtime {

struct library_traits {
    using type = void*;
    static constexpr void* none = nullptr;
    static void close(void* library) noexcept { dlclose(library); }
};

class dynamic_library {
public:
    /// Throws library_error with the loader's reason.
    explicit dynamic_library(const std::string& name_or_path);

    void* find(const char* symbol) const noexcept { return dlsym(library_.get(), symbol); }

    /// Sets the function pointer; throws library_error where the library lacks the function.
    template <typename Function>
    void get(Function& function, const char* symbol) const {
        function = reinterpret_cast<Function>(require(symbol));
    }

    /// Throws library_error where the library lacks the function.
    void* require(const char* symbol) const;

    const std::string& name() const noexcept { return name_; }

    /// Keeps the library loaded for ever, because a table holds its functions.
    void keep_loaded() noexcept { library_.release(); }

private:
    std::string name_;
    unique_handle<library_traits> library_;
};

/// Finds one of NVIDIA's libraries: "nvrtc" with majors {13, 12} is the first folder's libnvrtc.so.13, else a
/// libnvrtc.so.12. It looks along LD_LIBRARY_PATH, under CUDA_HOME and CUDA_PATH, where the build found the toolkit,
/// and in the usual folders; last it asks the loader, which opens the library.
std::optional<std::filesystem::path> find_cuda_library(const std::string& stem, std::initializer_list<int> majors);

}  // namespace ingot::runtime
