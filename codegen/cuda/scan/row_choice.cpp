// How scans along memory share rows: lanes of one block where rows are enough to fill the GPU, else several blocks,
// whose tiles look back.
#include "codegen/cuda/scan/choice.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

using layout = scan_choice::layout;

/// Whether every array that moves along the row is contiguous and aligned.
bool rows_have_vectors(const cuda_kernel& b, const scanning& s) {
    const auto fits = [&](const array_argument& at) {
        if (!at.at->head.vector) return false;
        for (std::size_t a = 0; a < at.at->strides.size(); ++a)
            if (b.graph.loop_axis[a] == s.axis && at.at->strides[a] == stride_class::unit) return true;
        return false;
    };
    return std::ranges::all_of(inputs_along(b, s), [&](const array_argument* in) { return fits(*in); }) &&
           std::ranges::all_of(b.outputs, fits);
}

std::uint32_t elements_of_row_chunk(const cuda_kernel& b, const scanning& s) {
    std::uint32_t each = rows_have_vectors(b, s) ? 16 / widest_element(b, s) : 1;
    while (each > 1 && each * element_cost(b, s) > statement_budget) each /= 2;
    return each;
}

/// Bytes of a chunk of every input.
std::uint32_t bytes_of_chunks(const cuda_kernel& b, const scanning& s, std::uint32_t each) {
    std::uint32_t bytes = 0;
    for (const array_argument* in : inputs_along(b, s)) bytes += bytes_of(*in) * each;
    return bytes;
}

/// Chunks that a thread has in registers where none is staged; no more than hold `longest` elements.
std::uint32_t chunks_in_registers(const cuda_kernel& b, const scanning& s, std::uint32_t each, std::uint64_t longest) {
    constexpr std::uint32_t most_bytes = 128;  // of one array
    const std::size_t arrays = std::max(s.scans.size(), inputs_along(b, s).size());
    std::uint32_t widest = widest_element(b, s), chunks = 1;
    for (const node_id scan : s.scans) widest = std::max(widest, scan_bytes(b, scan));
    const std::uint32_t cost = element_cost(b, s);
    while (chunks * each < longest && 2 * chunks * each * widest * arrays <= most_bytes &&
           2 * chunks * each * cost <= statement_budget)
        chunks *= 2;
    return chunks;
}

/// The number of lanes at which each has a vector of the longest row, or four elements.
std::uint32_t lanes_of_short_rows(const scanning& s, std::uint32_t each) {
    constexpr std::uint32_t most_lanes = 8, elements_a_lane = 4;
    return std::clamp(s.longest() / std::max(each, elements_a_lane), 1u, most_lanes);
}

/// Whether a block reads and writes two neighbouring rows at once, a chunk of each a thread: it then reads longer runs
/// of memory.
bool can_pair(const cuda_kernel& b, const scanning& s, std::uint32_t each) {
    constexpr std::uint8_t pair_class = 8;  // of up to 4096 elements
    return s.length_class == pair_class && each == 4 && b.rank > 1 && s.scans.size() == 1 && b.generators.empty() &&
           !has_few_rows(b) && b.inputs.size() == 1 && inputs_along(b, s).size() == 1 && b.outputs.size() == 1;
}

}  // namespace

scan_choice choose_rows(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint8_t block_class = 7;  // a block has a row of more than 1024 elements
    scan_choice c;
    c.each = elements_of_row_chunk(b, s);
    if (can_pair(b, s, c.each)) {
        c.how = layout::row_pairs;
        c.threads = c.lanes = 1024;
        c.resident_blocks = 2;
        c.register_chunks = 2;
        c.tile = c.lanes * c.each;
        return c;
    }
    c.lanes = s.length_class == 1             ? lanes_of_short_rows(s, c.each)
              : s.length_class == 2           ? 16
              : s.length_class < block_class  ? 32
              : s.length_class == block_class ? 256
                                              : 512;
    c.threads = std::max(c.lanes, 256u);
    // As many chunks as make the longest row of the class one tile, where registers hold that.
    const std::uint32_t longest = s.longest();
    c.register_chunks = chunks_in_registers(b, s, c.each, parts(longest, c.lanes));
    c.tile = c.lanes * c.each * c.register_chunks;
    c.loops = c.tile < longest;
    return c;
}

