// Classifies how operands lie in memory: alignment, density, runs of rows and columns. These facts go into the key
// beside the stride classes.
#include <algorithm>
#include <cstdlib>

#include "runtime/front/classify.hpp"

namespace ingot::runtime {

using detail::operand_kind;

bool classifier::is_wide(std::size_t row, std::size_t element_bytes) const {
    index_t up = 0, down = 0;
    for (std::size_t a = 0; a < c_.extents.size(); ++a) {
        const index_t reach = c_.strides_of(row)[a] * (c_.extents[a] - 1);
        (reach > 0 ? up : down) += reach;
    }
    const auto bytes = static_cast<index_t>(element_bytes);
    return up >= narrow_reach() / bytes || -down >= narrow_reach() / bytes;
}

bool classifier::is_vector(std::size_t row, std::uintptr_t address, std::size_t element_bytes,
                           std::size_t grain) const {
    int unit_axes = 0;
    bool outer_aligned = true;
    for (std::size_t a = 0; a < c_.extents.size(); ++a) {
        const index_t stride = c_.strides_of(row)[a];
        if (stride == 1)
            ++unit_axes;
        else if ((static_cast<std::size_t>(std::abs(stride)) * element_bytes) % grain != 0)
            outer_aligned = false;
    }
    // Without a unit axis no kernel loads vectors, so both alignments are one class.
    return unit_axes == 0 || (unit_axes == 1 && outer_aligned && address % grain == 0);
}

bool classifier::has_strides_of(std::size_t i, std::size_t k) const {
    const index_t* own = c_.strides_of(i);
    return std::equal(own, own + c_.extents.size(), c_.strides_of(k));
}

/// Whether two operands with one origin are the same view, possibly along other axes: those of another binder, or those
/// along which a binder's result is broadcast back. The lowerer compares the loops; this test compares an axis by its
/// extent and by whether its stride is 1. An axis along which both move with one stride is one loop for both, so it
/// differs from all other axes. No other two axes of a view may be alike. The relation is not transitive: two views may
/// both equal a third one and differ from each other.
bool classifier::is_same_view(std::size_t i, std::size_t k) const {
    const index_t *own = c_.strides_of(i), *other = c_.strides_of(k);
    const auto axes = c_.extents.size();
    if (has_strides_of(i, k)) return true;
    if (bound_axes_ == 0) return false;
    std::ptrdiff_t moving = 0;
    for (std::size_t a = 0; a < axes; ++a) {
        moving += (own[a] != 0) - (other[a] != 0);
        if (own[a] == 0 || own[a] == other[a]) continue;
        int of_own = 0, of_other = 0;
        for (std::size_t b = 0; b < axes; ++b) {
            if (c_.extents[b] != c_.extents[a] || own[b] == other[b]) continue;
            of_own += own[b] != 0 && (own[b] == 1) == (own[a] == 1);
            if (other[b] == 0 || (other[b] == 1) != (own[a] == 1)) continue;
            ++of_other;
            if (other[b] != own[a]) return false;
        }
        if (of_own != 1 || of_other != 1) return false;
    }
    return moving == 0;
}

/// Whether the axes along which an operand moves, in the key's order, form one run of memory without gaps.
bool classifier::is_dense(std::size_t row, std::uintptr_t address) const {
    index_t run = 1;
    for (std::size_t a = c_.extents.size(); a-- > 0;) {
        const index_t stride = c_.strides_of(row)[a];
        if (stride == 0) continue;
        if (stride != run) return false;
        run *= c_.extents[a];
    }
    return run > 1 && address % vector_bytes == 0;
}

bool classifier::repeats_elements(std::size_t row) const {
    index_t points = 1, reach = 1;
    for (std::size_t a = 0; a < c_.extents.size(); ++a) {
        const index_t stride = c_.strides_of(row)[a];
        if (stride == 0 || c_.extents[a] <= 1) continue;
        points *= c_.extents[a];
        reach += (c_.extents[a] - 1) * std::abs(stride);
    }
    return points > reach;
}

/// Whether every folded array is one run of memory. From the innermost axis outwards: the innermost output axis, one
/// bound axis, then the other output axes.
bool classifier::are_contiguous_columns(const statement& s, std::size_t outer_axes) const {
    if (outer_axes == 0) return false;
    bool folded = false;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        const index_t* const strides = c_.strides_of(i);
        std::size_t bound = 0;
        for (std::size_t a = outer_axes; a < c_.extents.size(); ++a) {
            if (strides[a] == 0) continue;
            if (bound != 0) return false;
            bound = a;
        }
        if (bound == 0) continue;
        if (o.kind != operand_kind::array) return false;
        index_t run = c_.extents[outer_axes - 1];
        if (strides[outer_axes - 1] != 1 || strides[bound] != run) return false;
        run *= c_.extents[bound];
        for (std::size_t a = outer_axes - 1; a-- > 0;) {
            if (strides[a] == 0) continue;  // output axes along which the folded array does not move
            if (strides[a] != run) return false;
            run *= c_.extents[a];
        }
        if (address_of(*o.memory, *o.where, o.type) % vector_bytes != 0) return false;
        folded = true;
    }
    return folded;
}

