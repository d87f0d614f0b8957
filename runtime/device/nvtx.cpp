#include "runtime/device/nvtx.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "runtime/system/environment.hpp"
#include "runtime/system/warning.hpp"

namespace ingot::runtime {

namespace {

// NVTX 3's binary interface: nvtx3/nvtxDetail/nvtxTypes.h and nvToolsExt.h of its repository, which tests compare.

using function_pointer = void (*)();
using function_table = function_pointer**;  // where a profiler puts its functions, by their numbers

enum module_number : int { core = 1, core2 = 5, modules = 7 };
enum core2_number : std::size_t { range_push = 4, range_pop = 5, domain_create = 12, core2_size = 16 };
constexpr std::size_t core_size = 16;
enum export_table : std::uint32_t { callbacks = 1, version_info = 3 };

struct callbacks_table {
    std::size_t struct_size;
    int (*module_functions)(int module, function_table* table, unsigned* size);
};
struct version_table {
    std::size_t struct_size;
    std::uint32_t version;
    std::uint32_t reserved;
    void (*set_profilers_version)(std::uint32_t);
};

/// nvtxEventAttributes_t with only a message in ASCII.
struct event_attributes {
    std::uint16_t version = 3;
    std::uint16_t size = 48;
    std::uint32_t category = 0;
    std::int32_t color_type = 0;
    std::uint32_t color = 0;
    std::int32_t payload_type = 0;
    std::int32_t reserved = 0;
    std::uint64_t payload = 0;
    std::int32_t message_type = 1;
    const char* message = nullptr;
};
static_assert(sizeof(event_attributes) == 48);

// The arrays are static because a profiler keeps their addresses. Functions that Ingot does not call have entries too.
constinit function_pointer given_core[core_size] = {}, given_core2[core2_size] = {};

template <std::size_t N>
constexpr std::array<function_pointer*, N + 1> slots_of(function_pointer (&functions)[N]) {
    std::array<function_pointer*, N + 1> slots{};  // number 0 is none, and the last is the end
    for (std::size_t i = 1; i < N; ++i) slots[i] = &functions[i];
    return slots;
}
constinit auto core_slots = slots_of(given_core);
constinit auto core2_slots = slots_of(given_core2);

int module_functions(int module, function_table* table, unsigned* size) {
    if (module != core && module != core2) return 0;
    if (table != nullptr) *table = module == core ? core_slots.data() : core2_slots.data();
    if (size != nullptr) *size = static_cast<unsigned>(module == core ? core_size : core2_size);
    return 1;
}

const void* exported(std::uint32_t table) {
    static constexpr callbacks_table functions{sizeof(callbacks_table), module_functions};
    static constexpr version_table version{sizeof(version_table), 3, 0, [](std::uint32_t) {}};
    if (table == callbacks) return &functions;
    return table == version_info ? static_cast<const void*>(&version) : nullptr;
}

constinit profiler found{};

void open_profiler(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY);
    using initialize = int (*)(const void* (*)(std::uint32_t));
    const auto begin =
        library != nullptr ? reinterpret_cast<initialize>(dlsym(library, "InitializeInjectionNvtx2")) : nullptr;
    if (begin == nullptr || begin(exported) == 0)
        return warn_once("NVTX_INJECTION64_PATH names no profiler's library: " + path);
    const auto create = reinterpret_cast<void* (*)(const char*)>(given_core2[domain_create]);
    found.push = reinterpret_cast<int (*)(void*, const void*)>(given_core2[range_push]);
    found.pop = reinterpret_cast<int (*)(void*)>(given_core2[range_pop]);
    if (found.push == nullptr || found.pop == nullptr) return;  // it does not record ranges
    if (create != nullptr) found.domain = create("ingot");
    the_profiler.store(&found, std::memory_order_release);
}

}  // namespace

void look_for_profiler() noexcept try {
    static std::once_flag once;
    std::call_once(once, [] {
        if (const auto path = environment_text("NVTX_INJECTION64_PATH")) open_profiler(*path);
    });
} catch (...) {  // no memory for a name
}

void profiled_range::begin(const char* name) const noexcept {
    event_attributes attributes;
    attributes.message = name;
    profiler_->push(profiler_->domain, &attributes);
}

void profiled_range::begin(const char* what, const std::string& name) noexcept try {
    begin((what + name).c_str());
} catch (...) {
    begin(what);
}

}  // namespace ingot::runtime
