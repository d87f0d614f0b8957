// The common part of the cache's tests: a directory of their own, a small host source, a child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/kernels/compile.hpp"
#include "runtime/kernels/compile_host.hpp"
#include "runtime/kernels/disk_cache.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::test {

/// A directory under $TMPDIR that goes with its end.
class scratch_directory {
public:
    scratch_directory() {
        std::string name = (std::filesystem::temp_directory_path() / "ingot_test_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", {});
        path_ = name;
    }
    scratch_directory(const scratch_directory&) = delete;
    ~scratch_directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Sets a variable of the environment until its end; nullptr removes it.
class environment_variable {
public:
    environment_variable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        put(value);
    }
    environment_variable(const environment_variable&) = delete;
    ~environment_variable() { put(old_ ? old_->c_str() : nullptr); }

private:
    void put(const char* value) const { value != nullptr ? setenv(name_, value, 1) : unsetenv(name_); }
    const char* name_;
    std::optional<std::string> old_;
};

/// `int answer()` that returns `value`.
inline runtime::source_text answering(int value) {
    runtime::source_text source;
    source.architecture = runtime::host_architecture();
    source.text = "extern \"C\" int answer() { return " + std::to_string(value) + "; }\n";
    source.kernels = {"answer"};
    return source;
}

inline runtime::disk_cache cache_in(const std::filesystem::path& directory, std::size_t cap = std::size_t{1} << 30) {
    auto cache = runtime::disk_cache::open(directory, cap);
    if (!cache) throw std::runtime_error("no cache in " + directory.string());
    return std::move(*cache);
}

/// The cache's only kernel file.
inline std::filesystem::path only_entry(const std::filesystem::path& directory) {
    std::filesystem::path found;
    for (const auto& item : std::filesystem::directory_iterator(directory)) {
        if (item.path().extension() == ".kernel") found = found.empty() ? item.path() : throw std::runtime_error("two");
    }
    return found;
}

inline std::vector<std::byte> bytes_of(std::size_t size, int value) {
    return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

/// Runs the body in a child process, which ends with its result as exit status; 99 for an exception.
template <typename Body>
pid_t start_child(Body body) {
    const pid_t child = fork();
    if (child != 0) return child;
    int status = 99;
    try {
        status = body();
    } catch (...) {
    }
    _exit(status);
}

inline int exit_status(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace ingot::test
