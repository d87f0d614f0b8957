#include <algorithm>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/front/evaluate.hpp"

namespace ingot::detail {

namespace {

index_t extent_of(const char* operation, std::span<const index_t> shape, index_t axis) {
    return shape[static_cast<std::size_t>(checked_axis(operation, axis, static_cast<int>(shape.size())))];
}

}  // namespace

void check_kths(const char* operation, const integer_list& kths, std::span<const index_t> shape, index_t axis) {
    const index_t extent = extent_of(operation, shape, axis);
    for (const index_t kth : kths)
        if (kth < -extent || kth >= extent)
            throw index_error("[" + std::string(operation) + "] element " + std::to_string(kth) +
                              " is outside an axis of " + std::to_string(extent));
}

void check_element_count(const char* operation, index_t count, std::span<const index_t> shape, index_t axis) {
    const index_t extent = extent_of(operation, shape, axis);
    if (count < 0 || count > extent)
        throw index_error("[" + std::string(operation) + "] " + std::to_string(count) +
                          " elements are wanted of an axis of " + std::to_string(extent));
}

void check_keys(std::span<const index_t> first, std::span<const index_t> key) {
    if (!std::ranges::equal(first, key))
        throw shape_error("[lexsort] keys of shapes " + to_text(first) + " and " + to_text(key) +
                          ": one shape is wanted");
}

own_rows take_own_rows(destination to, const buffer_ref& from) {
    return runtime::for_distributed.load()->take_own_rows(to, *from);
}
void join_rows(destination to, const buffer_ref& part, const layout& where, const buffer_ref& like, index_t most) {
    runtime::for_distributed.load()->join_rows(to, *part, where, *like, most);
}

}  // namespace ingot::detail
