// See register_rows.hpp. The layouts to try follow from how rows lie in memory; the first that holds them is taken.
#include "codegen/cuda/row/register_rows.hpp"

#include <algorithm>

#include "codegen/cuda/kernel.hpp"
#include "codegen/cuda/row/held_values.hpp"
#include "codegen/cuda/row/layouts.hpp"
#include "codegen/text/fold.hpp"
#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// Operations of all of a thread's elements, which the compiler handles in a second.
constexpr std::uint32_t row_budget = 4 * statement_budget;

stride_class along(const operand_class& at, const graph& g, int loop) {
    for (std::size_t a = 0; a < at.strides.size(); ++a)
        if (g.loop_axis[a] == loop && at.strides[a] != stride_class::broadcast) return at.strides[a];
    return stride_class::broadcast;
}

/// The operands and outputs that move along the rows.
std::vector<const operand_class*> streams(const key& k, const graph& g, const row_program& r) {
    std::vector<const operand_class*> found;
    for (const node& n : g.nodes)
        if (n.kind == node_kind::operand && (n.axes & r.row_bits()) != 0) found.push_back(&k.operands[n.index]);
    for (const operand_class& z : k.outputs)
        if (along(z, g, r.inner()) != stride_class::broadcast) found.push_back(&z);
    return found;
}

/// Whether the operands along the rows are arrays of words that a thread can copy into shared memory.
bool reads_words(const key& k, const graph& g, const row_program& r) {
    return std::ranges::all_of(g.nodes, [&](const node& n) {
        if (n.kind != node_kind::operand || (n.axes & r.row_bits()) == 0) return true;
        const operand_class& at = k.operands[n.index];
        const std::size_t bytes = size_of(at.head.type);
        return at.head.kind == operand_kind::array && (bytes == 4 || bytes == 8);
    });
}

bool writes_rows(const key& k, const graph& g, const row_program& r) {
    return std::ranges::any_of(
        k.outputs, [&](const operand_class& z) { return along(z, g, r.inner()) != stride_class::broadcast; });
}

rows_in_memory find_rows_in_memory(const key& k, const graph& g, const row_program& r, std::uint32_t bytes) {
    const int innermost_kept = r.kept_axes.back();
    const std::uint16_t columns = k.axes[static_cast<std::size_t>(innermost_kept)].flags;
    rows_in_memory at;
    at.few = (columns & axis_flags::few_columns) != 0 || (bytes <= 4 && (columns & axis_flags::several_columns) != 0);
    at.sectors = (columns & axis_flags::whole_sectors) != 0 && reads_words(k, g, r);
    for (const operand_class* array : streams(k, g, r)) {
        if (along(*array, g, innermost_kept) == stride_class::broadcast) continue;
        at.widest = std::max(at.widest, static_cast<std::uint32_t>(size_of(array->head.type)));
        at.aligned = at.aligned && array->head.vector;
    }
    return at;
}

/// A chunk is 16 bytes of the widest array. Rows that begin anywhere are shifted: held from the last sector of 32 bytes
/// before them, of which a part costs as much; doubles, of which a thread has few, from the last vector.
void choose_vectors(register_rows& s, const key& k, const graph& g, const row_program& r) {
    std::uint32_t widest = 0;
    bool anywhere = false;
    for (const operand_class* at : streams(k, g, r)) {
        const bool drawn = at->head.kind == operand_kind::generator;
        if (drawn && (r.row.size() != 1 || along(*at, g, r.inner()) != stride_class::unit)) return;
        if (!drawn && !is_packed(*at, g, r)) continue;
        widest = std::max(widest, static_cast<std::uint32_t>(size_of(at->head.type)));
        anywhere = anywhere || (!drawn && !at->head.vector);
    }
    if (widest == 0) return;
    s.each = 16 / widest;
    s.shifted = anywhere && s.each > 1;
    s.sector = s.each > 2 ? 2 * s.each : s.each;
}

/// Whether a run's rows have at least half as many elements as the smallest block of runs has places.
bool fill_block(std::uint32_t columns, const row_program& r) {
    constexpr std::uint32_t least_elements = 4 * 128;
    return 2 * columns * r.most() >= least_elements;
}

/// Chooses the layout, with shared memory for elements that registers do not hold.
bool choose_layout(register_rows& s, const key& k, const graph& g, const row_program& r, const row_limits& limits,
                   bool defers) {
    if (!r.kept_axes.empty() && reduces_strided_axis(k, g, r.row_bits(), r.kept_axes.back())) {
        const std::uint8_t columns = k.axes[static_cast<std::size_t>(r.kept_axes.back())].extent;
        register_rows runs = s;
        if (!s.scans && fill_block(columns, r) && share_runs(runs, limits, columns, reads_words(k, g, r))) {
            s = std::move(runs);
            return true;
        }
        return share_across(s, r, limits, find_rows_in_memory(k, g, r, limits.bytes), defers);
    }
    register_rows vectors = s;
    choose_vectors(vectors, k, g, r);
    if (share_along(vectors, limits, writes_rows(k, g, r))) {
        s = std::move(vectors);
        return true;
    }
    return !s.scans && share_with_memory(s, limits);
}

/// Bytes of shared memory for the folds of lanes whose rows lie beside each other, or for the prefixes of warps.
std::uint32_t exchanged_bytes(const register_rows& s, const graph& g, const row_program& r) {
    std::uint32_t bytes = 0;
    for (const std::vector<node_id>& phase : r.phases)
        for (const node_id fold : phase) {
            const std::uint32_t own = fold_traits(g, fold).bytes();
            if (s.has_columns()) bytes += own * (s.slots_of_lanes() + s.slots_of_blocks());
            if (g.nodes[fold].kind == node_kind::scan) bytes += own * s.chunks * (s.lanes / 32);
        }
    return bytes;
}

