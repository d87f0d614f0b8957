// See smem_tiles.hpp. A tile is reused where its values are not needed any more: the thread that works on an element of
// a row reads it before it overwrites it.
#include "codegen/cuda/staged/smem_tiles.hpp"
#include "codegen/text/kernel.hpp"

#include <algorithm>
#include <bit>

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t loose_group = 4;  // elements at once of rows that are not whole chunks
constexpr std::uint32_t costly = 8;       // operations worth a place in shared memory: a transcendental function

}  // namespace

bool moves_on(const operand_class& o, int axis) {
    return o.strides[static_cast<std::size_t>(axis)] != stride_class::broadcast;
}
bool moves_on(const node& n, int axis) { return (n.axes & axis_bit(axis)) != 0; }

bool lie_side_by_side(const row_program& rows) {
    return !rows.kept_axes.empty() && rows.inner() < rows.kept_axes.back();
}

smem_tiles::smem_tiles(const key& k, const graph& g, const row_program& rows)
    : phases_(rows.phases.size() + 1), in_runs_(lie_side_by_side(rows)) {
    find_uses(g, rows);
    const std::uint64_t everywhere = rows.kept_bits() | rows.row_bits();
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        if (n.kind != node_kind::operand || (n.axes & everywhere) != everywhere || uses_[i] == 0) continue;
        const operand_head& head = k.operands[n.index].head;
        if (head.kind == operand_kind::array) hold(i, n.type, head.vector && !in_runs_, 0);
    }
    find_groups(k, g, rows);
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const dtype type = g.nodes[i].type;
        if (made_[i] != 0) hold(i, type, !in_runs_ && whole_ * size_of(type) % 16 == 0, made_[i]);
    }
    for (std::size_t o = 0; o < k.outputs.size(); ++o)
        if (moves_on(k.outputs[o], rows.inner())) put_output(static_cast<int>(o), k.outputs[o].head);
}

bool smem_tiles::writes_rows() const {
    return std::any_of(tiles_.begin(), tiles_.end(), [](const smem_tile& s) { return s.output >= 0; });
}

std::uint32_t smem_tiles::bytes_of_element() const {
    std::uint32_t bytes = 0;
    for (const smem_tile& t : tiles_) bytes += t.bytes();
    return bytes;
}

/// Visits users before their arguments. A costly value along the row that a later phase needs again is computed in its
/// first phase and kept.
void smem_tiles::find_uses(const graph& g, const row_program& rows) {
    uses_.assign(g.nodes.size(), 0);
    made_.assign(g.nodes.size(), 0);
    for (std::size_t phase = 0; phase < phases_; ++phase)
        for (const node_id n : rows.computed_nodes(g, phase)) uses_[n] |= std::uint64_t{1} << phase;
    for (node_id i = static_cast<node_id>(g.nodes.size()); i-- > 0;) {
        const node& n = g.nodes[i];
        const std::uint64_t first = uses_[i] & -uses_[i], later = uses_[i] & ~first;
        if (n.kind == node_kind::reduce) continue;
        const bool cached = later != 0 && moves_on(n, rows.inner()) && cost_of(g, {i}) >= costly;
        if (cached) made_[i] = static_cast<std::uint8_t>(std::countr_zero(first) + 1);
        for (int a = 0; a < n.arity; ++a) uses_[n.arguments[a]] |= cached ? first : uses_[i];
    }
}

/// Where one array's rows are whole chunks, the length is a multiple of a chunk's elements for all arrays.
void smem_tiles::find_groups(const key& k, const graph& g, const row_program& rows) {
    std::uint32_t widest = 1;
    const auto consider = [&](dtype type, bool chunked) {
        const auto bytes = static_cast<std::uint32_t>(size_of(type));
        widest = std::max(widest, bytes);
        if (chunked) whole_ = std::max(whole_, 16 / bytes);
    };
    for (const smem_tile& s : tiles_) consider(s.type, s.chunked);
    for (const operand_class& o : k.outputs)
        if (moves_on(o, rows.inner())) consider(o.head.type, o.head.vector && !in_runs_);
    for (node_id i = 0; i < g.nodes.size(); ++i)  // kept in a tile of their own type
        if (made_[i] != 0) consider(g.nodes[i].type, false);
    group_ = whole_groups() ? std::min(whole_, 16 / widest) : loose_group;
}

/// Holds a value from this phase to its last use, in a free tile of the same form if there is one.
void smem_tiles::hold(node_id n, dtype type, bool chunked, std::size_t from) {
    const auto begin = static_cast<std::ptrdiff_t>(from);
    const auto end = static_cast<std::ptrdiff_t>(std::bit_width(uses_[n]));
    auto at = std::find_if(tiles_.begin(), tiles_.end(), [&](const smem_tile& s) {
        return from != 0 && s.type == type && s.chunked == chunked &&
               std::all_of(s.holds.begin() + begin, s.holds.end(), [](node_id held) { return held == no_node; });
    });
    smem_tile& s = at != tiles_.end() ? *at : add(type, chunked);
    std::fill(s.holds.begin() + begin, s.holds.begin() + end, n);
}

void smem_tiles::put_output(int output, const operand_head& head) {
    const bool chunked = head.vector && !in_runs_;
    const auto at = std::find_if(tiles_.begin(), tiles_.end(), [&](const smem_tile& s) {
        return s.output < 0 && s.type == head.type && s.chunked == chunked;
    });
    smem_tile& s = at != tiles_.end() ? *at : add(head.type, chunked);
    s.output = output;
}

smem_tile& smem_tiles::add(dtype type, bool chunked) {
    return tiles_.emplace_back(smem_tile{type, chunked, std::vector<node_id>(phases_, no_node)});
}

}  // namespace ingot::codegen
