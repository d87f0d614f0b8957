// Moves boxes of elements between ranks.
#pragma once

#include <functional>
#include <span>

#include "runtime/distributed/storage.hpp"

namespace ingot::runtime {

/// Where elements that a rank wants are to lie: `layout` is that of the box in `memory`.
struct wanted_box {
    buffer_ref& memory;
    const detail::layout& where;
};

/// Every rank gets the elements of the box that it wants, from the ranks that own them, and its own. `box_of_rank`
/// must give the same answers on all ranks. A collective call. One exchange of all bytes: pieces of it beside other
/// work gain nothing, for NCCL's kernels share the multiprocessors and the memory with that.
void fetch(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank, const wanted_box& to);

/// Like fetch, of elements that lie packed: `packed` has the part for each rank in C order, null where none goes to it.
/// This rank's own part is written already. `p` says where the elements were.
void fetch_packed(std::span<const buffer_ref> packed, dtype, const placement& p,
                  const std::function<box(int rank)>& box_of_rank, const wanted_box& to);

/// Fills the ghost layers, where they are not valid. A collective call.
void refresh_ghosts(distributed_storage&);

}  // namespace ingot::runtime
