// The address at which the host may read an array's elements.
#include <ingot/core/host_range.hpp>

#include "runtime/device/stream.hpp"
#include "runtime/device/transfer.hpp"

namespace ingot::detail {

const void* place_on_host(const buffer_ref& memory, const layout& where, std::size_t bytes_each) {
    if (where.size() == 0) return nullptr;
    // Foreign code may write foreign memory and exported memory at any time, so that a pointer is no snapshot.
    if (!memory->device.is_host() || memory->unowned || memory->externally_visible ||
        memory->exports.load(std::memory_order_acquire) != 0)
        return nullptr;
    const void* address = nullptr;
    runtime::read_in_pieces(*memory, static_cast<std::size_t>(where.offset) * bytes_each,
                            static_cast<std::size_t>(where.size()) * bytes_each, *runtime::current().stream,
                            [&](std::span<const std::byte> all) { address = all.data(); });
    return address;
}

}  // namespace ingot::detail
