// See choice.hpp. A block has one or several rows where rows fill the GPU; blocks share each of a few long rows.
#include "codegen/cuda/fold/along/choice.hpp"

#include <algorithm>
#include <utility>

#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

using space = row_layout::space;

constexpr std::uint32_t usual_threads = 256;
constexpr std::uint32_t resident_threads = 1024;  // of a multiprocessor, where blocks share rows

// ---- facts

/// A row of bytes is read quickly, and smaller blocks begin and end in less time.
bool are_bytes(const folded_kernel& f) {
    return std::ranges::all_of(f.kernel().inputs, [](const array_argument& in) { return bytes_of(in) == 1; });
}

/// Whether the longest space has one fold only and that counts its entries.
bool counts_alone(const folded_kernel& f) {
    return f.longest_folds().size() == 1 && f.longest_folds()[0].counts_entries();
}
bool is_moments(const folded_kernel& f) { return counts_alone(f) && f.longest_folds()[0].is_moments(); }

bool is_aligned(const std::vector<const array_argument*>& inputs) {
    return std::ranges::all_of(inputs, [](const array_argument* in) { return in->at->head.vector; });
}

/// Whether the key has the length of rows so short that a warp reads several.
bool is_known_short(const folded_space& s) { return s.length_class == 1 && s.subclass != 0; }

/// The elements that a lane loads at once: more than one where a single bound axis runs along memory, and every input
/// is aligned or there is only one; but not in rows whose elements outside whole vectors would be as many.
std::uint32_t vector_elements(const folded_kernel& f, const folded_space& s) {
    const cuda_kernel& b = f.kernel();
    const std::vector<const array_argument*> inputs = f.inputs_of(s);
    const std::vector<node_id> generators = f.generators_of(s);
    if (s.axes.size() != 1 || (inputs.empty() && generators.empty())) return 1;
    if (!is_aligned(inputs) && (inputs.size() != 1 || inputs[0]->at->head.aliased || !generators.empty())) return 1;
    std::uint32_t widest = 1;
    for (const array_argument* in : inputs) {
        if (!f.is_unit(*in, s.inner())) return 1;
        widest = std::max(widest, bytes_of(*in));
    }
    for (const std::size_t k : s.outputs) widest = std::max(widest, bytes_of(b.outputs[k]));
    std::uint32_t each = 16 / widest;
    if (inputs.empty()) {
        each = 1;
        for (const node_id g : generators) each = std::max(each, generator_group(b.graph.nodes[g].type));
    }
    while (each > 1 && each * cost_of(b.graph, s.computed_nodes(b.graph)) > statement_budget) each /= 2;
    if (generators.empty() && is_known_short(s) && s.longest() < each * (is_aligned(inputs) ? 4 : 8)) return 1;
    return generators.empty() || f.draws_groups(s, s.inner(), each) ? each : 1;
}

/// The array of narrow elements of which a fold takes the extreme, sum or count, where one instruction joins several.
const array_argument* packed_by(const folded_kernel& kernel, const fold_traits& f, const folded_space& s,
                                std::uint32_t each) {
    const graph& g = kernel.kernel().graph;
    const node& value = g.nodes[f.value()];
    const bool extremes = f.of() == fold::max || f.of() == fold::min, counts = f.of() == fold::count_nonzero,
               sums = f.of() == fold::sum;
    if (!extremes && !counts && !sums) return nullptr;
    const bool widens = sums && value.kind == node_kind::cast && kind_of(value.type) == kind::integer;
    const node_id elements = widens ? value.arguments[0] : f.value();
    const dtype t = g.nodes[elements].type;
    const std::size_t widest = extremes ? 2 : 1;
    if (kind_of(t) != (counts ? kind::boolean : kind::integer) && !(widens && t == dtype::b1)) return nullptr;
    if (size_of(t) > widest || each * size_of(t) < 4 || (sums && size_of(value.type) != 8)) return nullptr;
    for (const array_argument* in : kernel.inputs_of(s))
        if (in->node == elements) return in;
    return nullptr;
}

bool is_packed(const array_argument* in) { return in != nullptr; }

/// Whether registers hold twice as many loads as usual, beside the parts.
bool is_light(const folded_kernel& f) {
    constexpr std::uint32_t double_bytes = 8, few_words = 5;
    return f.words() <= few_words && std::ranges::all_of(f.kernel().inputs, [&](const array_argument& in) {
               return bytes_of(in) < double_bytes || f.words() == 1;
           });
}

/// Whether the longest space has one fold only, and that counts its entries and sums exponentials.
bool is_exponentials(const folded_kernel& f) { return counts_alone(f) && !f.longest_folds()[0].is_moments(); }

/// The unit of the elements before the first vector of a row that begins anywhere: a cache line, so that warps read
/// whole lines, where there are enough lanes to load these elements at once; else a vector.
std::uint32_t choose_head_unit(const array_argument& in, std::uint32_t lanes) {
    constexpr std::uint32_t line = 128, vector = 16;
    const std::uint32_t bytes = bytes_of(in);
    return (lanes >= (line + vector) / bytes ? line : vector) / bytes;
}

// ---- choosing

