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

/// The elements of an array that move in several exchanges, each of a piece of every rank's part: while one piece is
/// on its way, the next one is computed and packed, and the one before unpacked.
struct pieces {
    std::size_t axis = 0;
    index_t count = 1;
    /// Computes a piece of this rank's part, `low` to `high` along the axis from the part's beginning. None where the
    /// part is there.
    std::function<void(range)> compute{};
};

/// Above this size, in bytes, a message is cut into pieces.
inline constinit std::atomic<std::size_t> least_piece{std::size_t{16} << 20};

/// The number of pieces in which such an array moves among all ranks: the same on all.
index_t count_pieces(const distributed_storage&, std::size_t axis);

/// Every rank gets the elements of the box that it wants, from the ranks that own them, and its own. `box_of_rank`
/// must give the same answers on all ranks. A collective call.
void fetch(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank, const wanted_box& to);
void fetch(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank, const wanted_box& to,
           const pieces&);

/// Fills the ghost layers, where they are not valid. A collective call.
void refresh_ghosts(distributed_storage&);

}  // namespace ingot::runtime
