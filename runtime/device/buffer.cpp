// Allocation and release of buffers.
#include <ingot/core/buffer.hpp>

#include <ingot/core/memory.hpp>
#include "runtime/device/device.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/unowned.hpp"

namespace ingot {

void runtime::release_buffer(buffer& b) noexcept {
    if (b.chunk)
        b.chunk->pool->release(b);
    else
        release_unowned(b);
}

detail::buffer_ref detail::allocate_buffer(std::size_t bytes, detail::device_id device, runtime::stream_state& stream) {
    if (stream.device == device) {
        buffer_ref made = stream.pool->allocate(bytes, stream);
        if (runtime::graph_capture* const capture = stream.capture.load(std::memory_order_relaxed))
            capture->note(*made);
        return made;
    }
    runtime::device_state& d = runtime::state_of(device);
    return d.pool->allocate(bytes, *d.default_stream);
}

detail::buffer_ref detail::allocate_buffer(std::size_t bytes) {
    runtime::stream_state& s = *runtime::current().stream;
    return allocate_buffer(bytes, s.device, s);
}

detail::buffer_ref detail::allocate_pinned_buffer(std::size_t bytes) {
    return runtime::pinned_pool().allocate(bytes, *runtime::state_of(device::host()).default_stream);
}

std::size_t memory_pool::used_bytes() const { return pool_->usage().used(); }
std::size_t memory_pool::free_bytes() const { return pool_->usage().free; }
std::size_t memory_pool::total_bytes() const { return pool_->usage().total; }
std::size_t memory_pool::n_free_blocks() const { return pool_->usage().free_blocks; }
void memory_pool::free_all_blocks() { pool_->free_all_blocks(); }
void memory_pool::set_limit(std::size_t bytes) { pool_->set_limit(bytes); }
std::size_t memory_pool::get_limit() const { return pool_->limit(); }

detail::allocator_functions::allocator_functions() noexcept {
    static constinit std::atomic<std::uint64_t> made{0};
    number = ++made;
}

allocator set_allocator(detail::device_id device, const allocator& source) {
    return runtime::state_of(device).pool->set_source(source);
}

with_allocator::with_allocator(detail::device_id device, const allocator& source)
    : device_(device), before_(set_allocator(device, source)) {}
with_allocator::~with_allocator() {
    try {
        set_allocator(device_, before_);
    } catch (...) {  // the driver is gone; the free memory stays
    }
}

memory_pool default_memory_pool() { return default_memory_pool(current_device()); }
memory_pool default_memory_pool(detail::device_id device) { return memory_pool(*runtime::state_of(device).pool); }
memory_pool default_pinned_memory_pool() { return memory_pool(runtime::pinned_pool()); }

}  // namespace ingot
