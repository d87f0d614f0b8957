// Compaction: keeps some of many elements, contiguous and in order. Used for masks and for distinct elements.
#pragma once

#include <ingot/core/creation.hpp>
#include <ingot/core/host.hpp>

namespace ingot::detail {

/// The elements to keep: the distinct ones of sorted elements (only on a GPU), or the values or indices of those whose
/// flag is true.
enum class kept : std::uint8_t { distinct, flagged, places };

/// Contiguous elements.
struct elements_at {
    buffer_ref memory;  // or null
    const layout* where = nullptr;
    dtype type{};
    std::size_t bytes = 0;
};
struct compacted {
    kept by;
    elements_at values, flags;
    index_t length() const { return (by == kept::distinct ? values : flags).where->size(); }
};

/// Compaction takes two steps over tiles of this many elements: count_kept writes the number of kept elements before
/// each tile, then the total, and on a GPU a bit for each element; write_kept writes the kept ones.
inline constexpr index_t compaction_tile = 8192;
INGOT_API void count_kept(const compacted&, const buffer_ref& starts);
/// The number of kept elements in all tiles. Waits.
INGOT_API index_t count_of_kept(const array<index_t>& starts, index_t tiles);
INGOT_API void write_kept(const compacted&, const buffer_ref& starts, const buffer_ref& to);

template <class T>
elements_at elements_of(const leaf<T>& l) {
    return {l.memory(), &l.where(), dtype_of<T>, sizeof(T)};
}

/// The kept elements or indices, as T. Waits for their number.
template <class T>
array<T> compact(const char* operation, const compacted& what) {
    const buffer_ref& given = (what.flags.memory ? what.flags : what.values).memory;
    const device on = given ? given->device : current_place();
    const auto room_of = [&]<class U>(index_t n, std::type_identity<U>) {
        return array<U>(adopted{}, new_leaf<U>(operation, std::span<const index_t>(&n, 1), on));
    };
    if (what.length() == 0) return room_of(0, std::type_identity<T>());
    const index_t tiles = (what.length() + compaction_tile - 1) / compaction_tile;
    const index_t bits = on.is_cuda() ? tiles * (compaction_tile / (8 * static_cast<index_t>(sizeof(index_t)))) : 0;
    const array<index_t> starts = room_of(tiles + 1 + bits, std::type_identity<index_t>());
    count_kept(what, starts.as_leaf().memory());
    const index_t n = count_of_kept(starts, tiles);
    array<T> result = room_of(n, std::type_identity<T>());
    if (n != 0) write_kept(what, starts.as_leaf().memory(), result.as_leaf().memory());
    return result;
}

}  // namespace ingot::detail
