#include "runtime/kernels/kernel_module.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "runtime/device/nvtx.hpp"
#include "runtime/kernels/cache_bundle.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/environment.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/log.hpp"
#include "runtime/system/memory_file.hpp"

namespace ingot::runtime {

namespace {

/// Incremented with every change in the interface between generated code and the runtime.
constexpr int cache_abi = 1;

/// `compiler` is a line with its identity, or empty.
std::string identity_of(const source_text& source, const std::string& compiler) {
    std::string text = "ingot cache " + std::to_string(cache_abi);
    text += source.where == target::cuda ? "\ntarget cuda" : "\ntarget host";
    text += "\narchitecture " + source.architecture + "\noptions";
    for (const std::string& option : compiler_options(source))
        text += " " + std::to_string(option.size()) + ":" + option;
    return text + compiler + "\nsource\n" + source.text;
}

cache_key key_of(const source_text& source) {
    return cache_key(identity_of(source, "\ncompiler " + compiler_identity(source.where)));
}

/// The loader identifies libraries by the text of their paths, and descriptor numbers are reused. So the path also
/// contains a serial number, "/." for each one bit and "/" for each zero bit, which the file system ignores.
std::string unique_path(int descriptor) {
    static std::atomic<unsigned> serial{0};
    std::string path = "/proc/self/fd";
    for (unsigned rest = ++serial; rest != 0; rest >>= 1) path += (rest & 1) != 0 ? "/." : "/";
    return path + "/" + std::to_string(descriptor);
}

std::string name_of(const source_text& source) { return source.kernels.empty() ? "kernel" : source.kernels.front(); }

/// The kernel's name for people.
std::string title_of(const source_text& source) {
    return source.expression.empty() ? name_of(source) : source.expression;
}

/// Logs where a kernel's code came from.
void log_code(log_kind kind, const char* how, const source_text& source, const cache_key& key,
              std::optional<double> milliseconds = {}) {
    if (!is_logging()) return;
    const std::string name = title_of(source);
    const std::string hash = to_hex(key.name);
    char time[40] = "";
    if (milliseconds) std::snprintf(time, sizeof time, " in %.1f ms", *milliseconds);
    const bool cuda = source.where == target::cuda;
    const std::string text = how + name + " for " + (cuda ? source.architecture : "the host") + time + ", " + hash;
    emit_log({.kind = kind,
              .text = text,
              .name = name,
              .key = hash,
              .milliseconds = milliseconds.value_or(0),
              .device = cuda ? device::cuda() : device::host()});
}

/// Compiles with a timer, a log record and a profiler range.
std::vector<std::byte> compile_visibly(const source_text& source, const cache_key& key) {
    using clock = std::chrono::steady_clock;
    look_for_profiler();
    const profiled_range range("compile ", title_of(source));
    const auto start = clock::now();
    std::vector<std::byte> code = compile(source);
    log_code(log_kind::compile, "compiled ", source, key,
             std::chrono::duration<double, std::milli>(clock::now() - start).count());
    return code;
}

}  // namespace

std::string cache_version() { return std::to_string(cache_abi); }

kernel_module::kernel_module(target where, const std::string& name, std::span<const std::byte> code)
    : names_(appended_names(code)) {
    if (where == target::host) {
        const memory_file file("ingot " + name.substr(0, 200), code);
        host_ = unique_handle<library_traits>(dlopen(unique_path(file.descriptor()).c_str(), RTLD_NOW | RTLD_LOCAL));
        if (!host_) throw library_error("[load kernel] " + name + ": " + dlerror());
        return;
    }
#ifdef INGOT_HAS_CUDA_HEADERS
    check(need_driver("load kernel")
              .cuLibraryLoadData(cuda_.out(), code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          ("load kernel " + name).c_str());
#else
    throw device_error("[load kernel] " + name + ": " + why_no_driver());
#endif
}

void* kernel_module::host_function(std::string_view name) const {
    void* const function = host_ ? dlsym(host_.get(), std::string(name).c_str()) : nullptr;
    if (function == nullptr) throw library_error("[load kernel] no host function " + std::string(name));
    return function;
}

std::span<std::byte> kernel_module::host_variable(std::string_view name) const {
    void* const data = host_ ? dlsym(host_.get(), std::string(name).c_str()) : nullptr;
    Dl_info info{};
    void* symbol = nullptr;
    if (data == nullptr || dladdr1(data, &info, &symbol, RTLD_DL_SYMENT) == 0 || symbol == nullptr) return {};
    return {static_cast<std::byte*>(data), static_cast<const ElfW(Sym)*>(symbol)->st_size};
}

#ifdef INGOT_HAS_CUDA_HEADERS
std::span<std::byte> kernel_module::variable(std::string_view name) const {
    CUdeviceptr data = 0;
    std::size_t bytes = 0;
    const CUresult status = cuda_ ? driver()->cuLibraryGetGlobal(&data, &bytes, cuda_.get(), std::string(name).c_str())
                                  : CUDA_ERROR_NOT_FOUND;
    if (status == CUDA_ERROR_NOT_FOUND) return {};
    check(status, ("find variable " + std::string(name)).c_str());
    return {reinterpret_cast<std::byte*>(data), bytes};
}

CUkernel kernel_module::kernel(std::string_view name) const {
    if (!cuda_) throw library_error("[load kernel] no CUDA kernel " + std::string(name));
    CUkernel kernel = nullptr;
    check(driver()->cuLibraryGetKernel(&kernel, cuda_.get(), std::string(name).c_str()),
          ("find kernel " + std::string(name)).c_str());
    return kernel;
}
#endif

/// A load for which callers wait. After a fork the thread that would finish it may not exist; `process` tells.
struct kernel_store::pending_load {
    std::promise<std::shared_ptr<const kernel_module>> promise;
    std::shared_future<std::shared_ptr<const kernel_module>> result = promise.get_future().share();
    pid_t process = getpid();

    bool lost() const {
        return process != getpid() && result.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    }
};

std::vector<std::byte> kernel_store::code(const source_text& source) { return code(source, key_of(source)); }

std::vector<std::byte> kernel_store::code(const source_text& source, const cache_key& key) {
    if (source.reads_files || !has_bundles()) return code_without_bundle(source, key);
    const std::string identity = identity_of(source, "");
    if (auto found = find_in_bundles(identity)) {
        log_code(log_kind::bundle_hit, "found in a bundle: ", source, key);
        return *std::move(found);
    }
    try {
        std::vector<std::byte> made = code_without_bundle(source, key);
        add_to_bundle(identity, made);
        return made;
    } catch (const library_error& e) {
        throw library_error(e.what() + kernels_of_bundles(source.architecture));
    }
}

std::vector<std::byte> kernel_store::code_without_bundle(const source_text& source, const cache_key& key) {
    if (!cache_ || source.reads_files) return compile_visibly(source, key);
    const auto cached = [&] {
        auto found = cache_->find(key);
        if (found) {
            add(counter::disk_cache_hits);
            log_code(log_kind::disk_hit, "found on disk: ", source, key);
        }
        return found;
    };
    if (auto found = cached()) return *std::move(found);
    const kernel_lock lock = cache_->lock(key);
    if (auto found = cached()) return *std::move(found);  // published while this thread waited
    std::vector<std::byte> fresh = compile_visibly(source, key);
    cache_->publish(key, fresh);
    return fresh;
}

std::shared_ptr<const kernel_module> kernel_store::load_now(const source_text& source, const cache_key& key) {
    return std::make_shared<const kernel_module>(source.where, name_of(source), code(source, key));
}

std::shared_ptr<const kernel_module> kernel_store::load(const source_text& source) {
    const cache_key key = key_of(source);
    const auto mine = std::make_shared<pending_load>();
    {
        std::unique_lock guard(mutex_);
        std::shared_ptr<pending_load>& entry = loads_[key.identity];
        if (entry != nullptr && !entry->lost()) {
            const auto result = entry->result;
            guard.unlock();
            return result.get();
        }
        entry = mine;
    }
    try {
        mine->promise.set_value(load_now(source, key));
    } catch (...) {
        {
            const std::lock_guard guard(mutex_);
            loads_.erase(key.identity);
        }
        mine->promise.set_exception(std::current_exception());
    }
    return mine->result.get();
}

kernel_store& kernels() {
    static kernel_store& store = *[] {
        const auto directory = cache_directory();
        auto* const made = new kernel_store(directory ? disk_cache::open(*directory, cache_size_cap()) : std::nullopt);
        lock_across_fork(mutex_rank::kernels, made->mutex());
        return made;
    }();
    return store;
}

}  // namespace ingot::runtime
