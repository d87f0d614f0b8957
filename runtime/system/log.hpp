// Records for the user's logger (ingot/kernels/logging.hpp). They are made only where is_logging(), which is asked on
// slow paths alone: where something is compiled, looked up in a table, or taken from a device.
#pragma once

#include <string>
#include <vector>

#include <ingot/kernels/logging.hpp>

namespace ingot::runtime {

/// Whether somebody is told.
bool is_logging() noexcept;
/// Tells; drops what is thrown, and what a logger causes itself.
void tell(const log_record&) noexcept;

/// What happens to a device's memory under a mutex is told once that is unlocked: one of these stands before the lock.
class memory_log {
public:
    memory_log() noexcept;
    memory_log(const memory_log&) = delete;
    memory_log& operator=(const memory_log&) = delete;
    ~memory_log();

    /// Into the thread's outermost one, if there is any.
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
