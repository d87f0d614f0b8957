// The table of devices, their names, and the device with which a thread begins.
#include "runtime/device/device.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <ostream>

#include <ingot/core/error.hpp>
#include "runtime/system/environment.hpp"
#include "runtime/system/fork.hpp"

namespace ingot {
namespace runtime {

constinit thread_local current_state current_of_thread;

namespace {

constexpr std::size_t kinds = 3;
constexpr std::size_t devices_of_a_kind = 64;

constinit std::array<std::array<std::atomic<device_state*>, devices_of_a_kind>, kinds> table{};
constinit std::atomic<pool*> pinned{nullptr};
constinit std::mutex table_mutex;

std::string device_text(device_kind kind, int index) {
    if (kind == device_kind::distributed) return "distributed";
    static constexpr const char* names[] = {"host:", "cuda:", "other:"};
    return names[static_cast<std::size_t>(kind)] + std::to_string(index);
}

[[noreturn]] void throw_no_number(device_kind kind, int index) {
    throw device_error("[device] there is no " + device_text(kind, index) + "; numbers end at " +
                       std::to_string(devices_of_a_kind - 1));
}

std::atomic<device_state*>& entry(device_id d) {
    if (d.kind() == device_kind::distributed)
        throw distributed_error(
            "[distributed] this has no form for an array whose parts lie on several ranks; take this rank's part by "
            "distributed::local(x) or the whole by distributed::gather(x)");
    if (static_cast<std::size_t>(d.index()) >= devices_of_a_kind) throw_no_number(d.kind(), d.index());
    return table[static_cast<std::size_t>(d.kind())][static_cast<std::size_t>(d.index())];
}

std::unique_ptr<backend> make_backend(device_id d) {
    std::unique_ptr<backend> made = d.is_host()   ? make_host_backend()
                                    : d.is_cuda() ? make_cuda_backend(d.index())
                                                  : nullptr;
    if (!made)
        throw device_error("[device] there is no " + to_string(d) +
                           "; usable GPUs: " + std::to_string(device::cuda_count()));
    return made;
}

void lock_tables_across_fork() {
    [[maybe_unused]] static const std::mutex& devices = lock_across_fork(mutex_rank::devices, table_mutex);
    [[maybe_unused]] static const std::mutex& streams = lock_across_fork(mutex_rank::streams, stream_table_mutex());
}

}  // namespace

device_state& install_device(device_id id, std::unique_ptr<backend> made, const pool_options& options) {
    lock_tables_across_fork();
    auto& d = *new device_state{id, std::move(made), nullptr, nullptr};
    d.pool = std::make_unique<pool>(id, *d.backend, options);
    lock_across_fork(mutex_rank::pools, d.pool->mutex());
    d.default_stream = &acquire_stream(d);
    entry(id).store(&d, std::memory_order_release);
    return d;
}

device_state& state_of(device_id id) {
    auto& at = entry(id);
    if (device_state* d = at.load(std::memory_order_acquire)) [[likely]]
        return *d;
    const std::lock_guard lock(table_mutex);
    if (device_state* d = at.load(std::memory_order_acquire)) return *d;
    return install_device(id, make_backend(id));
}

pool& pinned_pool() {
    if (pool* p = pinned.load(std::memory_order_acquire)) return *p;
    device_state& owner = state_of(device::cuda_count() > 0 ? device::cuda() : device::host());
    const std::lock_guard lock(table_mutex);
    if (pool* p = pinned.load(std::memory_order_acquire)) return *p;
    pool* const made = new pool(device::host(), *owner.backend, {.pinned = true});
    lock_across_fork(mutex_rank::pools, made->mutex());
    pinned.store(made, std::memory_order_release);
    return *made;
}

device_id default_device() {
    if (const auto wanted = environment_text("INGOT_DEVICE")) return device::parse(*wanted);
    return device::cuda_count() > 0 ? device::cuda() : device::host();
}

void choose_current() {
    static const device_id d = default_device();
    current_of_thread.stream = state_of(d).default_stream;
    current_of_thread.device = d;
}

}  // namespace runtime

// ---- The public functions.

device device::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    unsigned index = 0;
    bool good = kind == "host" || kind == "cuda";
    if (colon != std::string_view::npos) {
        const char* const end = text.data() + text.size();
        const auto [stop, failure] = std::from_chars(text.data() + colon + 1, end, index);
        good = good && failure == std::errc{} && stop == end && index < runtime::devices_of_a_kind;
    }
    if (!good)
        throw device_error("[device] \"" + std::string(text) + "\" is no device; wanted host, host:N, cuda or cuda:N");
    return {kind == "host" ? device_kind::host : device_kind::cuda, static_cast<int>(index)};
}

void device::throw_no_such_device(device_kind kind, int index) { runtime::throw_no_number(kind, index); }

std::string device::name() const { return runtime::state_of(*this).backend->name(); }

void device::synchronize() const {
    runtime::device_state& d = runtime::state_of(*this);
    const auto for_each_stream = [&](auto f) {
        for (runtime::stream_index i = 0; i < runtime::stream_count(); ++i)
            if (runtime::stream_state& s = runtime::stream_at(i); s.backend == d.backend.get()) f(s);
    };
    for_each_stream([](runtime::stream_state& s) { runtime::wait_on_host(s); });
    for_each_stream([](runtime::stream_state& s) { runtime::throw_reported(s); });
}

std::string to_string(device d) { return runtime::device_text(d.kind(), d.index()); }

std::ostream& operator<<(std::ostream& out, device d) { return out << to_string(d); }

with_device::with_device(device d) {
    runtime::stream_state* const s = runtime::state_of(d).default_stream;
    runtime::current_of_thread.device = d;
    runtime::current_of_thread.stream = s;
}

}  // namespace ingot
