// See staged_rows.hpp.
#include "codegen/cuda/staged/staged_rows.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t chunk_bytes = 16;
constexpr std::uint32_t target_bytes = 16 * 1024, most_bytes = 48 * 1024;  // of shared memory
constexpr std::uint32_t target_bytes_of_runs = 20 * 1024, most_bytes_of_runs = 34 * 1024;
constexpr std::uint32_t resident_threads_in_step = 1024;  // enough to hide the latency of a double's operations

/// The number of rows that lie side by side.
std::uint32_t rows_of_run(const key& k, const row_program& rows) {
    return k.axes[static_cast<std::size_t>(rows.kept_axes.back())].extent;
}

/// Whether rows are short enough. Where many lie side by side, none need staging.
bool are_short(const key& k, const row_program& rows) {
    if (rows.row.size() != 1 || rows.kept_axes.empty()) return false;
    if (!lie_side_by_side(rows)) return rows.length_class <= length_class::longest_short;
    constexpr std::uint32_t longest_run = 768;
    const std::uint32_t side = rows_of_run(k, rows);
    if (side == 0 || rows.inner() + 1 != rows.kept_axes.back()) return false;
    return rows.length_class <= length_class::longest_short ||
           (rows.length_class < length_class::very_long && side * rows.most() <= longest_run);
}

/// Whether the operands along the rows are arrays that are dense where they move from row to row, or the same in every
/// row, and at least one moves from row to row.
bool reads_whole_rows(const key& k, const graph& g, const row_program& rows) {
    const std::uint64_t kept_axes = rows.kept_bits();
    bool reads_rows = false;
    for (const node& n : g.nodes) {
        if (n.kind == node_kind::scan || n.kind == node_kind::gather || n.kind == node_kind::unravel ||
            n.kind == node_kind::shifted)
            return false;
        if (n.kind != node_kind::operand) continue;
        const operand_head& head = k.operands[n.index].head;
        if (head.kind == operand_kind::generator) return false;
        if (!moves_on(n, rows.inner())) continue;
        const bool every_row = (n.axes & kept_axes) == kept_axes;
        if (head.kind != operand_kind::array || (every_row ? !head.dense : (n.axes & kept_axes) != 0)) return false;
        reads_rows = reads_rows || every_row;
    }
    return reads_rows;
}

bool writes_whole_rows(const key& k, const row_program& rows) {
    return std::ranges::all_of(k.outputs, [&](const operand_class& o) {
        return !moves_on(o, rows.inner()) ||
               (o.head.dense && std::ranges::all_of(rows.kept_axes, [&](int a) { return moves_on(o, a); }));
    });
}

/// Whether registers hold the rows better: the longest rows that could be staged, of words that begin anywhere, with no
/// output along them.
bool are_better_held(const staged_rows& s, const row_program& rows) {
    return rows.length_class == length_class::longest_short && !s.in_runs && rows.phases.size() > 1 &&
           !s.tiles.writes_rows() && !s.tiles.whole_groups() &&
           std::ranges::all_of(s.tiles.all(), [](const smem_tile& t) { return t.bytes() == 4; });
}

}  // namespace

staged_rows::staged_rows(const key& k, const graph& g, const row_program& rows)
    : tiles(k, g, rows), in_runs(lie_side_by_side(rows)), folds_once(rows.phases.size() <= 1 && !tiles.writes_rows()) {
    std::uint32_t smallest = 8;
    for (const smem_tile& t : tiles.all()) smallest = std::min(smallest, t.bytes());
    const std::uint32_t longest = rows.most(), each = std::max(tiles.bytes_of_element(), 1u);
    threads = in_runs || each < 8 ? 128 : 64;
    elements = std::max(target_bytes / each, chunk_bytes / smallest * longest);
    capacity = (elements + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
    shares_rows = in_runs || elements / longest < threads;
    if (in_runs) {
        // At least one run, the chunk in which the first begins, and the chunks between runs that would share banks.
        elements = target_bytes_of_runs / each;
        capacity = (std::max(elements, rows_of_run(k, rows) * longest) / 4 + 1) * 5 + 2 * chunk_bytes;
    }
    in_step = in_runs && std::ranges::any_of(tiles.all(), [](const smem_tile& t) { return t.bytes() == 8; });
    resident_blocks = in_step ? resident_threads_in_step / threads : 0;
}

std::optional<staged_rows> choose_staged_rows(const key& k, const graph& g, const row_program& rows) {
    if (!are_short(k, rows) || !reads_whole_rows(k, g, rows) || !writes_whole_rows(k, rows)) return {};
    staged_rows s(k, g, rows);
    if (are_better_held(s, rows) || s.shared_bytes() > (s.in_runs ? most_bytes_of_runs : most_bytes)) return {};
    return s;
}

kernel_shape staged_rows::shape() const {
    kernel_shape s;
    s.name = in_runs ? "runs of short rows" : "short rows";
    s.threads = threads;
    s.each = tiles.group();
    s.source = element_source::staged;
    s.tile = elements;
    if (shares_rows) s.exchange = thread_exchange::lanes;
    s.resident_blocks = resident_blocks;
    return s;
}

std::string staged_rows::reason() const {
    return in_runs ? "runs of memory staged in shared memory, each of some rows: read as they lie, folded across"
           : shares_rows
               ? "rows staged in shared memory, as many threads a row as a block has to spare: read as they lie"
               : "rows staged in shared memory, a thread a row: read as they lie, folded without an exchange";
}

}  // namespace ingot::codegen
