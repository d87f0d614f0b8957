// See front_cache.hpp.
#include "runtime/device/front_cache.hpp"

#include "runtime/device/pool.hpp"

namespace ingot::runtime {

void thread_cache::collect_blocks() noexcept {
    for (front_cache& front : fronts) front.collect([](buffer& b) { b.chunk->pool->return_block(b); });
}

}  // namespace ingot::runtime
