// Shapes: broadcasting, checks and printing; the errors that a statement throws when it is built.
#include <algorithm>
#include <atomic>
#include <limits>
#include <string>

#include <ingot/core/expression.hpp>

namespace ingot::detail {

std::string to_text(std::span<const index_t> shape) {
    std::string text = "(";
    for (std::size_t j = 0; j < shape.size(); ++j) text += (j ? ", " : "") + std::to_string(shape[j]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

int checked_axis(const char* operation, index_t axis, int rank) {
    if (axis < -rank || axis >= rank)
        throw shape_error("[" + std::string(operation) + "] axis " + std::to_string(axis) +
                          " is out of range for rank " + std::to_string(rank));
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void check_extents(const char* operation, std::span<const index_t> shape) {
    index_t size = 1;
    for (index_t n : shape) {
        if (n < 0)
            throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape) + " has a negative extent");
        if (n != 0 && (__builtin_mul_overflow(size, n, &size) || size > std::numeric_limits<index_t>::max() / 16))
            throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape) + " has too many elements");
    }
}

void integer_list::throw_too_many() {
    throw shape_error("more than " + std::to_string(max_rank) + " axes were given; an array has at most that many");
}

void throw_too_large(std::uint64_t extent) {
    throw shape_error(std::to_string(extent) + " is too large for an extent or an axis");
}

int broadcast_shapes(const char* operation, const extents_ref* shapes, int n, shape_room& room, int& rank) {
    rank = 0;
    for (int i = 0; i < n; ++i) rank = std::max(rank, shapes[i].rank);
    for (int j = 0; j < rank; ++j) {
        index_t extent = 1;
        for (int i = 0; i < n; ++i) {
            const int axis = j - (rank - shapes[i].rank);
            if (axis < 0 || shapes[i].data[axis] == 1) continue;
            if (extent != 1 && extent != shapes[i].data[axis]) {
                std::string text = "[" + std::string(operation) + "] shapes ";
                for (int k = 0; k < n; ++k)
                    text += (k == 0 ? "" : k + 1 < n ? ", " : " and ") + to_text(shapes[k].span());
                throw shape_error(text + " do not broadcast");
            }
            extent = shapes[i].data[axis];
        }
        room[j] = extent;
    }
    for (int i = 0; i < n; ++i)
        if (same_extents(shapes[i], {room, rank})) return i;
    check_extents(operation, {room, static_cast<std::size_t>(rank)});
    return -1;
}

void throw_two_devices(const char* operation, device_id a, device_id b) {
    throw device_error("[" + std::string(operation) + "] operands on " + to_string(a) + " and " + to_string(b) +
                       "; move one with .to(device)");
}

void throw_does_not_fit(const char* operation, long long value, bool is_unsigned, dtype type) {
    const std::string number =
        is_unsigned ? std::to_string(static_cast<unsigned long long>(value)) : std::to_string(value);
    throw dtype_error("[" + std::string(operation) + "] scalar " + number + " does not fit " + std::string(name(type)));
}

void throw_negative_exponent(long long value, dtype type) {
    throw dtype_error("[power] exponent " + std::to_string(value) + " is negative: an integer power (" +
                      std::string(name(type)) + ") wants one of at least 0");
}

std::uint64_t new_serial_block() noexcept {
    static constinit std::atomic<std::uint64_t> blocks{0};
    return blocks.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace ingot::detail
