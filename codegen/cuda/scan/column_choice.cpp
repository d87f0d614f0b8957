// How scans across memory share columns in shared memory: whole columns where the longest of their class fit, else
// tiles that look back.
#include "codegen/cuda/scan/choice.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

using layout = scan_choice::layout;

std::uint64_t all_bits(const cuda_kernel& b) { return axis_range(0, b.rank); }

/// Whether every array that moves across the columns is contiguous there and aligned.
bool columns_have_vectors(const cuda_kernel& b) {
    if (!b.generators.empty()) return false;
    const auto fits = [&](const array_argument& at) {
        const stride_class along = inner_class(at, b.rank - 1);
        return along == stride_class::broadcast || (along == stride_class::unit && at.at->head.vector);
    };
    return std::ranges::all_of(b.inputs, fits) && std::ranges::all_of(b.outputs, fits);
}

/// Shared memory of a multiprocessor, for all its blocks.
std::uint32_t multiprocessor_bytes(const cuda_kernel& b) {
    const std::uint32_t a = b.key.header.architecture;
    const std::uint32_t kibibytes = a < 80 ? 64 : a == 80 || a == 87 ? 164 : a >= 90 && a < 120 ? 228 : 100;
    return kibibytes << 10;
}

constexpr std::uint32_t most_chunks = 65;  // rows of a thread

/// The part that both layouts share: a thread's columns, and the arrays that a block stages.
scan_choice begin_columns(const cuda_kernel& b, const scanning& s, layout how, std::uint32_t threads) {
    constexpr std::uint32_t most_columns = 4;  // of a thread
    const auto inner = static_cast<std::size_t>(b.rank - 1);
    scan_choice c;
    c.how = how;
    c.threads = threads;
    c.narrow = (b.key.axes[inner].flags & axis_flags::short_inner) != 0;
    if (columns_have_vectors(b)) c.each = std::min(16 / widest_element(b, s), most_columns);
    while (c.each > 1 && c.each * element_cost(b, s) > statement_budget) c.each /= 2;
    for (const array_argument* in : inputs_along(b, s)) {
        const bool moves_across = inner_class(*in, b.rank - 1) != stride_class::broadcast;
        c.staged.push_back({in, bytes_of(*in), moves_across ? c.each : 1});
    }
    for (std::size_t o = 0; c.narrow && o < b.outputs.size(); ++o) {
        const scan_choice::staged_array result{&b.outputs[o], bytes_of(b.outputs[o]), c.each, true};
        auto free = std::ranges::find_if(c.staged, [&](const scan_choice::staged_array& a) {
            return !a.has_result && a.bytes == result.bytes && a.each == result.each;
        });
        if (free == c.staged.end()) free = c.staged.insert(free, result);
        free->has_result = true;
        c.results.push_back(static_cast<std::size_t>(free - c.staged.begin()));
    }
    return c;
}

/// Threads beside each other that together read a line of a row.
std::uint32_t most_across(const cuda_kernel& b, const scanning& s, const scan_choice& c) {
    constexpr std::uint32_t across_bytes = 128;
    return std::clamp(across_bytes / (c.each * widest_element(b, s)), 1u, c.threads);
}

std::uint32_t unit_bytes(const scan_choice& c) {
    std::uint32_t bytes = 0;
    for (const scan_choice::staged_array& a : c.staged) bytes += a.unit();
    return bytes;
}

/// Turns to unroll of a loop over a thread's chunks: a divisor of their number within the compiler's budget.
std::uint32_t unroll_of(std::uint32_t chunks, std::uint32_t operations) {
    constexpr std::uint32_t most = 17;
    const std::uint32_t fit = std::min(std::max(statement_budget / std::max(operations, 1u), 1u), most);
    std::uint32_t pieces = parts(chunks, fit);
    while (chunks % pieces != 0) ++pieces;
    return chunks / pieces;
}

void finish_columns(const cuda_kernel& b, const scanning& s, scan_choice& c) {
    c.shared_bytes = unit_bytes(c) * c.shared_chunks * c.threads;
    for (const scan_choice::staged_array& a : c.staged) c.shared_bytes += a.spare;
    c.copy_unroll = unroll_of(c.shared_chunks, c.each);
    c.fold_unroll = generators_along(b, s).empty() ? unroll_of(c.shared_chunks, c.each * element_cost(b, s)) : 1;
}

/// Whether an array lies in memory as the block has it in shared memory, all outer places behind each other.
bool is_run(const cuda_kernel& b, const scanning& s, const scan_choice& c, const array_argument& at,
            std::uint64_t moves) {
    return at.at->head.dense && moves == all_bits(b) && s.axis == b.rank - 2 && c.width % c.each == 0;
}

