// See failing_allocation.hpp.
#include "tests/runtime/failing_allocation.hpp"

#include <cstdlib>
#include <limits>
#include <new>

namespace ingot::tests {

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
constinit thread_local std::size_t before_failure = never;

bool is_to_fail() noexcept { return before_failure != never && before_failure-- == 0; }

}  // namespace

failing_allocation::failing_allocation(std::size_t n) noexcept { before_failure = n; }
failing_allocation::~failing_allocation() { before_failure = never; }
bool failing_allocation::has_failed() const noexcept { return before_failure == never; }

}  // namespace ingot::tests

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (!ingot::tests::is_to_fail())
        if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return ingot::tests::is_to_fail() ? nullptr : std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
