#include "codegen/plan/library_calls.hpp"

#include <algorithm>
#include <span>

#include "codegen/graph/rows.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr int no_axis = -1;

/// The axis of unit stride of an array that has one.
int axis_of_columns(const operand_class& o) {
    const auto unit = std::ranges::find(o.strides, stride_class::unit);
    return unit == o.strides.end() ? no_axis : static_cast<int>(unit - o.strides.begin());
}

/// The mask of the axes that belong to a library's operand in memory, or to its result.
std::uint32_t own_mask(const node& n) {
    return n.kind == node_kind::store ? n.code : facts(static_cast<library_function>(n.code)).result;
}

}  // namespace

library_calls::library_calls(const key& k, const graph& g)
    : key_(k), graph_(g), written_(g.roots.size()), within_call_(g.nodes.size()) {
    std::vector<int> users(g.nodes.size());
    for (const node& n : g.nodes)
        for (int a = 0; a < n.arity; ++a) ++users[n.arguments[a]];
    for (const node_id root : g.roots) ++users[root];
    for (std::size_t o = 0; o < g.roots.size(); ++o)
        if (k.outputs[o].head.suits_library) written_[o] = written_by_library(g.roots[o], users);
}

int library_calls::output_of(node_id library) const {
    for (std::size_t o = 0; o < written_.size(); ++o)
        if (writes(o) && writer_of(o) == library) return static_cast<int>(o);
    return -1;
}

std::vector<int> library_calls::loops_in(const node& library, std::uint32_t mask) const {
    const std::vector<int> all = loops_of_binder(key_, graph_, library.index);
    std::vector<int> own;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (mask >> i & 1u) own.push_back(all[i]);
    return own;
}

std::vector<int> library_calls::own_loops(node_id stored) const {
    return loops_in(graph_.nodes[stored], own_mask(graph_.nodes[stored]));
}

std::uint64_t library_calls::batch_of(node_id stored) const {
    std::uint64_t axes = graph_.nodes[stored].axes;
    for (const int loop : own_loops(stored)) axes &= ~axis_bit(loop);
    return axes;
}

auto library_calls::written_by_library(node_id root, const std::vector<int>& users) -> written_output {
    const auto alone = [&](node_id view) { return users[view] == 1 && users[graph_.nodes[view].arguments[0]] == 1; };
    if (users[root] != 1) return {};
    if (graph_.nodes[root].kind == node_kind::view) return alone(root) ? written_output{root} : written_output{};
    const dtype type = graph_.nodes[root].type;
    // Half-precision values are widened, added, and rounded.
    const auto beneath_cast = [&](node_id n) {
        return is_half(type) && graph_.nodes[n].kind == node_kind::cast ? graph_.nodes[n].arguments[0] : n;
    };
    const node_id sum = beneath_cast(root);
    const node& n = graph_.nodes[sum];
    if (n.kind != node_kind::map || static_cast<op>(n.code) != op::add || users[sum] != 1) return {};
    for (int a = 0; a < 2; ++a) {
        const node_id product = n.arguments[a], vector = n.arguments[1 - a];
        const node_id view = beneath_cast(product), bias = beneath_cast(vector);
        if (graph_.nodes[view].kind != node_kind::view || graph_.nodes[view].type != type || users[product] != 1 ||
            !alone(view) || graph_.nodes[bias].type != type || !lies_along_rows(graph_.nodes[bias], graph_.nodes[view]))
            continue;
        for (const node_id of : {root, sum, product}) within_call_[of] = true;
        if (users[vector] == 1) within_call_[vector] = true;
        return {view, bias};
    }
    return {};
}
/// Whether an array is a vector along a product's columns, constant along all other axes.
bool library_calls::lies_along_rows(const node& bias, const node& product) const {
    const node& library = graph_.nodes[product.arguments[0]];
    if (static_cast<library_function>(library.code) != library_function::matrix_product ||
        bias.kind != node_kind::operand)
        return false;
    const operand_class& vector = key_.operands[bias.index];
    if (vector.head.kind != operand_kind::array || !vector.head.vector || vector.head.aliased) return false;
    return axis_of_columns(vector) != no_axis &&
           axis_of_columns(vector) == axis_of_columns(key_.operands[product.pick]) &&
           std::ranges::count(vector.strides, stride_class::broadcast) + 1 == std::ssize(vector.strides);
}

