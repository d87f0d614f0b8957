// What sequences and variables have to be.
#include <ingot/correlation.hpp>

#include <string>

#include <ingot/error.hpp>

namespace ingot::detail {

void check_sequences(const char* operation, std::span<const index_t> a, std::span<const index_t> v) {
    for (const auto shape : {a, v})
        if (shape.size() != 1 || shape[0] == 0)
            throw shape_error("[" + std::string(operation) + "] shapes " + to_text(a) + " and " + to_text(v) +
                              ": two vectors with elements are wanted");
}

void throw_too_many_axes(const char* operation, extents_ref shape, int most) {
    throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape.span()) + " has more than " +
                      std::to_string(most) + " axes");
}

}  // namespace ingot::detail
