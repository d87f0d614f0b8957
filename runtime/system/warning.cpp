#include "runtime/system/warning.hpp"

#include <cstdio>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "runtime/system/fork.hpp"

namespace ingot::runtime {

void warn_once(std::string_view text) noexcept try {
    static std::mutex& mutex = lock_across_fork(mutex_rank::warnings, *new std::mutex);
    static std::set<std::string, std::less<>>& said = *new std::set<std::string, std::less<>>;
    {
        const std::lock_guard guard(mutex);
        if (!said.emplace(text).second) return;
    }
    std::fprintf(stderr, "ingot: %.*s\n", static_cast<int>(text.size()), text.data());
} catch (...) {
    // Out of memory while warning: the computation goes on without the warning.
}

}  // namespace ingot::runtime
