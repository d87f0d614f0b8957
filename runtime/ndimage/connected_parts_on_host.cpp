// Connected parts on the host, row by row on one thread: a root is the least index of its part, so that in the end each
// element finds its root one step away, at an element before it.
#include <algorithm>
#include <array>

#include "runtime/ndimage/connected_parts.hpp"

namespace ingot::runtime {

namespace {

using detail::index_t;

template <class I>
class host_parts {
public:
    explicit host_parts(const connected_parts& p)
        : extents_(p.extents), inside_(p.inside), parents_(static_cast<I*>(p.numbers)) {
        index_t neighbours = 0;
        for (std::size_t j = 0; j < extents_.size(); ++j) neighbours = 3 * neighbours + 1;
        for (index_t k = 0; k < neighbours; ++k)
            if (p.connects[k / 32] >> (k % 32) & 1) add_neighbour(k);
    }

    void run() {
        const index_t width = extents_.back();
        index_t rows = 1;
        for (std::size_t j = 0; j + 1 < extents_.size(); ++j) rows *= extents_[j];
        std::vector<index_t> at(extents_.size() - 1);
        for (index_t row = 0; row < rows; ++row) {
            begin_row(row * width, width);
            for (const earlier_row& r : earlier_)
                if (exists(at, r.steps)) join_rows(row * width, r.offset, r.columns, width);
            for (std::size_t j = at.size(); j-- > 0;) {
                if (++at[j] < extents_[j]) break;
                at[j] = 0;
            }
        }
        for (index_t i = 0; i < rows * width; ++i)
            if (inside_[i]) parents_[i] = parents_[parents_[i]];
    }

private:
    /// A row before an element's own, and whether its columns one before, equal, and one behind are connected with it.
    struct earlier_row {
        std::vector<int> steps;
        index_t offset;
        std::array<bool, 3> columns;
    };

    void add_neighbour(index_t k) {
        const std::size_t column = static_cast<std::size_t>(k % 3);
        std::vector<int> steps(extents_.size() - 1);
        index_t offset = 0, stride = extents_.back();
        for (std::size_t j = steps.size(); j-- > 0; stride *= extents_[j]) {
            k /= 3;
            steps[j] = static_cast<int>(k % 3) - 1;
            offset += steps[j] * stride;
        }
        if (std::ranges::all_of(steps, [](int step) { return step == 0; })) {
            joins_left_ = true;
            return;
        }
        if (earlier_.empty() || earlier_.back().steps != steps) earlier_.push_back({std::move(steps), offset, {}});
        earlier_.back().columns[column] = true;
    }

    bool exists(const std::vector<index_t>& at, const std::vector<int>& steps) const {
        for (std::size_t j = 0; j < at.size(); ++j)
            if (at[j] + steps[j] < 0 || at[j] + steps[j] >= extents_[j]) return false;
        return true;
    }

    /// An element names the first one of its run.
    void begin_row(index_t begin, index_t width) {
        for (index_t i = begin; i < begin + width; ++i) {
            const bool follows = joins_left_ && i > begin && inside_[i - 1];
            parents_[i] = !inside_[i] ? I{-1} : follows ? parents_[i - 1] : static_cast<I>(i);
        }
    }

    void join_rows(index_t begin, index_t offset, const std::array<bool, 3>& columns, index_t width) {
        for (index_t column = 0; column < width; ++column) {
            const index_t i = begin + column;
            if (!inside_[i]) continue;
            for (const index_t step : {-1, 0, 1}) {
                const index_t there = column + step, other = i + offset + step;
                if (!columns[static_cast<std::size_t>(step + 1)] || there < 0 || there >= width || !inside_[other])
                    continue;
                // The elements on the left of both have joined them.
                if (joins_left_ && column > 0 && there > 0 && inside_[i - 1] && inside_[other - 1]) continue;
                join(static_cast<I>(i), static_cast<I>(other));
            }
        }
    }

    I root_of(I i) {
        while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
        return i;
    }
    void join(I i, I j) {
        i = root_of(i);
        j = root_of(j);
        parents_[std::max(i, j)] = std::min(i, j);
    }

    const std::vector<index_t>& extents_;
    const bool* inside_;
    I* parents_;
    bool joins_left_ = false;
    std::vector<earlier_row> earlier_;
};

}  // namespace

void connect_on_host(const connected_parts& p) {
    if (p.number_type == dtype::i4)
        host_parts<std::int32_t>(p).run();
    else
        host_parts<std::int64_t>(p).run();
}

}  // namespace ingot::runtime
