// CUDA kernels whose text is Ingot's own and fixed, but for a few forms: they are loaded once for each form and each
// architecture, for ever, and launched with one struct.
#pragma once

#ifdef INGOT_HAS_CUDA_HEADERS

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/device/device_facts.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/stream.hpp"
#include "runtime/kernels/executable.hpp"

namespace ingot::runtime {

/// The dtypes, flags and numbers that tell the forms of a text apart: at most four, each below 2^16.
struct text_form {
    template <class... Parts>
    text_form(Parts... parts) {
        static_assert(sizeof...(parts) <= 4);
        ((number = number << 16 | static_cast<std::uint64_t>(parts)), ...);
    }
    std::uint64_t number = 0;
    auto operator<=>(const text_form&) const = default;
};

struct kernels_key {
    std::string_view name;  // of the first kernel
    text_form form;
    std::uint32_t architecture;
    auto operator<=>(const kernels_key&) const = default;
};
/// The kernels of a key. Where there are none, those that are given are kept from now on; null where none are given.
const void* kept_kernels(const kernels_key&, std::shared_ptr<const void> given = nullptr);

/// The kernels of a key; the first caller makes them, by make(architecture), without a lock.
template <class Kernels, class Make>
const Kernels& kernels_made_once(device_id device, std::string_view name, text_form form, const Make& make) {
    const kernels_key key{name, form, architecture_of(device)};
    const void* kept = kept_kernels(key);
    if (kept == nullptr) kept = kept_kernels(key, std::shared_ptr<const Kernels>(new Kernels(make(key.architecture))));
    return *static_cast<const Kernels*>(kept);
}

std::shared_ptr<const kernel_module> load_own_text(std::string text, std::span<const char* const> names,
                                                   std::uint32_t architecture);

/// A struct of loaded_kernels, in the order of their names; text() is what is compiled. Throws compile_error.
template <class Kernels, std::size_t count, class Text>
const Kernels& own_kernels(device_id device, const char* const (&names)[count], text_form form, const Text& text) {
    struct loaded {
        std::shared_ptr<const kernel_module> module;
        Kernels kernels;
    };
    const auto make = [&](std::uint32_t architecture) {
        const auto module = load_own_text(text(), names, architecture);
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return loaded{module, Kernels{loaded_kernel(module->kernel(names[i]))...}};
        }(std::make_index_sequence<count>());
    };
    return kernels_made_once<loaded>(device, names[0], form, make).kernels;
}

/// Launches a two-dimensional grid of blocks of that many threads. `what` is the operation, for errors. `shared_bytes`
/// is dynamic shared memory; above 32 KiB it must not exceed that of the kernel's first launch.
template <class Arguments>
void launch_kernel(const char* what, const loaded_kernel& kernel, Arguments a, unsigned blocks, unsigned rows,
                   unsigned threads, const stream_state& stream, unsigned shared_bytes = 0) {
    codegen::launch step;
    step.threads = threads;
    step.shared_bytes = shared_bytes;
    void* parameters[] = {&a};
    check(driver()->cuLaunchKernel(static_cast<CUfunction>(kernel.on_gpu(stream.device.index(), step)), blocks, rows, 1,
                                   threads, 1, 1, shared_bytes, reinterpret_cast<CUstream>(stream.native), parameters,
                                   nullptr),
          what);
}

}  // namespace ingot::runtime

#endif
