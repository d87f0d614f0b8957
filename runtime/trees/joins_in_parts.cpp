// See joins_in_parts.hpp. A join is where(position < end of part 0, part 0, where(...)), and each part is read at the
// index nearest to the element's, along the joint axis or along that and all axes behind it, merged to one.
#include "runtime/trees/joins_in_parts.hpp"

#include <algorithm>

#include <ingot/core/indexing.hpp>

#include "runtime/trees/tree.hpp"

namespace ingot::runtime {

using detail::index_t;
using detail::word;
using detail::word_kind;

namespace {

bool is_map(const tree_node& n, detail::op o) {
    return kind_of(n) == word_kind::map && detail::code_of_word(n.code) == static_cast<word>(o);
}

/// Whether the places move in C order along the axes from `axis` up to `behind`, and along no other axis.
bool counts_along(const detail::layout& l, int axis, int behind, std::span<const index_t> shape) {
    index_t stride = 1;
    for (int j = l.rank(); j-- > 0;) {
        const bool is_counted = j >= axis && j < behind;
        if (shape[static_cast<std::size_t>(j)] != 1 && l.strides()[j] != (is_counted ? stride : 0)) return false;
        if (is_counted) stride *= shape[static_cast<std::size_t>(j)];
    }
    return true;
}

}  // namespace

joined_statement::joined_statement(const statement& s) {
    if (s.program.size() != 1 || s.outputs.size() != 1 || s.operands.size() != 1 || s.repeated.steps != 1) return;
    if (detail::kind_of_word(s.program[0]) != word_kind::lazy || s.outputs[0].scattered) return;
    auto* const root = const_cast<tree_node*>(static_cast<const tree_node*>(s.operands[0].tree));
    if (!is_map(*root, detail::op::where) || root->extents().size() == 0) return;
    shape_.assign(root->shape, root->shape + root->rank);
    const output& to = s.outputs[0];
    const bool is_given = bool(*to.memory);
    const bool fits = !is_given || std::ranges::equal(to.where->extents(), shape_);
    const bool is_on_gpu = root->device.is_cuda() || (is_given && (*to.memory)->device.is_cuda());
    if (!fits || !find_parts(tree_ref::share(root)) || (!are_alike_ && (is_on_gpu || is_given))) parts_.clear();
}

bool joined_statement::find_parts(const tree_ref& root) {
    const tree_node* n = root.get();
    index_t start = 0;
    while (is_map(*n, detail::op::where)) {
        const tree_node& condition = *arguments_of(*n)[0];
        if (!is_map(condition, detail::op::less)) return false;
        const tree_node &position = *arguments_of(condition)[0], &end = *arguments_of(condition)[1];
        if (kind_of(position) != word_kind::generator || kind_of(end) != word_kind::scalar || is_whole_array(end) ||
            detail::code_of_word(position.code) != static_cast<word>(detail::generator_kind::position) ||
            static_cast<const number&>(end).type != dtype::i8)
            return false;
        const detail::layout& counted = static_cast<const leaf_node&>(position).where;
        if (counted.offset != 0 || counted.rank() != static_cast<int>(shape_.size())) return false;
        if (parts_.empty()) {
            axis_ = 0;
            while (axis_ < counted.rank() && counted.strides()[axis_] == 0) ++axis_;
            if (axis_ == counted.rank()) return false;
            inner_ = counted.strides()[axis_];
        }
        if (!counts_along(counted, axis_, merged(), shape_)) return false;
        const index_t last = static_cast<index_t>(static_cast<const number&>(end).value.bits[0]);
        if (!add_part(*arguments_of(*n)[1], start, last)) return false;
        start = last;
        n = arguments_of(*n)[2];
    }
    if (!add_part(*n, start, shape_[static_cast<std::size_t>(axis_)] * inner_)) return false;
    starts_.push_back(shape_[static_cast<std::size_t>(axis_)]);
    return true;
}

bool joined_statement::add_part(const tree_node& chosen, index_t start, index_t end) {
    if (kind_of(chosen) != word_kind::unravel || chosen.bound != 1 || start % inner_ != 0 || end % inner_ != 0 ||
        detail::code_of_word(chosen.code) != static_cast<word>(detail::place_rule::nearest))
        return false;
    const detail::layout& place = static_cast<const picking_branch&>(chosen).pick;
    const tree_node& operand = *arguments_of(chosen)[0];
    const int rank = static_cast<int>(shape_.size());
    if (place.offset != -start || place.rank() != rank || operand.rank != rank + 1 ||
        operand.shape[rank] != end - start)
        return false;
    if (!counts_along(place, axis_, merged(), shape_)) return false;
    // The part itself: without the axes of the result along which its elements are chosen. It must not move along them,
    // as it does in a diagonal: then its first and its last view there are equal.
    std::vector<index_t> part = shape_;
    part[static_cast<std::size_t>(axis_)] = (end - start) / inner_;
    detail::view_room view;
    view.old_rank = rank + 1;
    std::fill_n(view.starts, rank + 1, index_t{0});
    const auto keep = [&](int old_axis) {
        view.extents[view.new_rank] = operand.shape[old_axis];
        view.walks[view.step_count++] = {view.new_rank++, old_axis, 1};
    };
    for (int j = 0; j < axis_; ++j) keep(j);
    keep(rank);
    for (int j = merged(); j < rank; ++j) keep(j);
    const tree_ref whole = tree_ref::share(const_cast<tree_node*>(&operand));
    tree_ref seen = view_tree(whole, view, 0);
    for (int j = axis_; j < merged(); ++j) view.starts[j] = operand.shape[j] - 1;
    if (!(view_tree(whole, view, 0)->hash == seen->hash)) return false;
    if (merged() - axis_ > 1) seen = reshape_tree(seen, part, 0);
    if (!seen) return false;
    are_alike_ = are_alike_ && (parts_.empty() || detail::same_extents(seen->extents(), parts_[0]->extents()));
    parts_.push_back(std::move(seen));
    starts_.push_back(start / inner_);
    return true;
}

void joined_statement::evaluate_into(const output& to, const statement_function& evaluate) const {
    std::vector<detail::layout> places;
    std::vector<word> program;
    std::vector<operand> trees;
    std::vector<output> outputs;
    places.reserve(parts_.size());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        detail::layout& place = places.emplace_back(*to.where);
        place.offset += starts_[k] * place.strides()[axis_];
        place.shape()[axis_] = starts_[k + 1] - starts_[k];
        program.push_back(detail::make_word(word_kind::lazy, to.type));
        operand& tree = trees.emplace_back();
        tree.kind = detail::operand_kind::lazy;
        tree.type = to.type;
        tree.tree = parts_[k].get();
        outputs.push_back({to.type, to.memory, &place});
    }
    const statement joint{program, trees, {}, outputs};
    if (are_alike_ && !binds_many_axes(joint)) return evaluate(joint);
    std::vector<statement> each;
    for (std::size_t k = 0; k < parts_.size(); ++k)
        each.push_back({{&program[k], 1}, {&trees[k], 1}, {}, {&outputs[k], 1}});
    const shared_pieces computed_once(each);
    for (const statement& part : each) evaluate(part);
}

}  // namespace ingot::runtime
