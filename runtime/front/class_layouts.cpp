// How operands and outputs lie in memory, on the collapsed axes: alignment, density, runs of rows and columns. These
// facts go into the key beside the stride classes.
#include <algorithm>
#include <cstdlib>

#include "runtime/front/class_stages.hpp"

namespace ingot::runtime {

using detail::operand_kind;

bool collapsed_axes::is_wide(std::size_t row, std::size_t element_bytes) const {
    index_t up = 0, down = 0;
    for (std::size_t a = 0; a < count(); ++a) {
        const index_t reach = strides_of(row)[a] * (extents[a] - 1);
        (reach > 0 ? up : down) += reach;
    }
    const auto bytes = static_cast<index_t>(element_bytes);
    return up >= narrow_reach() / bytes || -down >= narrow_reach() / bytes;
}

bool collapsed_axes::is_vector(std::size_t row, std::uintptr_t address, std::size_t element_bytes,
                               std::size_t grain) const {
    int unit_axes = 0;
    bool outer_aligned = true;
    for (std::size_t a = 0; a < count(); ++a) {
        const index_t stride = strides_of(row)[a];
        if (stride == 1)
            ++unit_axes;
        else if ((static_cast<std::size_t>(std::abs(stride)) * element_bytes) % grain != 0)
            outer_aligned = false;
    }
    // Without a unit axis no kernel loads vectors, so both alignments are one class.
    return unit_axes == 0 || (unit_axes == 1 && outer_aligned && address % grain == 0);
}

bool collapsed_axes::has_strides_of(std::size_t i, std::size_t k) const {
    const index_t* own = strides_of(i);
    return std::equal(own, own + count(), strides_of(k));
}

/// Whether two operands with one origin are the same view, possibly along other axes: those of another binder, or those
/// along which a binder's result is broadcast back. The lowerer compares the loops; this test compares an axis by its
/// extent and by whether its stride is 1. An axis along which both move with one stride is one loop for both, so it
/// differs from all other axes. No other two axes of a view may be alike. The relation is not transitive: two views may
/// both equal a third one and differ from each other.
bool collapsed_axes::is_same_view(std::size_t i, std::size_t k) const {
    const index_t *own = strides_of(i), *other = strides_of(k);
    const auto axes = count();
    if (has_strides_of(i, k)) return true;
    if (outer == count()) return false;
    std::ptrdiff_t moving = 0;
    for (std::size_t a = 0; a < axes; ++a) {
        moving += (own[a] != 0) - (other[a] != 0);
        if (own[a] == 0 || own[a] == other[a]) continue;
        int of_own = 0, of_other = 0;
        for (std::size_t b = 0; b < axes; ++b) {
            if (extents[b] != extents[a] || own[b] == other[b]) continue;
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
bool collapsed_axes::is_dense(std::size_t row, std::uintptr_t address) const {
    index_t run = 1;
    for (std::size_t a = count(); a-- > 0;) {
        const index_t stride = strides_of(row)[a];
        if (stride == 0) continue;
        if (stride != run) return false;
        run *= extents[a];
    }
    return run > 1 && address % vector_bytes == 0;
}

bool collapsed_axes::repeats_elements(std::size_t row) const {
    index_t points = 1, reach = 1;
    for (std::size_t a = 0; a < count(); ++a) {
        const index_t stride = strides_of(row)[a];
        if (stride == 0 || extents[a] <= 1) continue;
        points *= extents[a];
        reach += (extents[a] - 1) * std::abs(stride);
    }
    return points > reach;
}

/// Whether every folded array is one run of memory. From the innermost axis outwards: the innermost output axis, one
/// bound axis, then the other output axes.
bool collapsed_axes::are_contiguous_columns(const statement& s) const {
    if (outer == 0) return false;
    bool folded = false;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        const index_t* const own = strides_of(i);
        std::size_t bound = 0;
        for (std::size_t a = outer; a < count(); ++a) {
            if (own[a] == 0) continue;
            if (bound != 0) return false;
            bound = a;
        }
        if (bound == 0) continue;
        if (o.kind != operand_kind::array) return false;
        index_t run = extents[outer - 1];
        if (own[outer - 1] != 1 || own[bound] != run) return false;
        run *= extents[bound];
        for (std::size_t a = outer - 1; a-- > 0;) {
            if (own[a] == 0) continue;  // output axes along which the folded array does not move
            if (own[a] != run) return false;
            run *= extents[a];
        }
        if (address_of(*o.memory, *o.where, o.type) % vector_bytes != 0) return false;
        folded = true;
    }
    return folded;
}

/// Whether the rows along `along` (a bound axis or an output axis) form one run of memory without gaps. The rows take
/// output axis `output_axis`, or lie innermost where `output_axis` is none.
bool collapsed_axes::is_run_of_rows(std::size_t row, std::uintptr_t address, std::size_t along,
                                    std::size_t output_axis) const {
    const index_t* const own = strides_of(row);
    index_t run = 1;
    const auto goes_on = [&](std::size_t axis) {
        if (own[axis] != run) return false;
        run *= extents[axis];
        return true;
    };
    if (output_axis >= outer && !goes_on(along)) return false;
    for (std::size_t a = outer; a-- > 0;)
        if (!goes_on(a == output_axis ? along : a)) return false;
    return address % vector_bytes == 0;
}

/// Whether an operand moves along all output axes and forms one run without gaps. Along the scanned output axis it may
/// move by the binder's axis instead.
bool collapsed_axes::is_run_of_columns(std::size_t row, std::uintptr_t address) const {
    const index_t* const own = strides_of(row);
    const std::size_t inner = outer - 1, down = outer - 2;
    std::size_t scanned = down;
    for (std::size_t a = outer; a < count(); ++a) {
        if (own[a] == 0) continue;
        if (scanned != down || own[down] != 0) return false;
        scanned = a;
    }
    index_t run = extents[inner];
    if (own[inner] != 1 || own[scanned] != run || extents[scanned] != extents[down]) return false;
    run *= extents[down];
    for (std::size_t a = down; a-- > 0;) {
        if (own[a] != run) return false;
        run *= extents[a];
    }
    return address % vector_bytes == 0;
}

/// Whether strides are steps of each other (library_layout).
bool collapsed_axes::is_lattice(std::span<const std::size_t> axes, const index_t* row) const {
    index_t step = 1, least = 1;  // stride of the previous axis, and stride times extent
    for (std::size_t k = axes.size(); k-- > 0;) {
        const index_t extent = extents[axes[k]], stride = row[axes[k]];
        if (extent == 1) continue;
        if (stride < least || stride % step != 0) return false;
        step = stride, least = stride * extent;
    }
    return true;
}

bool collapsed_axes::lies_across(const statement& s, std::size_t axis) const {
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const index_t* const own = strides_of(i);
        if (own[axis] == 1 && own[outer - 1] != 0 && own[outer - 1] != 1) return true;
    }
    return false;
}

}  // namespace ingot::runtime
