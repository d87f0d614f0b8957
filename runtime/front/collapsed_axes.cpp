// Stage 4 of classification: joint dimension collapse.
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/front/class_stages.hpp"

namespace ingot::runtime {

void collapsed_axes::collapse(const aligned_strides& aligned, const bound_axes& bound,
                              const view_relations& relations) {
    keep_relations = !relations.empty();
    merge(aligned, bound, relations);
    // Short rows are faster as one run, and relations keep their axes from merging.
    if (keep_relations && has_short_rows()) {
        keep_relations = false;
        merge(aligned, bound, relations);
    }
}

void collapsed_axes::merge(const aligned_strides& aligned, const bound_axes& bound, const view_relations& relations) {
    const std::size_t raw = aligned.axes();
    const std::size_t rows = raw ? aligned.strides.size() / raw : 0;
    innermost.clear(), extents.clear(), owners.clear();
    outer = 0;
    for (const int axis : aligned.order) {
        const auto a = static_cast<std::size_t>(axis);
        const index_t extent = aligned.extents[a];
        const int owner = aligned.owners[a];
        const bool of_library = bound.is(detail::word_kind::library, owner);
        if (extent == 1 && !of_library && !bound.is(detail::word_kind::gather, owner)) continue;
        const std::size_t last = innermost.empty() ? 0 : static_cast<std::size_t>(innermost.back());
        bool merges = !innermost.empty() && !of_library && owners.back() == owner &&
                      !(keep_relations && relations.keep_apart(last, a));
        const index_t* row = aligned.strides.data();
        for (std::size_t r = 0; merges && r < rows; ++r, row += raw) merges = row[last] == row[a] * extent;
        if (merges) {
            innermost.back() = axis;
            extents.back() *= extent;
        } else {
            innermost.push_back(axis);
            extents.push_back(extent);
            owners.push_back(owner);
            outer += owner == 0;
        }
    }
    if (count() > static_cast<std::size_t>(detail::max_rank))
        throw shape_error("[evaluate] the axes of the result and those that its reductions and scans work along are " +
                          std::to_string(count()) + ", more than " + std::to_string(detail::max_rank) +
                          "; evaluate a part first, by eval(part)");
    strides.resize(rows * count());
    index_t* to = strides.data();
    const index_t* row = aligned.strides.data();
    for (std::size_t r = 0; r < rows; ++r, row += raw)
        for (const int axis : innermost) *to++ = row[axis];
}

bool collapsed_axes::has_short_rows() const noexcept { return outer > 1 && inner() < short_row; }

std::vector<std::size_t> collapsed_axes::of_owner(int owner, std::uint32_t mask) const {
    std::vector<std::size_t> axes;
    for (std::size_t a = 0; a < count(); ++a) {
        if (owners[a] != owner) continue;
        if (mask & 1u) axes.push_back(a);
        mask >>= 1;
    }
    return axes;
}

bool collapsed_axes::moves(operand_range range, std::size_t axis) const {
    for (std::size_t i = range.first; i < range.last; ++i)
        if (strides_of(i)[axis] != 0) return true;
    return false;
}

}  // namespace ingot::runtime
