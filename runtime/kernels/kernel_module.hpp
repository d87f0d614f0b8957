// Source text to a loaded kernel: disk cache, compiler, loader. All callers of one source share one compile: threads by
// a table of pending loads, processes by a lock in the disk cache.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/device/driver.hpp"
#include "runtime/kernels/compile.hpp"
#include "runtime/kernels/compile_host.hpp"
#include "runtime/kernels/disk_cache.hpp"
#include "runtime/system/dynamic_library.hpp"

namespace ingot::runtime {

#ifdef INGOT_HAS_CUDA_HEADERS
struct cuda_library_traits {
    using type = CUlibrary;
    static constexpr CUlibrary none = nullptr;
    static void close(CUlibrary library) noexcept { driver()->cuLibraryUnload(library); }
};
#endif

/// Loaded code. It is immutable; one CUlibrary serves every device of its architecture.
class kernel_module {
public:
    /// Throws library_error or device_error where the loader refuses the code.
    kernel_module(target where, const std::string& name, std::span<const std::byte> code);

    /// Throws library_error where there is no such function.
    void* host_function(std::string_view name) const;
#ifdef INGOT_HAS_CUDA_HEADERS
    CUkernel kernel(std::string_view name) const;
    /// A variable in the current context; null where there is none.
    std::span<std::byte> variable(std::string_view name) const;
#endif
    /// The names in the code of a source's name expressions, in their order.
    const std::vector<std::string>& names() const noexcept { return names_; }
    /// The bytes of a variable on the host; null where there is none.
    std::span<std::byte> host_variable(std::string_view name) const;

private:
    std::vector<std::string> names_;
    unique_handle<library_traits> host_;
#ifdef INGOT_HAS_CUDA_HEADERS
    unique_handle<cuda_library_traits> cuda_;
#endif
};

/// The version of the interface between generated code and the runtime, which bundles record.
std::string cache_version();

/// Loaded kernels, kept for ever, over an optional disk cache.
class kernel_store {
public:
    explicit kernel_store(std::optional<disk_cache> cache) : cache_(std::move(cache)) {}

    /// The code of compile(source), from the disk cache, or else compiled and stored there.
    std::vector<std::byte> code(const source_text& source);

    /// Throws the errors of compile and kernel_module, to every waiting caller; the next caller tries again.
    std::shared_ptr<const kernel_module> load(const source_text& source);

    /// For fork.
    std::mutex& mutex() noexcept { return mutex_; }

private:
    struct pending_load;
    std::vector<std::byte> code(const source_text& source, const cache_key& key);
    std::vector<std::byte> code_without_bundle(const source_text& source, const cache_key& key);
    std::shared_ptr<const kernel_module> load_now(const source_text& source, const cache_key& key);

    std::optional<disk_cache> cache_;
    std::mutex mutex_;  // guards loads_; not held while compiling
    std::unordered_map<std::string, std::shared_ptr<pending_load>> loads_;
};

/// The process's store, over the cache directory that the environment names on first use.
kernel_store& kernels();

inline std::shared_ptr<const kernel_module> load(const source_text& source) { return kernels().load(source); }

}  // namespace ingot::runtime
