// What grids are made of, and what is no element's number.
#include <ingot/building.hpp>

#include <string>

#include <ingot/error.hpp>
#include <ingot/grids.hpp>

namespace ingot::detail {

progression progression_of(const char* operation, const slice& s) {
    if (s.stop() == open_end)
        throw index_error("[" + std::string(operation) + "] a slice without an end: slice(start, stop, step)");
    const index_t start = s.start() == open_end ? 0 : s.start();
    const auto number = [](index_t i) { return any_number{static_cast<std::uint64_t>(i), false}; };
    return {start, s.step(), arange_count(number(start), number(s.stop()), number(s.step()))};
}

void throw_beyond(const char* operation, index_t index, std::span<const index_t> shape) {
    throw index_error("[" + std::string(operation) + "] " + std::to_string(index) +
                      " is the number of no element of shape " + to_text(shape));
}

void throw_wrong_count(const char* operation, int given, std::span<const index_t> shape) {
    throw shape_error("[" + std::string(operation) + "] " + std::to_string(given) + " indices for shape " +
                      to_text(shape));
}

index_t size_of_shape(const char* operation, std::span<const index_t> shape) {
    check_extents(operation, shape);
    return extents_ref::of(shape).size();
}

}  // namespace ingot::detail