library_call library_calls::make(node_id id, const placements& where) const {
    const node& n = graph_.nodes[id];
    const library_facts& row = facts(static_cast<library_function>(n.code));
    const std::vector<int> batch = axes_in(batch_of(id));
    const auto with_batch = [&](std::uint32_t mask) {
        std::vector<int> axes = batch;
        for (const int loop : loops_in(n, mask)) axes.push_back(loop);
        return axes;
    };
    library_call call;
    call.function = row.name;
    call.batch_axes = static_cast<std::uint16_t>(batch.size());
    int lie = 0;
    for (int a = 0; a < n.arity; ++a) {
        call.operands.push_back(array_of(n.arguments[a], with_batch(row.operands[a]), where));
        lie += call.operands.back().memory == argument_kind::operand_pointer ? 1 : 0;
    }
    call.results.push_back(array_of(id, with_batch(row.result), where));
    std::uint64_t points = batch_of(id);
    for (const int loop : loops_of_binder(key_, graph_, n.index)) points |= axis_bit(loop);
    call.work.push_back({points, row.operations});
    call.reason = lie == n.arity ? "operands as they lie" : "operands through temporaries";
    if (static_cast<library_function>(n.code) == library_function::matrix_product && is_in_tf32(n.type)) {
        call.attributes.push_back(static_cast<std::uint32_t>(math_mode::tf32));
        call.reason += ", rounded to TF32";
    }
    if (const int output = output_of(id); output >= 0)
        if (const node_id bias = written_[static_cast<std::size_t>(output)].bias; bias != no_node) {
            call.operands.push_back(bias_of(bias, batch, loops_in(n, row.result).back()));
            call.reason += ", the bias added in the call";
        }
    return call;
}
/// A vector along a product's columns, the same for all products of a batch.
library_array library_calls::bias_of(node_id id, const std::vector<int>& batch, int columns) const {
    const node& n = graph_.nodes[id];
    library_array array;
    array.type = n.type;
    array.memory = argument_kind::operand_pointer;
    array.index = n.index;
    for (const int loop : batch) array.axes.push_back({static_cast<std::uint16_t>(loop)});
    library_axis along{static_cast<std::uint16_t>(columns)};
    along.stride = static_cast<std::uint16_t>(axis_of_columns(key_.operands[n.index]));
    along.moves = true;
    array.axes.push_back(along);
    return array;
}
bool library_calls::is_in_tf32(dtype product) const {
    return key_.header.math == math_mode::tf32 && key_.header.where == target::cuda &&
           (product == dtype::f4 || product == dtype::c8);
}
/// A value in memory along these loops: an operand in place, or a temporary.
library_array library_calls::array_of(node_id id, const std::vector<int>& loops, const placements& where) const {
    const node& n = graph_.nodes[id];
    library_array array;
    array.type = n.type;
    const bool lies = n.kind == node_kind::operand;
    array.memory = lies ? argument_kind::operand_pointer : argument_kind::temporary_pointer;
    const placement at = lies ? placement{n.index, {}} : where(id);
    array.index = at.index;
    if (const int output = lies ? -1 : output_of(id); output >= 0) {
        array.memory = argument_kind::output_pointer;
        array.index = static_cast<std::uint16_t>(output);
        array.axes = axes_written(static_cast<std::size_t>(output), loops);
        if (!array.axes.empty()) return array;
    }
    for (const int loop : loops) {
        library_axis axis{static_cast<std::uint16_t>(loop)};
        for (std::size_t a = 0; lies && a < key_.axes.size(); ++a)
            if (loop_of(static_cast<int>(a)) == loop && key_.operands[n.index].strides[a] != stride_class::broadcast)
                axis.stride = static_cast<std::uint16_t>(a), axis.moves = true;
        if (const auto own = std::ranges::find(at.loops, loop); own != at.loops.end()) {
            axis.moves = true;
            for (const int inner : std::span(own + 1, at.loops.end())) axis.inner |= axis_bit(inner);
        }
        array.axes.push_back(axis);
    }
    return array;
}

/// The axes for these loops, with the output's strides, where a library's function writes an output of any strides;
/// empty where the key does not tell them.
std::vector<library_axis> library_calls::axes_written(std::size_t output, const std::vector<int>& loops) const {
    const node& view = graph_.nodes[written_[output].view];
    const node& library = graph_.nodes[view.arguments[0]];
    const library_facts& row = facts(static_cast<library_function>(library.code));
    if (row.wants != library_layout::lattice && row.wants != library_layout::consumed) return {};
    std::vector<std::uint16_t> along;  // the key's axes that match the function's own, one for each or one for all
    for (std::size_t a = 0; a < key_.axes.size(); ++a)
        if (key_.axes[a].owner == 0 && key_.operands[view.pick].strides[a] != stride_class::broadcast)
            along.push_back(static_cast<std::uint16_t>(a));
    const std::size_t own = loops_in(library, row.result).size(), batch = loops.size() - own;
    if (along.size() != own && along.size() != 1) return {};
    std::vector<library_axis> axes;
    for (std::size_t j = 0; j < loops.size(); ++j) {
        library_axis axis{static_cast<std::uint16_t>(loops[j])};
        axis.moves = true;
        for (std::size_t a = 0; j < batch && a < key_.axes.size(); ++a)
            if (key_.axes[a].owner == 0 && loop_of(static_cast<int>(a)) == loops[j])
                axis.stride = static_cast<std::uint16_t>(a);
        if (j >= batch) axis.stride = along.size() == own ? along[j - batch] : along[0];
        if (axis.stride == no_number) return {};
        for (std::size_t k = j + 1; j >= batch && along.size() != own && k < loops.size(); ++k)
            axis.inner |= axis_bit(loops[k]);
        axes.push_back(axis);
    }
    return axes;
}

}  // namespace ingot::codegen
