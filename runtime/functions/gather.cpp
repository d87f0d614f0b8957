// Checks indices that read nothing because the result has no elements.
#include <ingot/core/creation.hpp>
#include <ingot/core/gather.hpp>

namespace ingot::detail {

void check_unread(const lazy<index_t>& indices, index_t extent) {
    if (indices.size() == 0 || extent == 0) return;
    const with_device there(indices.device());
    // A gather from an array of this extent, whose elements are one in memory; the result is dropped.
    const array<bool> read(take<index_mode::check>(broadcast_to(zeros<bool>(1), extent), indices, 0));
}

}  // namespace ingot::detail
