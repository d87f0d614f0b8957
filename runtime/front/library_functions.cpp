#include "runtime/front/library_functions.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/fft/transform.hpp"
#include "runtime/kernels/error_record.hpp"
#include "runtime/linalg/matrix_product.hpp"
#include "runtime/sorting/sort_rows.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/fork.hpp"

namespace ingot::runtime {

namespace {

struct registry {
    std::mutex& mutex = lock_across_fork(mutex_rank::tables, *new std::mutex);
    std::map<std::string, const library_function*, std::less<>> functions;
    std::deque<library_function> all;  // never shrinks: plans call replaced functions too
};
registry& functions() {
    static registry* const made = [] {  // leaked: plans outlive main
        auto* const all = new registry;
        const auto add = [all](const char* name, void (*call)(const library_arguments&)) {
            all->functions.emplace(name, &all->all.emplace_back(library_function{call}));
        };
        add("matrix_product", matrix_product);
        add("sort_rows", sort_rows);
        add("argsort_rows", argsort_rows);
        for (const char* name : {"fft1d", "fft2d", "fft3d"}) add(name, fft);
        for (const char* name : {"ifft1d", "ifft2d", "ifft3d"}) add(name, ifft);
        for (const char* name : {"rfft1d", "rfft2d", "rfft3d"}) add(name, rfft);
        add("irfft1d", irfft);
        return all;
    }();
    return *made;
}

}  // namespace

void register_library_function(std::string_view name, const library_function& f) {
    registry& all = functions();
    const std::lock_guard lock(all.mutex);
    const auto known = all.functions.find(name);
    if (known != all.functions.end() && *known->second == f) return;
    all.functions.insert_or_assign(std::string(name), &all.all.emplace_back(f));
}

const library_function& library_function_named(std::string_view name) {
    registry& all = functions();
    const std::lock_guard lock(all.mutex);
    const auto found = all.functions.find(name);
    if (found == all.functions.end())
        throw library_error("[" + std::string(name) + "] no library that is open has a function of this name");
    return *found->second;
}

library_call_on_host::library_call_on_host(std::string_view name, std::size_t batch_axes)
    : function_(library_function_named(name)), batch_axes_(batch_axes) {}

library_call_on_host::held library_call_on_host::in_order(std::vector<index_t> extents) {
    held h{std::move(extents), {}, nullptr};
    h.strides.resize(h.extents.size());
    index_t stride = 1;
    for (std::size_t j = h.extents.size(); j-- > 0; stride *= h.extents[j]) h.strides[j] = stride;
    return h;
}

std::byte* library_call_on_host::add_operand(dtype type, std::vector<index_t> extents) {
    held_.push_back(std::make_unique<held>(in_order(std::move(extents))));
    held& h = *held_.back();
    std::size_t bytes = detail::size_of(type);
    for (const index_t n : h.extents) bytes *= static_cast<std::size_t>(n);
    h.data = std::make_unique<std::byte[]>(bytes);
    operands_.push_back({h.data.get(), type, h.extents, h.strides});
    return h.data.get();
}

void library_call_on_host::run(dtype type, std::vector<index_t> extents, void* result, std::uint64_t statement) {
    const held h = in_order(std::move(extents));
    const library_array to{result, type, h.extents, h.strides};
    library_arguments given{operands_,
                            {&to, 1},
                            batch_axes_,
                            {},
                            nullptr,
                            0,
                            *state_of(device::host()).default_stream,
                            statement != 0 ? statement : unknown_statement};
    std::vector<std::byte> workspace;
    if (function_.workspace_bytes != nullptr) workspace.resize(function_.workspace_bytes(given));
    given.workspace = workspace.data(), given.workspace_bytes = workspace.size();
    function_.call(given);
    add(counter::library_calls);
}

}  // namespace ingot::runtime
