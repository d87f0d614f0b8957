// A slab is used again where what it held is not wanted any more: whoever works on an element of a row reads it before
// anything is written in its place.
#include "codegen/row_slabs.hpp"

#include <algorithm>
#include <bit>

#include "codegen/short_rows.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t wanted_bytes = 16 * 1024, most_bytes = 48 * 1024;  // of shared memory
constexpr std::uint32_t wanted_bytes_of_runs = 20 * 1024, most_bytes_of_runs = 34 * 1024;
constexpr std::uint32_t loose_group = 4;  // elements at once of rows that are not whole chunks
constexpr std::uint32_t dear = 8;         // operations worth a place in shared memory: a transcendental function

/// Whether registers hold rows better, the longest of those that could be staged: words that begin anywhere, where
/// nothing is written along them.
bool are_held(const row_slabs& slabs, const row_program& rows) {
    return rows.bucket == bucket::longest_short && !lie_side_by_side(rows) && rows.phases.size() > 1 &&
           !slabs.writes_rows() && !slabs.whole_groups() &&
           std::ranges::all_of(slabs.all(), [](const slab& s) { return s.bytes() == 4; });
}

}  // namespace

bool moves_on(const operand_class& o, int axis) {
    return o.strides[static_cast<std::size_t>(axis)] != stride_class::broadcast;
}
bool moves_on(const node& n, int axis) { return (n.axes & axis_bit(axis)) != 0; }

bool lie_side_by_side(const row_program& rows) { return !rows.kept.empty() && rows.inner() < rows.kept.back(); }

row_slabs::row_slabs(const key& k, const graph& g, const row_program& rows)
    : phases_(rows.phases.size() + 1), in_runs_(lie_side_by_side(rows)) {
    find_uses(g, rows);
    const std::uint64_t everywhere = rows.kept_bits() | rows.row_bits();
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        if (n.kind != node_kind::operand || (n.axes & everywhere) != everywhere || uses_[i] == 0) continue;
        const operand_head& head = k.operands[n.index].head;
        if (head.kind == operand_kind::array) hold(i, n.type, head.vector && !in_runs_, 0);
    }
    find_groups(k, rows);
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const dtype type = g.nodes[i].type;
        if (made_[i] != 0) hold(i, type, !in_runs_ && whole_ * size_of(type) % 16 == 0, made_[i]);
    }
    for (std::size_t o = 0; o < k.outputs.size(); ++o)
        if (moves_on(k.outputs[o], rows.inner())) give_out(static_cast<int>(o), k.outputs[o].head);
}

bool row_slabs::writes_rows() const {
    return std::any_of(slabs_.begin(), slabs_.end(), [](const slab& s) { return s.output >= 0; });
}

/// From the last node to the first, each knows its users before it is met. What is dear, moves along the row and is
/// wanted by a later phase again is made in the first and kept.
void row_slabs::find_uses(const graph& g, const row_program& rows) {
    uses_.assign(g.nodes.size(), 0);
    made_.assign(g.nodes.size(), 0);
    for (std::size_t phase = 0; phase < phases_; ++phase)
        for (const node_id n : rows.wanted(g, phase)) uses_[n] |= std::uint64_t{1} << phase;
    for (node_id i = static_cast<node_id>(g.nodes.size()); i-- > 0;) {
        const node& n = g.nodes[i];
        const std::uint64_t first = uses_[i] & -uses_[i], later = uses_[i] & ~first;
        if (n.kind == node_kind::reduce) continue;
        const bool kept = later != 0 && moves_on(n, rows.inner()) && cost_of(g, {i}) >= dear;
        if (kept) made_[i] = static_cast<std::uint8_t>(std::countr_zero(first) + 1);
        for (int a = 0; a < n.arity; ++a) uses_[n.arguments[a]] |= kept ? first : uses_[i];
    }
}

/// Where one array's rows are whole chunks the length is a multiple of what a chunk holds, for all.
void row_slabs::find_groups(const key& k, const row_program& rows) {
    std::uint32_t widest = 1;
    const auto consider = [&](dtype type, bool chunked) {
        const auto bytes = static_cast<std::uint32_t>(size_of(type));
        widest = std::max(widest, bytes);
        if (chunked) whole_ = std::max(whole_, 16 / bytes);
    };
    for (const slab& s : slabs_) consider(s.type, s.chunked);
    for (const operand_class& o : k.outputs)
        if (moves_on(o, rows.inner())) consider(o.head.type, o.head.vector && !in_runs_);
    group_ = whole_groups() ? std::min(whole_, 16 / widest) : loose_group;
}

