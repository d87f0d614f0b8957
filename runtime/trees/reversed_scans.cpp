// See reversed_scans.hpp.
#include "runtime/trees/reversed_scans.hpp"

#include "runtime/trees/tree.hpp"

namespace ingot::runtime {

using detail::extents_ref;
using detail::layout;
using detail::tree_ref;
using detail::word_kind;

namespace {

/// The axis along which a scan is read from its end to its start, where nothing else moves; else -1.
int axis_read_backwards(const layout& pick) {
    int axis = -1;
    for (int j = 0; j < pick.rank(); ++j) {
        if (pick.strides()[j] == 0) continue;
        if (axis >= 0 || pick.strides()[j] != -1) return -1;
        axis = j;
    }
    return axis >= 0 && pick.offset == pick.shape()[axis] - 1 ? axis : -1;
}

}  // namespace

tree_ref reversed_scan(const statement& s, detail::view_room& flip) {
    if (s.program.size() != 1 || s.outputs.size() != 1 || s.operands.size() != 1 || s.repeated.steps != 1) return {};
    if (detail::kind_of_word(s.program[0]) != word_kind::lazy || s.outputs[0].scattered) return {};
    auto* const root = const_cast<tree_node*>(static_cast<const tree_node*>(s.operands[0].tree));
    if (kind_of(*root) != word_kind::scan) return {};
    const layout& pick = static_cast<const picking_branch&>(*root).pick;
    const int axis = axis_read_backwards(pick);
    const extents_ref shape = root->extents();
    if (axis < 0 || pick.rank() != shape.rank || shape.size() == 0) return {};
    const output& to = s.outputs[0];
    if (*to.memory && !detail::same_extents(extents_ref::of(to.where->extents()), shape)) return {};
    const axes along(axis);
    view_flipped(flip, shape, &along);
    tree_ref reversed = view_tree(tree_ref::share(root), flip, 0);
    return kind_of(*reversed) == word_kind::scan ? reversed : tree_ref();
}

reversed_statement::reversed_statement(const tree_ref& reversed, const detail::view_room& flip, const output& to)
    : where_(compose(*to.where, flip, 0)),
      to_{to.type, to.memory, &where_},
      program_(detail::make_word(word_kind::lazy, detail::dtype_of_word(reversed->code))) {
    tree_.kind = detail::operand_kind::lazy;
    tree_.type = detail::dtype_of_word(reversed->code);
    tree_.tree = reversed.get();
}

statement reversed_statement::get() const noexcept { return {{&program_, 1}, {&tree_, 1}, {}, {&to_, 1}}; }

}  // namespace ingot::runtime
