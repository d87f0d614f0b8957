// Moves boxes of elements between ranks.
#pragma once

#include <atomic>
#include <functional>

#include "runtime/distributed/storage.hpp"

namespace ingot::runtime {

/// Where elements that a rank wants are to lie: `layout` is that of the box in `memory`.
struct wanted_box {
    buffer_ref& memory;
    const detail::layout& where;
};

/// From this size on, in bytes, a rank's own elements are copied beside an exchange, on another stream. Exchanges of
/// pieces that are computed meanwhile gain nothing: NCCL's kernels and others share the multiprocessors and the memory.
inline constinit std::atomic<std::size_t> copied_beside{std::size_t{8} << 20};

/// Every rank gets the elements of the box that it wants, from the ranks that own them, and its own. `box_of_rank`
/// must give the same answers on all ranks. A collective call.
void fetch(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank, const wanted_box& to);

/// Fills the ghost layers, where they are not valid. A collective call.
void refresh_ghosts(distributed_storage&);

}  // namespace ingot::runtime
