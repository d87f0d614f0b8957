// Each pass takes the largest result that is left and all results that one plan may compute with it.
#include "runtime/front/joint_outputs.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "runtime/front/evaluate.hpp"

namespace ingot {

namespace runtime {

using detail::extents_ref;
using detail::word;

namespace {

/// Whether the axes of `inner` are some of the axes of `outer`, in order; axes of extent 1 are ignored.
bool lies_within(extents_ref inner, extents_ref outer) {
    int j = outer.rank;
    for (int i = inner.rank; i-- > 0;) {
        if (inner.data[i] == 1) continue;
        while (j > 0 && outer.data[j - 1] != inner.data[i]) --j;
        if (j-- == 0) return false;
    }
    return true;
}

/// Whether one plan may compute the results `k` and `largest`.
bool fit_one_plan(const joint_outputs& s, std::size_t k, std::size_t largest) {
    return s.devices[k] == s.devices[largest] && lies_within(s.shapes[k], s.shapes[largest]) &&
           (s.shapes[k].size() == 0) == (s.shapes[largest].size() == 0);
}

bool all_fit_one_plan(const joint_outputs& s) {
    std::size_t largest = 0;
    for (std::size_t k = 1; k < s.shapes.size(); ++k)
        if (s.shapes[k].size() > s.shapes[largest].size()) largest = k;
    for (std::size_t k = 0; k < s.shapes.size(); ++k)
        if (!fit_one_plan(s, k, largest)) return false;
    return true;
}

/// Where each tree of a program begins; the last entry is the end.
struct beginning {
    std::size_t program, operands, attributes;
};
std::vector<beginning> beginnings_of(const joint_outputs& s) {
    beginning at{s.program.size(), s.operands.size(), s.attributes.size()};
    std::vector<beginning> trees{at};
    while (at.program > 0) {
        for (int open = 1; open > 0; --open) {
            const word w = s.program[--at.program];
            at.operands -= static_cast<std::size_t>(detail::operands_of_word(w));
            at.attributes -= detail::is_binder(detail::kind_of_word(w)) ? 1 : 0;
            open += detail::arity_of_word(w);
        }
        trees.push_back(at);
    }
    std::ranges::reverse(trees);
    return trees;
}

/// Appends tree number `k`, which reaches from trees[k] to trees[k + 1].
void append(joint_trees& to, const joint_outputs& s, const std::vector<beginning>& trees, std::size_t k) {
    const auto take = [](auto& part, const auto& from, std::size_t first, std::size_t last) {
        part.insert(part.end(), from.begin() + static_cast<std::ptrdiff_t>(first),
                    from.begin() + static_cast<std::ptrdiff_t>(last));
    };
    take(to.program, s.program, trees[k].program, trees[k + 1].program);
    take(to.operands, s.operands, trees[k].operands, trees[k + 1].operands);
    take(to.attributes, s.attributes, trees[k].attributes, trees[k + 1].attributes);
    to.outputs.push_back(s.outputs[k]);
}

}  // namespace

std::vector<joint_trees> split_by_output(const joint_outputs& s) {
    const std::vector<beginning> trees = beginnings_of(s);
    std::vector<joint_trees> parts(s.outputs.size());
    for (std::size_t k = 0; k < parts.size(); ++k) append(parts[k], s, trees, k);
    return parts;
}

std::vector<joint_trees> split_by_shape(const joint_outputs& s) {
    const std::vector<beginning> trees = beginnings_of(s);
    std::vector<std::size_t> left(s.outputs.size());  // the largest first
    for (std::size_t k = 0; k < left.size(); ++k) left[k] = k;
    std::ranges::stable_sort(left, std::greater{}, [&](std::size_t k) { return s.shapes[k].size(); });

    std::vector<joint_trees> parts;
    while (!left.empty()) {
        const std::size_t largest = left.front();
        const auto fits = [&](std::size_t k) { return fit_one_plan(s, k, largest); };
        std::vector<std::size_t> rest;
        std::ranges::copy_if(left, std::back_inserter(rest), std::not_fn(fits));
        std::erase_if(left, std::not_fn(fits));
        std::ranges::sort(left);  // in the order in which they were written

        joint_trees& part = parts.emplace_back();
        bool alike = true;
        for (const std::size_t k : left) {
            append(part, s, trees, k);
            part.shapes.push_back(s.shapes[k]);
            alike = alike && detail::same_extents(s.shapes[k], s.shapes[largest]);
        }
        if (alike) part.shapes.clear();
        left = std::move(rest);
    }
    return parts;
}

}  // namespace runtime

namespace detail {
inline namespace v1 {

void evaluate_joint_outputs(slot& cache, const joint_outputs& s) {
    using namespace runtime;
    if (all_fit_one_plan(s))
        return runtime::evaluate(cache, {s.program, s.operands, s.attributes, s.outputs, 0, s.shapes});
    for_each_by_shape(s, evaluate_without_slot);
}

}  // namespace v1
}  // namespace detail
}  // namespace ingot
