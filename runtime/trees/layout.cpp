// Composition of a view onto a layout.
#include <algorithm>

#include <ingot/core/layout.hpp>

namespace ingot::detail {

bool is_in_c_order(const layout& l) noexcept {
    index_t expected = 1;
    for (int j = l.rank() - 1; j >= 0; --j) {
        if (l.shape()[j] == 0) return true;
        if (l.shape()[j] != 1 && l.strides()[j] != expected) return false;
        expected *= l.shape()[j];
    }
    return true;
}

layout compose(const layout& leaf, const axis_view& view, int bound) {
    const int lead = leaf.rank() - bound;  // axes of the leaf that are aligned, to the right, with the view's old axes
    layout result(view.new_rank + bound);
    result.offset = leaf.offset;
    std::copy_n(view.new_shape, view.new_rank, result.shape());
    std::fill_n(result.strides(), view.new_rank, index_t{0});

    const auto stride_on = [&](int old_axis) -> index_t {
        const int axis = old_axis - (view.old_rank - lead);
        return axis < 0 || leaf.shape()[axis] == 1 ? 0 : leaf.strides()[axis];
    };
    for (int a = 0; a < view.old_rank; ++a) result.offset += view.start[a] * stride_on(a);
    for (const axis_view::step& s : std::span(view.steps, static_cast<std::size_t>(view.step_count)))
        result.strides()[s.new_axis] += s.by * stride_on(s.old_axis);

    for (int k = 0; k < bound; ++k) {
        const int axis = lead + k;
        result.shape()[view.new_rank + k] = axis < 0 ? 1 : leaf.shape()[axis];
        result.strides()[view.new_rank + k] = axis < 0 ? 0 : leaf.strides()[axis];
    }
    return result;
}

}  // namespace ingot::detail
