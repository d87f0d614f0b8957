// Records for the user's logger (ingot/kernels/logging.hpp). They are made only if is_logging(), which only slow paths
// call: compiling, looking up in a table, taking memory from a device.
#pragma once

#include <string>
#include <vector>

#include <ingot/kernels/logging.hpp>

namespace ingot::runtime {

/// Whether there is a logger, or INGOT_LOG is set.
bool is_logging() noexcept;
/// Passes a record to the logger; ignores its exceptions, and records that it causes itself.
void emit_log(const log_record&) noexcept;

/// Collects records about a device's memory while a mutex is locked, and passes them on once it is unlocked: one of
/// these objects stands before the lock.
class memory_log {
public:
    memory_log() noexcept;
    memory_log(const memory_log&) = delete;
    memory_log& operator=(const memory_log&) = delete;
    ~memory_log();

    /// Adds a record to the thread's outermost object, if there is one.
    static void add(log_kind, std::size_t bytes, const char* whose, device_id) noexcept;

private:
    struct entry {
        log_kind kind;
        std::size_t bytes;
        const char* whose;
        device_id device;
    };
    std::vector<entry> entries_;
    bool is_outermost_ = false;
};

}  // namespace ingot::runtime
