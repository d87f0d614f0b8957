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
    const elements_at& deciding() const { return by == kept::distinct ? values : flags; }
    index_t length() const { return deciding().where->size(); }
};

/// Makes `to` an array of the kept elements or indices. Waits for their number. Throws out_of_memory.
INGOT_API void compact(const char* operation, const compacted&, destination to);

template <class T>
elements_at elements_of(const leaf<T>& l) {
    return {l.memory(), &l.where(), dtype_of<T>, sizeof(T)};
}

template <class T>
array<T> compact(const char* operation, const compacted& what) {
    leaf<T> l;
    compact(operation, what, {dtype_of<T>, l.memory(), l.where()});
    return array<T>(adopted{}, std::move(l));
}

}  // namespace ingot::detail
