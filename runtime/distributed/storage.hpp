// Where the elements of a distributed array lie, and the memory of this rank's part.
//
// The array's leaf has the shape of the whole in C order, as if all elements lay in one buffer; its buffer is on the
// device `distributed` and has no memory. So views, broadcasts and expressions compose as on one device, and an element
// is named by its number in that order. localize.hpp turns such a layout into one of this rank's memory.
#pragma once

#include <memory>
#include <vector>

#include <ingot/core/buffer.hpp>
#include <ingot/core/layout.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/distributed/session.hpp"

namespace ingot::runtime {

/// Indices from `low` to `high`, exclusively.
struct range {
    index_t low = 0, high = 0;
    index_t size() const noexcept { return high > low ? high - low : 0; }
    friend bool operator==(const range&, const range&) = default;
};
inline range common(range a, range b) noexcept { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
inline bool lies_in(range inner, range outer) noexcept {
    return inner.size() == 0 || (inner.low >= outer.low && inner.high <= outer.high);
}

/// A range of each axis.
using box = std::vector<range>;
index_t size_of_box(const box&) noexcept;
box common(const box&, const box&);
/// The layout of a box's elements in C order.
detail::layout contiguous_layout(const box&);

/// The parts of an array: for each axis the mesh axis it is split over (-1: none), and the range at each place of that.
struct placement {
    std::shared_ptr<const rank_mesh> mesh;
    std::vector<index_t> shape;
    std::vector<int> over;
    std::vector<std::vector<range>> ranges;
    std::vector<index_t> ghosts;  // the width of the layers beside each axis

    int axes() const noexcept { return static_cast<int>(shape.size()); }
    bool is_split() const noexcept;
    range range_of(int rank, int axis) const noexcept;
    box box_of(int rank) const;
    /// The box with its ghost layers.
    box held_by(int rank) const;
    /// Whether two ranks hold different copies of one part: they differ along mesh axes that split nothing.
    bool is_replica_of(int rank, int other) const noexcept;

    /// Where this rank's elements lie, and the messages that fill ghost layers: known once the session shares the
    /// placement, so that a statement that comes again makes no lists.
    struct neighbour {
        int rank;
        detail::layout sent, received;  // in the memory of the box with ghost layers; without elements: no message
    };
    box own, held;         // without and with ghost layers
    detail::layout owned;  // of the first in the memory of the second
    std::vector<neighbour> neighbours;
    void find_own_parts();

    friend bool operator==(const placement& a, const placement& b) noexcept {
        return a.mesh == b.mesh && a.shape == b.shape && a.over == b.over && a.ranges == b.ranges &&
               a.ghosts == b.ghosts;
    }
};

/// The indices of an axis in as many parts, of which the first have one more where they are not equal.
std::vector<range> even_ranges(index_t extent, index_t parts);
/// The placement of an array of that shape. Throws distributed_error where more axes are named than there are.
std::shared_ptr<const placement> place(const char* operation, std::span<const index_t> shape, const split_axes&);

struct distributed_storage {
    std::shared_ptr<const placement> where;
    dtype type;
    buffer_ref memory;     // this rank's box with ghost layers
    detail::layout owned;  // this rank's box in it
    bool ghosts_are_valid = false;

    rank_session& session() const noexcept { return *where->mesh->session; }
};

/// The storage of a buffer on the device `distributed`.
inline distributed_storage& storage_of(const buffer& b) noexcept {
    return *static_cast<distributed_storage*>(b.end_argument);
}
inline bool is_distributed(const buffer* b) noexcept {
    return b != nullptr && b->device.kind() == device_kind::distributed;
}

/// Storage that its thread keeps for a later array when it ends.
struct kept_by_thread {
    void operator()(distributed_storage*) const noexcept;
};
using storage_ref = std::unique_ptr<distributed_storage, kept_by_thread>;
/// Storage without memory, of a placement that the session shares.
storage_ref storage_without_memory(dtype, std::shared_ptr<const placement>);
/// Storage for this rank's box, not initialised.
storage_ref make_storage(dtype, std::shared_ptr<const placement>);
/// A buffer that owns the storage.
buffer_ref buffer_over(storage_ref);

/// `part` of the elements of a box, whose layout is `of`.
detail::layout part_of(const detail::layout& of, const box& whole, const box& part);

/// The partition in words: "axis 0 over y, axis 1 over x".
std::string to_text(const placement&);

}  // namespace ingot::runtime