/// Stages costly values of scans, at most `most` chunks a thread: their text stands once, in a loop.
void stage_values(const cuda_kernel& b, const scanning& s, std::uint32_t most, scan_choice& c) {
    constexpr std::uint32_t staged_bytes = 128, widest_chunk = 16;  // of a thread, of one scan
    if (std::ranges::any_of(inputs_along(b, s), [](const array_argument* in) { return in->at->head.aliased; })) return;
    std::uint32_t widest = 1, bytes = 0;
    for (const node_id scan : s.scans) widest = std::max(widest, scan_bytes(b, scan)), bytes += scan_bytes(b, scan);
    std::uint32_t each = c.each;
    while (each > 1 && each * widest > widest_chunk) each /= 2;
    const std::uint32_t chunks = std::min(staged_bytes / (bytes * each), most);
    if (chunks * each < 2 * c.register_chunks * c.each) return;  // not worth the moves to shared memory
    c.stages_values = true;
    c.threads = 256;
    c.resident_blocks = 4;
    c.each = each;
    c.register_chunks = 0;
    c.shared_chunks = chunks;
    c.shared_bytes = chunks * c.threads * bytes * each;
}

/// The larger the tiles that a multiprocessor holds, the longer they may wait for each other while memory stays busy,
/// so a thread has three times as much in shared memory as in registers.
scan_choice choose_long_rows(const cuda_kernel& b, const scanning& s) {
    constexpr std::uint32_t register_bytes = 64, staged_bytes = 192;  // of a thread's inputs
    constexpr std::uint32_t cost_worth_keeping = 24;  // of values not to be computed twice, as staged values are
    constexpr std::uint32_t enough_elements = 16;     // of a thread
    scan_choice c;
    c.how = layout::long_rows;
    c.run = 64;  // one tile of a run waits for a tile of the run before; with 32 that takes as long as memory does
    c.each = elements_of_row_chunk(b, s);
    std::uint32_t fold_words = 0;  // registers that hold the folds of a chunk
    for (const node_id scan : s.scans) fold_words += parts(scan_bytes(b, scan), 4);
    const std::uint32_t most = fold_words <= 2 ? 16 : std::max(32 / fold_words, 1u);
    const std::vector<const array_argument*> inputs = inputs_along(b, s);
    const std::uint32_t bytes = bytes_of_chunks(b, s, c.each);
    const bool stages = c.each > 1 && !inputs.empty() && generators_along(b, s).empty() &&
                        cost_of(b.graph, s.values) <= cost_worth_keeping && bytes <= register_bytes && most >= 4 &&
                        std::ranges::all_of(inputs, [&](const array_argument* in) {
                            return bytes_of(*in) * c.each >= 4 && !in->at->head.aliased;
                        });
    if (stages) {
        c.threads = 256;
        c.resident_blocks = fold_words == 1 ? 4 : 3;  // as many as shared memory and registers hold
        c.register_chunks = std::min(register_bytes / bytes, most / 4);
        c.shared_chunks = std::min(staged_bytes / bytes, most - c.register_chunks);
        while (c.shared_chunks > 1 && c.chunks() * c.each * element_cost(b, s) > 2 * statement_budget)
            --c.shared_chunks;
    } else {
        c.threads = 512;
        c.resident_blocks = 2;
        c.register_chunks = chunks_in_registers(b, s, c.each, longest_of(length_class::looped));
    }
    c.shared_bytes = c.shared_chunks * c.threads * bytes;
    if (!stages && c.register_chunks * c.each < enough_elements) stage_values(b, s, most, c);
    c.lanes = c.threads;
    c.tile = c.threads * c.each * c.chunks();
    return c;
}

}  // namespace ingot::codegen
