// See host/choice.hpp.
#include "codegen/host/choice.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

bool has_short_inner(const kernel_builder& b, int axis) {
    return (b.key.axes[static_cast<std::size_t>(axis)].flags & axis_flags::short_inner) != 0;
}

/// Whether the elements that one strip of neighbouring rows reads are contiguous in memory.
bool are_columns(const kernel_builder& b, int innermost_kept, const folded_space& s) {
    return reduces_strided_axis(b.key, b.graph, s.bits(), innermost_kept);
}

/// Across, where rows (one for each point of the kept axes) are short, or neighbouring rows lie closer than a row's
/// elements; packed, where a row has few neighbours along one axis.
direction choose_direction(const kernel_builder& b, const std::vector<int>& kept_axes,
                           const std::vector<folded_space>& spaces) {
    if (kept_axes.empty()) return direction::along;
    const int last = kept_axes.back();
    const bool few = has_short_inner(b, last);
    const bool across = std::ranges::all_of(
        spaces, [&](const folded_space& s) { return s.length_class <= 1 || (!few && are_columns(b, last, s)); });
    if (!across) return direction::along;
    const bool columns = std::ranges::all_of(spaces, [&](const folded_space& s) { return are_columns(b, last, s); });
    const bool may_be_few = few || (last != b.rank - 1 && !columns);
    return kept_axes.size() > 1 && may_be_few ? direction::packed : direction::across;
}

/// Elements of a strip along rows of this length class.
constexpr std::uint32_t strip_along(std::uint8_t length) { return length <= 2 ? 64 : length == 3 ? 128 : 256; }

/// For columns some pages of each row of them; for short rows as many as a cache holds.
std::uint32_t strip_across(const kernel_builder& b, const folding& f, direction way) {
    const auto columns = [&](const folded_space& s) { return are_columns(b, b.rank - 1, s); };
    if (way == direction::packed || !std::ranges::all_of(f.spaces, columns)) return 256;
    return has_exponentials(b.graph) ? 512 : 2048;  // these keep strips beside lanes
}

/// Chooses the values to keep: computed in one phase, needed by a later one, costly, and with room in a cache.
void choose_cached(const kernel_builder& b, const row_program& r, row_strips& c) {
    constexpr std::uint32_t cost_worth_keeping = 6;
    constexpr std::uint32_t most_bytes = 1u << 18;  // a part of a second-level cache
    constexpr std::size_t never = ~std::size_t{0};
    std::vector<std::size_t> first(b.graph.nodes.size(), never);
    std::uint64_t bytes = 0;
    for (std::size_t phase = 0; phase <= r.phases.size(); ++phase) {
        std::vector<node_id> open = r.computed_nodes(b.graph, phase);
        while (!open.empty()) {
            const node_id i = open.back();
            open.pop_back();
            const node& n = b.graph.nodes[i];
            const bool folds = n.kind == node_kind::reduce || n.kind == node_kind::scan;
            if (first[i] == phase || folds || (n.axes & r.row_bits()) == 0) continue;
            const bool known = first[i] < phase;
            if (std::ranges::find(c.cached, i, &row_strips::cached_value::node) != c.cached.end()) continue;
            if (known && n.kind != node_kind::operand && cost_of(b.graph, {i}) >= cost_worth_keeping) {
                bytes += c.longest * (c.across() ? c.strip : 1) * size_of(n.type);
                if (bytes > most_bytes) return;
                c.cached.push_back({i, first[i]});
                continue;
            }
            if (!known) first[i] = phase;
            open.insert(open.end(), n.arguments, n.arguments + n.arity);
        }
    }
}

/// Rows of several length classes have arrays of one size, so that one compilation serves them.
std::uint32_t room_for_rows(std::uint32_t longest) {
    for (const std::uint32_t room : {1024u, 16384u})
        if (longest > 128 && longest <= room) return room;
    return longest;
}

/// The loop axes along which an output moves.
std::uint64_t axes_of(const kernel_builder& b, const array_argument& output) {
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < output.at->strides.size(); ++a)
        if (output.at->strides[a] != stride_class::broadcast) axes |= axis_bit(b.graph.loop_axis[a]);
    return axes;
}

}  // namespace

std::string strips_choice::rows() const { return across() ? std::to_string(strip) + " neighbouring rows" : "a row"; }

