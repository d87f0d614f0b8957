// The program's operator new, which remembers the largest of a thread's allocations.
#pragma once

#include <cstddef>

namespace ingot::test {

/// The largest since the last call.
std::size_t largest_allocation() noexcept;

}  // namespace ingot::test
