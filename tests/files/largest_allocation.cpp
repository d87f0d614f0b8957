// See largest_allocation.hpp.
#include "tests/files/largest_allocation.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

constinit thread_local std::size_t largest = 0;

}  // namespace

std::size_t ingot::test::largest_allocation() noexcept { return std::exchange(largest, 0); }

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    largest = std::max(largest, bytes);
    if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