/// A block has as many outer places of narrow arrays as it has threads for, with gaps against bank conflicts between
/// them. Returns whether the longest columns of the class fit.
bool fit_narrow_columns(const cuda_kernel& b, const scanning& s, scan_choice& c, std::uint32_t longest,
                        std::uint32_t most_threads) {
    constexpr std::uint32_t few = 17, some = 33;            // chunks
    constexpr std::uint8_t middling = 5, long_columns = 7;  // classes
    c.width = b.key.axes[static_cast<std::size_t>(b.rank - 1)].extent;
    if (c.width == 0) return false;
    c.across = parts(c.width, c.each);
    c.shared_chunks = s.length_class < middling       ? std::min(few, longest)
                      : s.length_class < long_columns ? some
                                                      : most_chunks;
    const auto lanes = [&] { return c.across * parts(longest, c.shared_chunks); };
    while (c.threads < most_threads && lanes() > c.threads) c.threads *= 2;
    while (c.shared_chunks < most_chunks && lanes() > c.threads) c.shared_chunks += 16;
    if (lanes() > c.threads) return false;
    std::uint32_t least = 8;  // bytes of an element, so that a gap is whole vectors of all arrays
    for (const scan_choice::staged_array& a : c.staged) least = std::min(least, a.bytes);
    c.gap = std::max(16 / least, c.each);
    for (scan_choice::staged_array& a : c.staged) a.spare = 16 + c.height() * c.gap * a.bytes;
    const std::vector<const array_argument*> inputs = inputs_along(b, s);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        c.staged[i].is_run = is_run(b, s, c, *inputs[i], b.graph.nodes[inputs[i]->node].axes);
    c.stores_runs =
        std::ranges::all_of(b.outputs, [&](const array_argument& z) { return is_run(b, s, c, z, all_bits(b)); });
    return true;
}

bool fit_strips_of_columns(const cuda_kernel& b, const scanning& s, scan_choice& c, std::uint32_t longest,
                           std::uint32_t most_threads) {
    constexpr std::uint8_t shortest_class = 2, longest_class = 5;
    constexpr std::uint32_t some = 33;  // chunks
    if (s.length_class < shortest_class || s.length_class > longest_class) return false;
    const auto chunks = [&] {
        c.across = most_across(b, s, c);
        return parts(longest, c.height());
    };
    while (chunks() > some && c.threads < most_threads) c.threads *= 2;
    c.shared_chunks = chunks() | 1;  // odd: neighbours' rows then begin in different banks
    return true;
}

}  // namespace

std::optional<scan_choice> choose_whole_columns(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t least_threads = 256, most_threads = 512;
    constexpr std::uint32_t resident_threads = 1024;  // for which there are registers enough
    constexpr std::uint32_t most_bytes = 40 << 10;    // of the values that threads exchange
    scan_choice c = begin_columns(b, s, layout::whole_columns, least_threads);
    const std::uint32_t longest = s.longest();
    if (!(c.narrow ? fit_narrow_columns : fit_strips_of_columns)(b, s, c, longest, most_threads)) return std::nullopt;
    if (c.shared_chunks > most_chunks) return std::nullopt;
    finish_columns(b, s, c);
    const std::uint32_t exchange = c.each * c.threads * 8 * static_cast<std::uint32_t>(s.scans.size());
    c.resident_blocks =
        std::min(multiprocessor_bytes(b) / (c.shared_bytes + exchange + 1024), resident_threads / c.threads);
    if (c.resident_blocks == 0 || exchange > most_bytes) return std::nullopt;
    return c;
}

/// Large tiles are chosen: fewer of them are published and polled, and each may wait longer.
scan_choice choose_long_columns(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t most_threads = 512;  // of a block, where several share a multiprocessor
    constexpr std::uint8_t short_class = 7;      // up to 2048 rows: of large tiles too much would be idle
    constexpr std::uint32_t most_beside = 40 << 10, fewest_chunks = 3;
    scan_choice c = begin_columns(b, s, layout::long_columns, most_threads);
    c.resident_blocks = 2;
    if (s.length_class <= short_class && !c.narrow) c.threads = most_threads / 2, c.resident_blocks = 3;
    // Where all blocks share a few columns tiles wait for each other, and larger tiles wait less.
    if (has_few_rows(b) && s.length_class >= length_class::very_long && c.each > 1 && !c.narrow)
        c.threads = 2 * most_threads, c.resident_blocks = 1;
    const std::uint32_t narrow_across = parts(31, c.each);  // of the widest narrow array
    const auto tile_columns = [&] { return std::max(most_across(b, s, c), narrow_across) * c.each; };
    const auto beside = [&] {  // the part of a block's shared memory that is not the tile
        std::uint32_t bytes = 1024 + 8 * tile_columns();
        for (const node_id scan : s.scans)
            bytes += c.each * (c.threads + tile_columns()) * scan_bytes(b, scan) + 8 * tile_columns();
        return bytes;
    };
    while (c.threads > 32 && beside() > most_beside) c.threads /= 2;
    const std::uint32_t unit = std::max(unit_bytes(c), 4u);
    const auto most = [&] {
        const std::uint32_t memory = multiprocessor_bytes(b) / c.resident_blocks;
        return (memory - std::min(memory, beside())) / (c.threads * unit);
    };
    while (c.resident_blocks > 1 && most() < fewest_chunks) --c.resident_blocks;
    while (c.threads > 32 && most() < fewest_chunks) c.threads /= 2;
    // As many chunks as leave room for the blocks; odd, so that neighbours' rows begin in different banks.
    const std::uint32_t fit = std::clamp(most(), 1u, most_chunks);
    c.shared_chunks = fit - (fit + 1) % 2;
    c.across = c.narrow ? narrow_across : most_across(b, s, c);
    c.tile_columns = tile_columns();
    c.tile_rows = c.height() * c.shared_chunks;
    // For many short columns the slots of tiles that do not exist would take much memory.
    if (s.length_class < length_class::very_long)
        while (c.run > 1 && std::uint64_t{c.run / 2} * c.tile_rows >= longest_of(s.length_class)) c.run /= 2;
    c.columns_per_warp = std::clamp(c.tile_columns / (c.threads / 32), 1u, 2u);
    finish_columns(b, s, c);
    return c;
}

}  // namespace ingot::codegen