/// Whether the rows along `along` (a bound axis or an output axis) form one run of memory without gaps. The rows take
/// output axis `output_axis`, or lie innermost where `output_axis` is none.
bool classifier::is_run_of_rows(std::size_t row, std::uintptr_t address, std::size_t along, std::size_t output_axis,
                                std::size_t outer_axes) const {
    const index_t* const strides = c_.strides_of(row);
    index_t run = 1;
    const auto goes_on = [&](std::size_t axis) {
        if (strides[axis] != run) return false;
        run *= c_.extents[axis];
        return true;
    };
    if (output_axis >= outer_axes && !goes_on(along)) return false;
    for (std::size_t a = outer_axes; a-- > 0;)
        if (!goes_on(a == output_axis ? along : a)) return false;
    return address % vector_bytes == 0;
}

/// Whether blocks cannot stage the rows along a bound axis as runs of memory: they have several axes, are scanned, come
/// from a random leaf, or have gaps in some array.
bool classifier::cannot_stage_rows(const statement& s, std::size_t axis, std::size_t outer_axes,
                                   bool contiguous_columns) const {
    const detail::axis_class row = axis_of_key(axis);
    if (is_scan(row.owner)) return true;
    if (contiguous_columns) return false;
    if (axis_of_key(axis - 1).owner == row.owner) return true;
    std::size_t output_axis = row.partner - std::size_t{1};
    while (output_axis >= outer_axes && output_axis < axis)
        output_axis = axis_of_key(output_axis).partner - std::size_t{1};
    const auto is_staged = [&](std::size_t i, std::uintptr_t address) {
        const index_t* const strides = c_.strides_of(i);
        const std::size_t along = strides[axis] != 0                                      ? axis
                                  : output_axis < outer_axes && strides[output_axis] != 0 ? output_axis
                                                                                          : axis;
        if (strides[along] == 0) return true;
        bool same_in_all = true;
        for (std::size_t a = 0; a < outer_axes; ++a) same_in_all = same_in_all && (a == output_axis || strides[a] == 0);
        return same_in_all || is_run_of_rows(i, address, along, output_axis, outer_axes);
    };
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        if (o.kind == operand_kind::generator && c_.strides_of(i)[axis] != 0) return true;
        if (o.kind == operand_kind::array && !is_staged(i, address_of(*o.memory, *o.where, o.type))) return true;
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        const std::uintptr_t address = *o.memory ? address_of(**o.memory, *o.where, o.type) : 0;
        if (output_axis < outer_axes && !o.scattered && !is_staged(s.operands.size() + k, address)) return true;
    }
    return false;
}

/// Whether an operand moves along all output axes and forms one run without gaps. Along the scanned output axis it may
/// move by the binder's axis instead.
bool classifier::is_run_of_columns(std::size_t row, std::uintptr_t address) const {
    const index_t* const strides = c_.strides_of(row);
    const std::size_t inner = whole_columns_ - 1, down = whole_columns_ - 2;
    std::size_t scanned = down;
    for (std::size_t a = whole_columns_; a < c_.extents.size(); ++a) {
        if (strides[a] == 0) continue;
        if (scanned != down || strides[down] != 0) return false;
        scanned = a;
    }
    index_t run = c_.extents[inner];
    if (strides[inner] != 1 || strides[scanned] != run || c_.extents[scanned] != c_.extents[down]) return false;
    run *= c_.extents[down];
    for (std::size_t a = down; a-- > 0;) {
        if (strides[a] != run) return false;
        run *= c_.extents[a];
    }
    return address % vector_bytes == 0;
}

}  // namespace ingot::runtime
