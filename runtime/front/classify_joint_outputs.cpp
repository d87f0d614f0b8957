// Classification of outputs of several shapes. The statement's axes are those of the largest output; each other output
// lies on some of them, in order. Extents often leave open which ones: for a square matrix, a sum over rows has the
// same shape as one over columns. So the arrays that both trees read decide: along axes on which they move alike, an
// element loaded for one output serves the other.
#include <algorithm>
#include <utility>

#include "runtime/front/classify.hpp"

namespace ingot::runtime {

using detail::extents_ref;

void classifier::find_joint_shape(const statement& s) {
    const std::span<const index_t> joint = std::ranges::max_element(s.shapes, {}, &extents_ref::size)->span();
    c_.shape.assign(joint.begin(), joint.end());
}

/// Counts the arrays that two trees read with the same stride, each along its axis.
int classifier::common_strides(const statement& s, std::size_t own, std::size_t joint) const {
    const std::size_t raw = raw_extents_.size();
    int found = 0;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        const index_t stride = raw_strides_[i * raw + own];
        if (stride == 0 || o.memory == nullptr) continue;
        for (std::size_t k = 0; k < s.operands.size(); ++k)
            found += s.operands[k].memory == o.memory && raw_strides_[k * raw + joint] == stride;
    }
    return found;
}

/// Sets `joint_axes_`, one for each of `own`, whose axes begin at `first`. It chooses the axes with the most common
/// strides, and among equals the last ones. An axis of extent 1 matches none and gets axis 0.
void classifier::find_joint_axes(const statement& s, extents_ref own, int first) {
    const std::size_t rows = static_cast<std::size_t>(own.rank), columns = c_.shape.size();
    constexpr int impossible = -1;
    scores_.assign((rows + 1) * (columns + 1), impossible);
    // The best score of the first i own axes on the first j joint axes.
    const auto score = [&](std::size_t i, std::size_t j) -> int& { return scores_[i * (columns + 1) + j]; };
    const auto laid = [&](std::size_t i, std::size_t j) {  // own axis i - 1 on joint axis j - 1
        if (own.data[i - 1] != c_.shape[j - 1] || score(i - 1, j - 1) == impossible) return impossible;
        return score(i - 1, j - 1) + common_strides(s, static_cast<std::size_t>(first) + i - 1, j - 1);
    };
    std::fill_n(scores_.begin(), columns + 1, 0);
    for (std::size_t i = 1; i <= rows; ++i)
        for (std::size_t j = 0; j <= columns; ++j)
            if (own.data[i - 1] == 1)
                score(i, j) = score(i - 1, j);
            else if (j > 0)
                score(i, j) = std::max(score(i, j - 1), laid(i, j));
    joint_axes_.assign(rows, 0);
    for (std::size_t i = rows, j = columns; i > 0; --i) {
        if (own.data[i - 1] == 1) continue;
        while (score(i, j) != laid(i, j)) --j;
        joint_axes_[i - 1] = static_cast<int>(--j);
    }
}

void classifier::join_axes(const statement& s, int first) {
    const std::size_t raw = raw_extents_.size();
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const extents_ref own = s.shapes[k];
        if (is_joint(own)) continue;
        find_joint_axes(s, own, first);
        index_t* const out = raw_strides_.data() + (s.operands.size() + k) * raw;
        index_t stride = 1;
        for (std::size_t j = joint_axes_.size(); j-- > 0; stride *= own.data[j]) {
            if (own.data[j] == 1) continue;
            const auto from = static_cast<std::size_t>(first) + j, to = static_cast<std::size_t>(joint_axes_[j]);
            out[to] = stride;
            for (std::size_t i = 0; i < s.operands.size(); ++i)
                if (index_t* const row = raw_strides_.data() + i * raw; row[from] != 0)
                    row[to] = std::exchange(row[from], 0);
        }
        first += own.rank;
    }
}

}  // namespace ingot::runtime
