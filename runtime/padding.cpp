// The widths of pads.
#include <ingot/padding.hpp>

#include <string>

#include <ingot/error.hpp>

namespace ingot::detail {

pad_width pad_widths::pair_of(std::initializer_list<any_integer> both) {
    if (both.size() == 1) return {both.begin()->value, both.begin()->value};
    if (both.size() != 2)
        throw shape_error("[pad] " + std::to_string(both.size()) +
                          " widths: one, {before, after}, or such a pair for each axis");
    return {both.begin()[0].value, both.begin()[1].value};
}

std::vector<pad_width> pad_widths::of_axes(extents_ref shape) const {
    const auto rank = static_cast<std::size_t>(shape.rank);
    if (widths_.size() != 1 && widths_.size() != rank)
        throw shape_error("[pad] " + std::to_string(widths_.size()) + " pairs of widths for shape " +
                          to_text(shape.span()));
    std::vector<pad_width> all = widths_.size() == 1 ? std::vector<pad_width>(rank, widths_[0]) : widths_;
    std::vector<index_t> padded(shape.span().begin(), shape.span().end());
    for (std::size_t j = 0; j < rank; ++j) {
        const pad_width w = all[j];
        if (w.before < 0 || w.after < 0)
            throw shape_error("[pad] widths " + std::to_string(w.before) + " and " + std::to_string(w.after) +
                              " on axis " + std::to_string(j) + ": a width is not negative");
        if (__builtin_add_overflow(padded[j], w.before, &padded[j]) ||
            __builtin_add_overflow(padded[j], w.after, &padded[j]))
            throw_too_large(static_cast<std::uint64_t>(w.before > w.after ? w.before : w.after));
    }
    check_extents("pad", padded);
    return all;
}

void check_paddable(extents_ref shape, int axis) {
    if (shape.data[axis] == 0)
        throw shape_error("[pad] axis " + std::to_string(axis) + " of shape " + to_text(shape.span()) +
                          " has no elements to pad with; pad_mode::constant wants none");
}

void throw_no_order(const char* operation, dtype type) {
    throw dtype_error("[" + std::string(operation) + "] the greatest or least of " + std::string(name(type)) +
                      ", which has no order");
}

}  // namespace ingot::detail