/// Lanes that share a row: each has four vectors, up to four times as many; longer rows get a block. Few rows get as
/// many lanes as have work, to end soon. In rows known to be short a lane has one vector, or four elements.
std::uint32_t choose_lanes(const folded_kernel& f, std::uint32_t threads, bool few) {
    const folded_space& s = f.longest_space();
    const std::uint32_t each = vector_elements(f, s), vectors = s.longest() / each;
    constexpr std::uint32_t vectors_a_lane = 4, least_lanes = 8, warp = 32;
    if (is_known_short(s)) return std::clamp(each > 1 ? vectors : vectors / vectors_a_lane, 1u, least_lanes);
    if (f.length_class() >= long_row_class || (few ? vectors > warp : vectors > 4 * vectors_a_lane * warp))
        return threads;
    return few ? warp : std::clamp(vectors / vectors_a_lane, least_lanes, warp);
}

/// Blocks of a multiprocessor, where blocks share rows. Moments and exponentials of doubles need more registers.
std::uint32_t choose_resident_blocks(const folded_kernel& f, std::uint32_t threads) {
    const std::uint32_t quarters = is_light(f) ? 4 : is_moments(f) ? 2 : is_exponentials(f) ? 3 : 4;
    return resident_threads / 4 * quarters / threads;
}

space choose_space(const folded_kernel& f, const row_layout& c, std::size_t number) {
    // A whole row is loaded at once where registers hold it: a second tile would have to wait for the first.
    constexpr std::uint32_t bytes_in_flight = 64, whole_row_bytes = 128;
    const folded_space& s = f.spaces()[number];
    const std::vector<const array_argument*> inputs = f.inputs_of(s);
    space chosen;
    chosen.each = vector_elements(f, s);
    for (const fold_traits& fold : f.folds(number)) chosen.packed.push_back(packed_by(f, fold, s, chosen.each));
    const std::uint32_t bytes = f.bytes_at_once(s, 1) * chosen.each;
    if (chosen.each == 1) {
        chosen.unroll = f.unroll_of(s, bytes, c.lanes, 1, bytes_in_flight);
        return chosen;
    }
    chosen.drawn = f.draws_alone(s) && s.outputs.empty();
    const bool all_packed = s.outputs.empty() && std::ranges::all_of(chosen.packed, is_packed);
    const bool whole_row = c.is_block_wide() && (!c.split || is_light(f) || is_moments(f));
    chosen.unroll = f.unroll_of(s, bytes, c.lanes * chosen.each, all_packed ? 0 : chosen.each,
                                whole_row ? whole_row_bytes : bytes_in_flight);
    chosen.aligned = is_aligned(inputs);
    if (!chosen.aligned) chosen.head_unit = choose_head_unit(*inputs[0], c.lanes);
    chosen.edges_at_once = c.lanes >= (chosen.aligned ? 0 : chosen.head_unit) + chosen.each;
    chosen.joins_whole_tiles = s.outputs.empty() && number == f.longest() && counts_alone(f);
    return chosen;
}

/// Whether the blocks of the only row take the last of its rounds when they are ready, instead of even shares: not all
/// multiprocessors read equally fast, and all would wait for the slowest.
bool can_deal_rounds(const folded_kernel& f, const row_layout& c) {
    return f.kernel().rank == 0 && f.spaces().size() == 1 && c.spaces[0].each > 1 && !c.spaces[0].drawn &&
           std::ranges::all_of(f.folds(0), [](const fold_traits& fold) { return fold.is_in_any_order(); });
}

}  // namespace

row_fold_choice choose_row_fold(const folded_kernel& f) {
    constexpr std::uint8_t longest_class = 10;
    constexpr std::uint32_t most_vectors = 64;  // of a lane: a sum of so few rounds little
    constexpr std::uint32_t piece_bytes = 32 * 1024;
    const bool few = few_results(f.kernel().key, f.kernel().rank);
    row_layout c;
    c.longest = f.longest();
    c.slots_at_once = 4;
    c.threads = usual_threads;
    if (few && f.length_class() >= long_row_class) c.split.emplace();
    if (c.split && is_light(f) && !are_bytes(f)) c.threads = 2 * usual_threads;
    c.lanes = choose_lanes(f, c.threads, few);
    // Many rows of medium length get more blocks at once: some load while others join.
    if (c.is_block_wide() && !few && f.length_class() <= longest_class) c.lanes = c.threads = usual_threads / 2;
    c.has_rounds = f.length_class() >= long_row_class || (16u << f.length_class()) > most_vectors * c.lanes;
    for (std::size_t s = 0; s < f.spaces().size(); ++s) c.spaces.push_back(choose_space(f, c, s));
    if (!c.split) return whole_rows_layout{std::move(c)};
    c.resident_blocks = choose_resident_blocks(f, c.threads);
    // A piece has several vectors for every thread of a block.
    const std::uint32_t each = c.spaces[f.longest()].each, bytes = f.bytes_at_once(f.longest_space(), 1) * each;
    c.split->piece = each * std::max(c.threads, piece_bytes / std::max(bytes, 4u));
    c.split->counts_pieces = can_deal_rounds(f, c);
    return split_rows_layout{std::move(c)};
}

kernel_shape row_layout::shape_of(std::string_view name) const {
    kernel_shape k;
    k.name = name;
    k.threads = threads;
    k.lanes = lanes;
    k.each = spaces[longest].each;
    k.chunks = spaces[longest].unroll;
    k.exchange = split ? thread_exchange::scratch : is_block_wide() ? thread_exchange::block : thread_exchange::lanes;
    k.resident_blocks = resident_blocks;
    return k;
}

}  // namespace ingot::codegen
