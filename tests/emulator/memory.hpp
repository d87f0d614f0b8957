// The allocations of the emulated GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace emulator {

class device_memory {
public:
    /// Adds memory of a GPU; -1: memory that all can access.
    void add(const void* at, std::size_t bytes, int gpu = -1) {
        const std::lock_guard lock(mutex_);
        ends_[address(at)] = {address(at) + bytes, gpu};
        in_use_ += bytes;
    }
    /// Returns how many bytes it was.
    std::size_t remove(const void* at) {
        const std::lock_guard lock(mutex_);
        const auto found = ends_.find(address(at));
        if (found == ends_.end()) return 0;
        const std::size_t bytes = found->second.end - found->first;
        ends_.erase(found);
        in_use_ -= bytes;
        return bytes;
    }
    std::size_t in_use() const {
        const std::lock_guard lock(mutex_);
        return in_use_;
    }
    struct range {
        std::uintptr_t begin = 0, end = 0;
        bool holds(const void* at, std::size_t bytes) const {
            return address(at) >= begin && address(at) + bytes <= end;
        }
    };
    /// The allocation that an address is in, or an empty range.
    range around(const void* at) const {
        const std::lock_guard lock(mutex_);
        const auto next = ends_.upper_bound(address(at));
        if (next == ends_.begin()) return {};
        const auto& [begin, known] = *std::prev(next);
        return address(at) < known.end && is_reached(known.gpu) ? range{begin, known.end} : range{};
    }
    /// -1 where it belongs to none.
    int gpu_of(const void* at) const {
        const std::lock_guard lock(mutex_);
        const auto next = ends_.upper_bound(address(at));
        return next == ends_.begin() || address(at) >= std::prev(next)->second.end ? -1 : std::prev(next)->second.gpu;
    }

    /// While a kernel of a GPU runs in this thread: which others it has access to, a bit for each; all bits otherwise.
    static inline thread_local unsigned int reached = ~0u;

private:
    struct allocation {
        std::uintptr_t end;
        int gpu;
    };
    static bool is_reached(int gpu) { return gpu < 0 || (reached >> gpu & 1u) != 0; }
    static std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

    mutable std::mutex mutex_;
    std::map<std::uintptr_t, allocation> ends_;
    std::size_t in_use_ = 0;
};

}  // namespace emulator
