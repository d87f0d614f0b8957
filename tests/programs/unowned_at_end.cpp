// Ends with memory that is not Ingot's in use by a stream: its owner is told all the same, after the work.
#include <array>
#include <cstdio>
#include <memory>

#include "runtime/device/device.hpp"
#include "runtime/device/ordering.hpp"
#include "tests/runtime/fake_driver.hpp"

using namespace ingot;

int main() {
    static std::array<std::uint64_t, 8> words{};
    static auto& driver = *new tests::fake_driver(1);
    const ingot::detail::device_id id(device_kind::other, 0);
    runtime::install_device(id, std::make_unique<tests::fake_backend>(driver, std::size_t{1} << 20));
    const stream s(id);
    const auto end = [](void*) { std::printf("ended, after %d of the works\n", static_cast<int>(words[0])); };
    ingot::detail::buffer_ref in_main = ingot::detail::unowned_buffer(words.data(), sizeof words, id, end);
    static ingot::detail::buffer_ref after_main = ingot::detail::unowned_buffer(words.data(), sizeof words, id, end);
    for (ingot::detail::buffer_ref* b : {&in_main, &after_main}) runtime::order_write(**b, s.state());
    for (int k = 0; k < 100; ++k) driver.enqueue(static_cast<std::uintptr_t>(s.state().native), [] { ++words[0]; });
}
