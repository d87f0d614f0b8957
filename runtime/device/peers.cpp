// See peers.hpp and ingot/core/devices.hpp.
#include "runtime/device/peers.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

#include <ingot/core/devices.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/host.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"

namespace ingot {
namespace runtime {

namespace {

#ifdef INGOT_HAS_CUDA_HEADERS

CUdevice handle_of(device_id d) {
    CUdevice handle = 0;
    check(need_driver("device").cuDeviceGet(&handle, d.index()), "finding a GPU");
    return handle;
}

bool can_enable(device_id from, device_id memory_of) {
    int can = 0;
    check(driver()->cuDeviceCanAccessPeer(&can, handle_of(from), handle_of(memory_of)), "asking for peer access");
    return can != 0;
}

/// Bit mask, for each GPU, of the GPUs whose memory it can access.
constinit std::atomic<std::uint64_t> reached[64]{};

bool enable(device_id from, device_id memory_of) {
    std::atomic<std::uint64_t>& known = reached[from.index()];
    const std::uint64_t bit = std::uint64_t{1} << memory_of.index();
    if (known.load(std::memory_order_acquire) & bit) return true;
    if (!can_enable(from, memory_of)) return false;
    state_of(memory_of);
    CUcontext other = nullptr;  // retained once more, for ever
    check(driver()->cuDevicePrimaryCtxRetain(&other, handle_of(memory_of)), "making a GPU's context");
    state_of(from).backend->bind_thread();
    const CUresult status = driver()->cuCtxEnablePeerAccess(other, 0);
    if (status == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED || status == CUDA_ERROR_TOO_MANY_PEERS) return false;
    if (status != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) check(status, "enabling peer access");
    known.fetch_or(bit, std::memory_order_acq_rel);
    return true;
}

std::size_t attribute(CUdevice_attribute which, CUdevice of) {
    int value = 0;
    if (driver()->cuDeviceGetAttribute(&value, which, of) != CUDA_SUCCESS || value < 0) return 0;
    return static_cast<std::size_t>(value);
}

void describe_gpu(device_properties& p, device_id d) {
    const CUdevice of = handle_of(d);
    const auto bytes = [of](CUdevice_attribute which) { return attribute(which, of); };
    const auto number = [of](CUdevice_attribute which) { return static_cast<int>(attribute(which, of)); };
    p.compute_capability = static_cast<int>(architecture_of(d));
    p.l2_bytes = bytes(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    p.shared_bytes_per_block = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    p.shared_bytes_per_multiprocessor = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    p.registers_per_block = number(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    p.max_threads_per_block = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    p.max_threads_per_multiprocessor = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    p.warp_size = number(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p.clock_khz = number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    p.memory_clock_khz = number(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    p.memory_bus_bits = number(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    p.copy_engines = number(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    p.integrated = number(CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    p.cooperative_launch = number(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
    p.pci_domain = number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    p.pci_bus = number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    p.pci_device = number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    CUuuid id{};
    check(driver()->cuDeviceGetUuid(&id, of), "asking a GPU's UUID");
    for (const char c : id.bytes) {
        constexpr char digits[] = "0123456789abcdef";
        p.uuid += {digits[static_cast<unsigned char>(c) >> 4], digits[static_cast<unsigned char>(c) & 15]};
    }
}

#endif

/// Ends a view of another device's memory; the view holds a reference to it.
void drop_viewed(void* viewed) { delete static_cast<buffer_ref*>(viewed); }

}  // namespace

bool enable_peer_access(device_id from, device_id memory_of) {
    if (from == memory_of) return true;
#ifdef INGOT_HAS_CUDA_HEADERS
    if (from.is_cuda() && memory_of.is_cuda()) return enable(from, memory_of);
#endif
    return from.is_host() && memory_of.is_host();
}

void prefer_peer_access(device_id from, device_id memory_of) noexcept try {
    enable_peer_access(from, memory_of);
} catch (...) {  // the driver copies through the host
}

}  // namespace runtime

device_properties properties_of(device d) {
    const runtime::device_state& state = runtime::state_of(d);
    device_properties p;
    p.name = state.backend->name();
    const runtime::memory_info memory = state.backend->memory();
    p.total_memory = memory.total;
    p.free_memory = memory.free;
    p.multiprocessors = static_cast<int>(runtime::processors_of(d));
#ifdef INGOT_HAS_CUDA_HEADERS
    if (d.is_cuda()) runtime::describe_gpu(p, d);
#endif
    return p;
}

bool can_access(device from, device memory_of) {
    runtime::state_of(from), runtime::state_of(memory_of);
    if (from == memory_of) return true;
#ifdef INGOT_HAS_CUDA_HEADERS
    if (from.is_cuda() && memory_of.is_cuda()) return runtime::can_enable(from, memory_of);
#endif
    return from.is_host() && memory_of.is_host();
}

void detail::transfer_elements(destination to, const buffer_ref& from, const layout& from_where) {
    if (!same_shape(to.where, from_where))
        throw shape_error("[transfer] shape " + to_text(from_where.extents()) + " into shape " +
                          to_text(to.where.extents()));
    if (to.where.size() == 0 || to.memory == from) return;
    if (!is_contiguous(to.where))
        throw shape_error("[transfer] the array that is written is not in C order: shape " +
                          to_text(to.where.extents()));
    if (!is_contiguous(from_where)) {
        buffer_ref memory;
        layout where;
        runtime::copy_view(to.type, *from, from_where, memory, where);
        return transfer_elements(to, memory, where);
    }
    if (to.memory->read_only) runtime::throw_read_only("transfer");
    const std::size_t each = size_of(to.type), bytes = static_cast<std::size_t>(to.where.size()) * each;
    runtime::stream_state& s = *runtime::current().stream;
    if (!to.memory->unowned && !to.memory.unique()) {
        if (const runtime::graph_capture* const capture = runtime::capture_of_thread())
            capture->check_may_move(*to.memory);
        buffer_ref fresh =
            to.memory->pinned ? allocate_pinned_buffer(bytes) : allocate_buffer(bytes, to.memory->device, s);
        runtime::copy(*fresh, 0, *from, static_cast<std::size_t>(from_where.offset) * each, bytes, s);
        runtime::move_to(to.memory, std::move(fresh));
        to.where.offset = 0;
        return;
    }
    runtime::copy(*to.memory, static_cast<std::size_t>(to.where.offset) * each, *from,
                  static_cast<std::size_t>(from_where.offset) * each, bytes, s);
}

detail::buffer_ref detail::peer_memory(const detail::buffer_ref& of, detail::device_id on) {
    runtime::state_of(on);
    // A view of a view refers to the first one's memory.
    const bool is_view = of->end == runtime::drop_viewed;
    const buffer_ref viewed = is_view ? *static_cast<const buffer_ref*>(of->end_argument) : of;
    if (!runtime::enable_peer_access(on, viewed->device))
        throw device_error("[peer_view] " + to_string(on) + " has no access to the memory of " +
                           to_string(viewed->device) + "; copy the array, by .to(device)");
    if (viewed->device == on) return viewed;
    auto held = std::make_unique<buffer_ref>(viewed);
    buffer_ref seen = unowned_buffer(of->data, of->bytes, on, runtime::drop_viewed, held.get());
    static_cast<void>(held.release());
    seen->read_only = true;
    seen->writer.store(of->writer.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return seen;
}

}  // namespace ingot
