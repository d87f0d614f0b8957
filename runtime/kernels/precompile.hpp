// Keys whose kernels are compiled by background threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

namespace ingot::runtime {

struct precompile_state {
    std::atomic<std::uint32_t> references{1};
    std::vector<std::vector<std::uint32_t>> keys;  // fixed once the precompile has started
    std::mutex mutex;
    std::condition_variable all_done;
    std::size_t next = 0, finished = 0;  // under the mutex, like the error
    std::exception_ptr error;
};

}  // namespace ingot::runtime
