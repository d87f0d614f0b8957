// Which part of an array a step writes.
#include <ingot/iterate.hpp>

#include <string>

#include <ingot/error.hpp>

namespace ingot::detail {

layout inside(index_t n, const layout& whole, const shape_like& part) {
    if (n < 0) throw shape_error("[iterate] " + std::to_string(n) + " steps: a count that is not negative is wanted");
    layout inner = whole;
    bool fits = part.count() == whole.rank();
    for (int j = 0; fits && j < whole.rank(); ++j) {
        const index_t lost = whole.shape()[j] - part[j];
        fits = lost >= 0 && lost % 2 == 0;
        inner.shape()[j] = part[j];
        inner.offset += lost / 2 * whole.strides()[j];
    }
    if (!fits)
        throw shape_error("[iterate] a step of an array of shape " + to_text(whole.extents()) + " gave shape " +
                          to_text(part.values()) + ": the same is wanted, or its inside");
    return inner;
}

}  // namespace ingot::detail