fold_strips choose_fold_strips(const kernel_builder& b, const folding& f) {
    constexpr std::uint32_t cost_worth_staging = 6;  // of values that vectors compute and single elements do not
    std::vector<int> kept_axes;
    for (int a = 0; a < b.rank; ++a) kept_axes.push_back(a);
    const folded_space& longest = *std::ranges::max_element(f.spaces, {}, &folded_space::length_class);
    fold_strips c;
    c.way = choose_direction(b, kept_axes, f.spaces);
    c.strip = c.across() ? strip_across(b, f, c.way) : strip_along(longest.length_class);
    const reach r = reach_of(c.way);
    if (longest.length_class >= r.pieces_from) c.pieces = ceil_divide(points_of(longest.bits()), r.piece);
    c.stages =
        f.spaces.size() == 1 && longest.outputs.empty() && cost_of(b.graph, longest.values) >= cost_worth_staging;
    return c;
}

std::string_view fold_strips::pattern() const {
    return in_pieces() ? "split reduction" : across() ? "column reduction" : "row reduction";
}

std::string fold_strips::reason() const {
    if (!in_pieces()) return "a block " + rows() + ": rows are short, or many";
    return "pieces of " + rows() + ", " + std::to_string(reach_of(way).piece) +
           " elements each: rows are long enough for several threads, and their number decides no order";
}

std::optional<row_strips> choose_row_strips(const kernel_builder& b, const row_program& r) {
    constexpr std::uint8_t longest_along = 13, longest_alone = 11, longest_across = 9;  // length classes
    constexpr std::uint8_t longest_of_wide_strip = 6, longest_of_scanned_strip = 2;     // columns of up to 1024, 64
    constexpr std::uint64_t most_prefix_bytes = 1u << 19;                               // of all of a block's rows
    folded_space row;
    row.axes = r.row;
    row.length_class = r.length_class;
    row_strips c;
    c.way = choose_direction(b, r.kept_axes, {row});
    const std::uint8_t longest = c.across() ? longest_across : r.kept_axes.empty() ? longest_alone : longest_along;
    if (r.length_class > longest) return std::nullopt;
    for (std::size_t k = 0; k < b.outputs.size(); ++k) {
        const std::uint64_t axes = axes_of(b, b.outputs[k]);
        // Otherwise rows would overwrite each other's results.
        if ((r.kept_bits() & ~axes) != 0 || (b.graph.nodes[b.graph.roots[k]].axes & ~axes) != 0) return std::nullopt;
        ((axes & r.row_bits()) != 0 ? c.along_rows : c.once_a_row).push_back(k);
    }
    const std::vector<node_id> scans = r.scans(b.graph);
    const bool wide = r.length_class <= (scans.empty() ? longest_of_wide_strip : longest_of_scanned_strip);
    c.strip = c.across() ? wide ? 256 : 64 : strip_along(r.length_class);
    c.longest = std::max(16u << r.length_class, 64u);
    c.room = c.across() ? c.longest : room_for_rows(c.longest);
    std::uint64_t prefix_bytes = 0;
    for (const node_id i : scans)
        prefix_bytes += c.longest * (c.across() ? c.strip : 1) * size_of(b.graph.nodes[i].type);
    if (prefix_bytes > most_prefix_bytes) return std::nullopt;
    choose_cached(b, r, c);
    return c;
}

std::string row_strips::reason() const { return "a block " + rows() + ", in the cache from phase to phase"; }

scan_strips choose_scan_strips(const kernel_builder& b, const scanning& s) {
    constexpr std::uint8_t piece_class = 12;  // rows of more than a piece
    const int inner = b.rank - 1;
    scan_strips c;
    c.line = s.axis;
    if (inner != s.axis && !has_short_inner(b, inner)) {
        c.how = scan_strips::layout::columns;
        c.line = inner;
    } else if (s.length_class >= piece_class) {
        c.how = scan_strips::layout::pieces;
        c.piece = 16u << (piece_class - 1);
    }
    c.whole_vectors =
        (c.how == scan_strips::layout::columns || s.length_class > 1) && calls_inexact(b.graph, target::host);
    return c;
}

std::string_view scan_strips::pattern() const { return how == layout::columns ? "column scan" : "row scan"; }

std::string scan_strips::reason() const {
    switch (how) {
        case layout::rows:
            break;
        case layout::pieces:
            return "pieces of rows, " + std::to_string(piece) +
                   " elements each, in order: rows are long enough for several threads";
        case layout::columns:
            return "a strip of rows a block: memory runs across what is scanned";
    }
    return "a block a row: none waits for another";
}

}  // namespace ingot::codegen