std::optional<register_rows> hold(const key& k, const graph& g, const row_program& r, const held_values& values) {
    constexpr std::uint32_t most_exchanged = 47 * 1024;
    constexpr std::uint32_t most_deferred = 200 * 1024;  // of a multiprocessor that has large clusters
    register_rows s;
    s.scans = !r.scans(g).empty();
    const row_limits limits{r.most(), std::max(4u, values.bytes()), row_budget / std::max(1u, values.cost()),
                            k.header.architecture, s.scans ? 1 : largest_cluster_of(k.header.architecture)};
    if (limits.bytes > 4) s.shared_chunks_at_once /= 2;  // more would not fit the registers beside the held values
    if (!choose_layout(s, k, g, r, limits, values.defers_loads()) ||
        s.rows_per_thread * s.elements() > limits.elements || exchanged_bytes(s, g, r) > most_exchanged)
        return {};
    s.held = values.choose(s.shared_chunks > 0);
    if (!values.defers_loads()) return s;
    const bool room =
        s.rows_per_thread == 1 && s.shared_chunks == 0 && s.resident_blocks * s.shared_bytes() <= most_deferred;
    return room ? std::optional(std::move(s)) : std::nullopt;
}

/// Whether rows along memory are quicker where registers hold less of them: blocks that share a row wait for each
/// other, longer the more there are, and blocks of many registers have few loads in flight while they write.
bool gains_by_less(const register_rows& s, bool writes) {
    constexpr std::uint32_t long_row = 256;  // lanes
    return !s.is_across() && s.lanes >= long_row && (s.cluster > 1 || (s.resident_blocks > 1 && writes));
}

std::optional<register_rows> hold_or_defer(const key& k, const graph& g, const row_program& r) {
    held_values values(g, r);
    auto all = hold(k, g, r, values);
    if (all && !gains_by_less(*all, writes_rows(k, g, r))) return all;
    if (!has_large_clusters(k.header.architecture) || !values.defer_loads(k)) return all;
    auto less = hold(k, g, r, values);
    return less ? less : all;
}

/// Whether threads find the place of a row before they read it.
bool may_gather(const register_rows& s) {
    return !s.is_across() && !s.has_columns() && s.rows_per_thread == 1 && s.chunks_at_once <= 1;
}

row_loads choose_loads(const register_rows& s, const key& k, const graph& g, const row_program& r) {
    constexpr std::uint32_t few_chunks = 8;
    row_loads loads;
    loads.read_around = s.each > 1 && r.kept_axes.size() == 1 && r.length_class > 1 && r.gathered == 0;
    loads.stream_elements = s.each == 1 && s.chunks <= few_chunks;
    // A third of the clusters that run at once: early enough for memory, and few enough rows for the cache to keep.
    const auto packed = [&](node_id i) { return is_packed(k.operands[g.nodes[i].index], g, r); };
    if (s.cluster > 1 && r.gathered == 0 && !s.is_across() && !r.kept_axes.empty() &&
        std::ranges::any_of(s.held.streams, packed))
        loads.prefetch_share = 3;
    return loads;
}

}  // namespace

bool is_packed(const operand_class& at, const graph& g, const row_program& r) {
    return r.row.size() == 1 && at.head.kind == operand_kind::array && along(at, g, r.inner()) == stride_class::unit;
}

std::optional<register_rows> choose_register_rows(const key& k, const graph& g, const row_program& r) {
    const auto is_shifted_sum = [](const node& n) { return n.kind == node_kind::shifted; };
    if (r.length_class >= length_class::looped || std::ranges::any_of(g.nodes, is_shifted_sum)) return {};
    std::optional<register_rows> s = hold_or_defer(k, g, r);
    if (!s || (r.gathered != 0 && !may_gather(*s))) return {};
    if (!s->fitted()) s->min_chunks = r.fewest() / (s->lanes * s->each);
    s->loads = choose_loads(*s, k, g, r);
    for (const std::vector<node_id>& phase : r.phases)
        s->sends_words.push_back(
            std::ranges::all_of(phase, [&](node_id fold) { return fold_traits(g, fold).bytes() % 4 == 0; }));
    return s;
}

kernel_shape register_rows::shape() const {
    kernel_shape s;
    s.name = std::visit([](const auto& l) { return l.name; }, layout);
    s.threads = threads;
    s.lanes = lanes;
    s.each = each;
    s.chunks = chunks * rows_per_thread;
    if (cluster > 1)
        s.exchange = thread_exchange::cluster;
    else if (has_columns() || lanes > 32)
        s.exchange = thread_exchange::block;
    else if (lanes > 1)
        s.exchange = thread_exchange::lanes;
    s.read_ahead = loads.prefetch_share > 0 ? 1 : 0;
    s.resident_blocks = resident_blocks > 1 ? resident_blocks : 0;
    s.cluster = cluster;
    return s;
}

std::string register_rows::reason() const {
    std::string text = std::to_string(elements()) + " elements a lane in registers, ";
    if (scans) text += "scanned there, ";
    if (shared_chunks > 0) text += "as many as " + std::to_string(shared_chunks) + " in shared memory, ";
    if (!held.deferred_loads.empty()) text += "arrays that a later phase alone reads wait in shared memory, ";
    text += std::visit([&](const auto& l) { return l.holders(*this); }, layout);
    if (cluster > 1) return text + ": one block's threads do not hold it, and it is read once";
    if (is_across()) return text + ": memory runs across the rows, which are read once";
    return text + (rows_per_block > 1 ? ": a lane holds some vectors of it, and it is read once" : ": it is read once");
}

}  // namespace ingot::codegen