/// From this phase to its last use; where something of the same form is not wanted any more in its place.
void row_slabs::hold(node_id n, dtype type, bool chunked, std::size_t from) {
    const auto begin = static_cast<std::ptrdiff_t>(from);
    const auto end = static_cast<std::ptrdiff_t>(std::bit_width(uses_[n]));
    auto at = std::find_if(slabs_.begin(), slabs_.end(), [&](const slab& s) {
        return from != 0 && s.type == type && s.chunked == chunked &&
               std::all_of(s.holds.begin() + begin, s.holds.end(), [](node_id held) { return held == no_node; });
    });
    slab& s = at != slabs_.end() ? *at : add(type, chunked);
    std::fill(s.holds.begin() + begin, s.holds.begin() + end, n);
}

void row_slabs::give_out(int output, const operand_head& head) {
    const bool chunked = head.vector && !in_runs_;
    const auto at = std::find_if(slabs_.begin(), slabs_.end(), [&](const slab& s) {
        return s.output < 0 && s.type == head.type && s.chunked == chunked;
    });
    slab& s = at != slabs_.end() ? *at : add(head.type, chunked);
    s.output = output;
}

slab& row_slabs::add(dtype type, bool chunked) {
    return slabs_.emplace_back(slab{type, chunked, std::vector<node_id>(phases_, no_node)});
}

slab_room::slab_room(const row_slabs& slabs, const key& k, const row_program& rows) {
    const bool runs = lie_side_by_side(rows);
    std::uint32_t smallest = 8, each = 0;
    for (const slab& s : slabs.all()) each += s.bytes(), smallest = std::min(smallest, s.bytes());
    const std::uint32_t longest = rows.most(), chunk = 16;
    threads = runs || each < 8 ? 128 : 64;
    elements = std::max(wanted_bytes / std::max(each, 1u), chunk / smallest * longest);
    capacity = (elements + chunk - 1) / chunk * chunk;
    shared = runs || elements / longest < threads;
    if (runs) {
        // One run at least, the chunk in which the first begins, and the chunks between runs that share banks.
        const std::uint32_t side = k.axes[static_cast<std::size_t>(rows.kept.back())].fine;
        elements = wanted_bytes_of_runs / std::max(each, 1u);
        capacity = (std::max(elements, side * longest) / 4 + 1) * 5 + 2 * chunk;
    }
    bytes = capacity * each;
}

bool can_stage_rows(const key& k, const graph& g, const row_program& rows) {
    if (rows.row.size() != 1 || rows.kept.empty()) return false;
    if (lie_side_by_side(rows)) {  // many of them need no staging
        constexpr std::uint32_t longest_run = 768;
        const std::uint32_t side = k.axes[static_cast<std::size_t>(rows.kept.back())].fine;
        if (side == 0 || rows.inner() + 1 != rows.kept.back() ||
            (rows.bucket > bucket::longest_short &&
             (rows.bucket >= bucket::very_long || side * rows.most() > longest_run)))
            return false;
    } else if (rows.bucket > bucket::longest_short) {
        return false;
    }
    const std::uint64_t kept = rows.kept_bits();
    bool reads_rows = false;
    for (const node& n : g.nodes) {
        if (n.kind == node_kind::scan || n.kind == node_kind::gather || n.kind == node_kind::unravel) return false;
        if (n.kind != node_kind::operand) continue;
        const operand_head& head = k.operands[n.index].head;
        if (head.kind == operand_kind::generator) return false;
        if (!moves_on(n, rows.inner())) continue;
        const bool every_row = (n.axes & kept) == kept;
        if (head.kind != operand_kind::array || (every_row ? !head.dense : (n.axes & kept) != 0)) return false;
        reads_rows = reads_rows || every_row;
    }
    for (const operand_class& o : k.outputs) {
        if (!moves_on(o, rows.inner())) continue;
        const bool every_row = std::all_of(rows.kept.begin(), rows.kept.end(), [&](int a) { return moves_on(o, a); });
        if (!every_row || !o.head.dense) return false;
    }
    if (!reads_rows) return false;
    const row_slabs slabs(k, g, rows);
    return !are_held(slabs, rows) &&
           slab_room(slabs, k, rows).bytes <= (lie_side_by_side(rows) ? most_bytes_of_runs : most_bytes);
}

}  // namespace ingot::codegen
