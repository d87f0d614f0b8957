// Out of memory on purpose: the program's operator new, which a test can make fail.
#pragma once

#include <cstddef>

namespace ingot::tests {

/// While it lives, the thread's allocation number `n`, counted from 0, throws std::bad_alloc.
class failing_allocation {
public:
    explicit failing_allocation(std::size_t n) noexcept;
    failing_allocation(const failing_allocation&) = delete;
    failing_allocation& operator=(const failing_allocation&) = delete;
    ~failing_allocation();
    /// Whether that allocation was reached.
    bool has_failed() const noexcept;
};

}  // namespace ingot::tests
