#include <algorithm>
#include <string>

#include <ingot/error.hpp>
#include <ingot/sorting.hpp>

namespace ingot::detail {

void check_kth(const char* operation, index_t kth, std::span<const index_t> shape, index_t axis) {
    const index_t extent =
        shape[static_cast<std::size_t>(checked_axis(operation, axis, static_cast<int>(shape.size())))];
    if (kth < -extent || kth >= std::max<index_t>(extent, 1))
        throw index_error("[" + std::string(operation) + "] element " + std::to_string(kth) + " of an axis of " +
                          std::to_string(extent));
}

void check_keys(std::span<const index_t> first, std::span<const index_t> key) {
    if (!std::ranges::equal(first, key))
        throw shape_error("[lexsort] a key of shape " + to_text(key) + " beside one of " + to_text(first));
}

}  // namespace ingot::detail
