// Stage 2 of classification, for outputs of several shapes. The statement's axes are those of the largest output; each
// other output lies on some of them, in order. Extents often leave open which ones: for a square matrix, a sum over
// rows has the same shape as one over columns. So the arrays that both trees read decide: along axes on which they move
// alike, an element loaded for one output serves the other.
#include <algorithm>
#include <utility>

#include "runtime/front/class_stages.hpp"

namespace ingot::runtime {

using detail::extents_ref;

/// Counts the arrays that two trees read with the same stride, each along its axis.
int aligned_strides::common_strides(const statement& s, std::size_t own, std::size_t joint) const {
    int found = 0;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        const index_t stride = strides_of(i)[own];
        if (stride == 0 || o.memory == nullptr) continue;
        for (std::size_t k = 0; k < s.operands.size(); ++k)
            found += s.operands[k].memory == o.memory && strides_of(k)[joint] == stride;
    }
    return found;
}

/// Sets `joint_axes_`, one for each of `own`, whose axes begin at `first`. It chooses the axes with the most common
/// strides, and among equals the last ones. An axis of extent 1 matches none and gets axis 0.
void aligned_strides::find_joint_axes(const statement& s, extents_ref own, std::size_t first) {
    const std::size_t rows = static_cast<std::size_t>(own.rank), columns = result_axes;
    constexpr int impossible = -1;
    scores_.assign((rows + 1) * (columns + 1), impossible);
    // The best score of the first i own axes on the first j joint axes.
    const auto score = [&](std::size_t i, std::size_t j) -> int& { return scores_[i * (columns + 1) + j]; };
    const auto laid = [&](std::size_t i, std::size_t j) {  // own axis i - 1 on joint axis j - 1
        if (own.data[i - 1] != extents[j - 1] || score(i - 1, j - 1) == impossible) return impossible;
        return score(i - 1, j - 1) + common_strides(s, first + i - 1, j - 1);
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

void aligned_strides::join_axes(const statement& s, const value_shapes& shapes) {
    std::size_t first = result_axes + static_cast<std::size_t>(shapes.bound.count());
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const extents_ref own = s.shapes[k];
        if (shapes.is_result(own)) continue;
        find_joint_axes(s, own, first);
        index_t* const out = row(s.operands.size() + k);
        index_t stride = 1;
        for (std::size_t j = joint_axes_.size(); j-- > 0; stride *= own.data[j]) {
            if (own.data[j] == 1) continue;
            const auto to = static_cast<std::size_t>(joint_axes_[j]);
            out[to] = stride;
            for (std::size_t i = 0; i < s.operands.size(); ++i)
                if (index_t& from = row(i)[first + j]; from != 0) row(i)[to] = std::exchange(from, 0);
        }
        first += joint_axes_.size();
    }
}

}  // namespace ingot::runtime
