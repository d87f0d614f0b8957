// See choice.hpp. Layouts for special columns are tried first: short columns that are staged or unrolled, then columns
// read by vectors wherever rows begin. Any columns can be read where they lie.
#include "codegen/cuda/fold/across/choice.hpp"

#include <algorithm>
#include <optional>

namespace ingot::codegen {

using namespace detail;

namespace {

using layout = column_fold_choice::layout;

/// Columns longer than 2^(split_class + 4) elements are shared by several blocks. These are large where the results are
/// few: the fewer blocks there are, the sooner the last one has joined their parts.
constexpr std::uint8_t split_class = 6;
constexpr std::uint32_t least_block = 128, small_block = 256, medium_block = 512, large_block = 1024;
constexpr std::uint32_t resident_threads = 1024;  // of a multiprocessor: enough to keep memory busy
constexpr std::uint32_t shared_bytes = 48 * 1024;
constexpr std::uint32_t wide_part_bytes = 16;

// ---- facts

int inner_axis(const folded_kernel& f) { return f.kernel().rank - 1; }

const axis_class& inner_class_of(const folded_kernel& f) {
    return f.kernel().key.axes[static_cast<std::size_t>(inner_axis(f))];
}
bool inner_is(const folded_kernel& f, std::uint16_t flags) { return (inner_class_of(f).flags & flags) == flags; }

bool has_many_words(const folded_kernel& f) { return f.words() > 2; }

/// Whether everything is folded over one axis, from arrays read in place, and no output moves along that axis.
bool folds_one_axis_of_arrays(const folded_kernel& f) {
    const folded_space& s = f.longest_space();
    return f.spaces().size() == 1 && s.axes.size() == 1 && s.outputs.empty() && f.kernel().generators.empty() &&
           f.kernel().unravellings.empty() && !f.inputs_of(s).empty();
}

/// Whether an array moves along all kept axes and the folded ones.
bool moves_everywhere(const folded_kernel& f, const array_argument& in) {
    return f.loops_of(in) == (f.kept_bits() | f.longest_space().bits());
}

bool are_aligned(const std::vector<const array_argument*>& inputs) {
    return std::ranges::all_of(inputs, [](const array_argument* in) { return in->at->head.vector; });
}

/// Whether every folded array moves along all axes and has elements of one size, no other operand of a fold moves along
/// the columns, and no fold needs an element's place.
bool folds_vectors_of_columns(const folded_kernel& f) {
    const cuda_kernel& b = f.kernel();
    const folded_space& s = f.longest_space();
    const std::vector<const array_argument*> inputs = f.inputs_of(s);
    const std::vector<bool> below = nodes_below(b.graph, s.values);
    return std::ranges::all_of(inputs,
                               [&](const array_argument* in) {
                                   return moves_everywhere(f, *in) && bytes_of(*in) == bytes_of(*inputs[0]);
                               }) &&
           std::ranges::none_of(b.inputs,
                                [&](const array_argument& in) {
                                    return below[in.node] && (f.loops_of(in) & s.bits()) == 0 &&
                                           (f.loops_of(in) & axis_bit(inner_axis(f))) != 0;
                                }) &&
           std::ranges::none_of(f.longest_folds(), [](const fold_traits& fold) { return fold.is_arg_reduction(); });
}

// ---- staged

/// Empty unless the columns are one run of memory in all folded arrays, of few enough bytes to stage.
std::optional<column_fold_choice> choose_staged(const folded_kernel& f) {
    constexpr std::uint32_t target_bytes = 24 * 1024, most_bytes = 46 * 1024;  // of shared memory
    constexpr std::uint32_t widest_inner = 31;                                 // the class of short inner axes
    constexpr std::uint32_t vector_bytes = 16;
    const bool known_width = inner_class_of(f).extent != 0;
    const std::uint8_t longest_class = known_width ? 6 : 4;
    if (f.kernel().rank < 2 || !folds_one_axis_of_arrays(f) || f.length_class() > longest_class ||
        !inner_is(f, axis_flags::contiguous_columns | axis_flags::short_inner) ||
        !std::ranges::all_of(f.inputs_of(f.longest_space()), [&](const array_argument* in) {
            return moves_everywhere(f, *in) && !in->at->head.aliased;
        }))
        return {};
    const std::uint32_t bytes = f.bytes_at_once(f.longest_space(), 1);
    const std::uint32_t longest_run =
        (16u << f.length_class()) * (known_width ? inner_class_of(f).extent : widest_inner);
    column_fold_choice c;
    c.how = layout::staged;
    c.threads = least_block;
    c.unroll = {2};
    c.elements = target_bytes / bytes;
    c.capacity = std::max(longest_run, c.elements) + vector_bytes;
    c.moments = std::ranges::all_of(f.longest_folds(), &fold_traits::is_moments);
    return c.capacity * bytes <= most_bytes ? std::optional(c) : std::nullopt;
}

// ---- unrolled

/// Whether every folded array is aligned and contiguous across columns, and no other array moves along them.
bool has_vectors_of_columns(const folded_kernel& f) {
    const int inner = inner_axis(f);
    return std::ranges::all_of(f.kernel().inputs, [&](const array_argument& in) {
        if ((f.loops_of(in) & f.longest_space().bits()) == 0) return (f.loops_of(in) & axis_bit(inner)) == 0;
        return in.at->head.vector && inner_class(in, inner) == stride_class::unit;
    });
}

std::optional<column_fold_choice> choose_unrolled(const folded_kernel& f) {
    constexpr std::uint8_t longest_subclass = 5;                                    // 16 elements
    constexpr std::uint32_t longest_bytes = 256;                                    // of a column
    constexpr std::uint32_t most_bytes = 128, target_bytes = 64, most_columns = 4;  // of a thread
    const folded_space& s = f.longest_space();
    const bool narrow = f.kernel().rank > 1 && inner_is(f, axis_flags::short_inner);
    const std::uint8_t known = s.subclass;
    if (narrow || !folds_one_axis_of_arrays(f) || f.length_class() != 1 || known <= 1 || known > longest_subclass)
        return {};
    const std::uint32_t length = s.longest(), column_bytes = f.bytes_at_once(s, 1) * length;
    const std::uint32_t cost = length * (1 + static_cast<std::uint32_t>(cost_of(f.kernel().graph, s.values)));
    if (column_bytes > longest_bytes || cost > statement_budget ||
        std::ranges::any_of(f.longest_folds(), &fold_traits::is_exponentials))
        return {};
    std::uint32_t widest = 1;
    for (const array_argument* in : f.inputs_of(s)) widest = std::max(widest, bytes_of(*in));
    column_fold_choice c;
    c.how = layout::unrolled;
    c.threads = least_block;
    c.unroll = {length};
    std::uint32_t each = has_vectors_of_columns(f) ? std::min(4u, std::max(1u, 16 / widest)) : 1;
    while (each > 1 && (column_bytes * each > most_bytes || each * cost > statement_budget)) each /= 2;
    while (2 * c.vectors_per_thread * column_bytes * each <= target_bytes &&
           2 * c.vectors_per_thread * each <= std::max(most_columns, 2 * each) &&
           2 * c.vectors_per_thread * each * cost <= statement_budget)
        c.vectors_per_thread *= 2;
    c.columns = c.tile_columns = each;
    return c;
}

// ---- strips

/// With fewer columns a block would have a row or two, and many threads no columns.
bool are_wide(const folded_kernel& f) {
    return inner_is(f, axis_flags::wide_contiguous_columns) ||
           (inner_is(f, axis_flags::middling_contiguous_columns) && f.length_class() >= split_class &&
            f.gains_from_tiles_ahead());
}

std::optional<column_fold_choice> choose_strips(const folded_kernel& f) {
    constexpr std::uint32_t most_words = 20;
    constexpr std::uint8_t least_class = 3;  // shorter columns get a thread each
    if (!folds_one_axis_of_arrays(f) || !are_wide(f) || f.length_class() < least_class || !folds_vectors_of_columns(f))
        return {};
    const folded_space& s = f.longest_space();
    const std::vector<const array_argument*> inputs = f.inputs_of(s);
    const std::uint32_t bytes = bytes_of(*inputs[0]), vector = 16 / bytes;
    const bool split = f.length_class() >= split_class;
    // Parts of many words: only long columns of floats whose rows begin anywhere, else the joins cost too much.
    if ((bytes != 4 && bytes != 8) || vector * f.words() > most_words ||
        vector * 2 * cost_of(f.kernel().graph, s.values) > statement_budget ||
        (has_many_words(f) && (bytes != 4 || !split || are_aligned(inputs))))
        return {};
    column_fold_choice c;
    c.how = layout::strips;
    c.threads = small_block;
    c.tiles_ahead = split && f.gains_from_tiles_ahead();
    c.resident_blocks = c.tiles_ahead ? folded_kernel::blocks_ahead : split ? 2 : 3;
    const std::uint32_t each = c.tiles_ahead ? 1 : vector;
    c.tile_columns = each;
    c.aligned = each == 1 || are_aligned(inputs);
    // Most threads then have a vector of some row; rows that begin anywhere have a part of one vector more.
    c.most_across = (c.tiles_ahead ? 64 : 32) - (c.aligned ? 0 : 1);
    c.unroll = {f.unroll_of(s, f.bytes_at_once(s, each), 1, each, c.tiles_ahead ? folded_kernel::bytes_ahead : 128)};
    c.room_bytes = (c.threads + c.threads / 16) * each * f.widest_part();
    c.slots_at_once = has_many_words(f) ? 8 : 6;
    c.has_rounds = split;  // a thread has few tiles of shorter columns
    if (split) {
        constexpr std::uint32_t least_rows = 128;
        c.split = block_split{.piece = least_rows,
                              .results = c.threads,
                              .waves = c.tiles_ahead ? f.waves_of_columns() : 1,
                              .blocks_in_waves = c.tiles_ahead ? folded_kernel::blocks_ahead_in_waves : 0};
    }
    return c;
}

// ---- contiguous

/// Whether the columns are one run of memory, as the class promises, with several vectors for each thread.
bool are_contiguous(const folded_kernel& f) {
    constexpr std::uint8_t least_class = 4;
    if (!inner_is(f, axis_flags::contiguous_columns) || !folds_one_axis_of_arrays(f) ||
        f.length_class() < least_class || !folds_vectors_of_columns(f))
        return false;
    // Groups of threads read aligned columns as fast where they lie.
    const bool split = f.length_class() >= split_class;
    return f.kernel().rank == 1 || split || !are_aligned(f.inputs_of(f.longest_space()));
}

struct block_size {
    std::uint32_t threads, resident;  // of a block, and of a multiprocessor
};

/// As many blocks as are resident at once, unless the outer axes have fewer places. Without outer axes blocks are
/// large: the fewer there are, the less is published.
block_size choose_contiguous_block(const folded_kernel& f, bool light, std::uint32_t& each) {
    // The longer columns are, the fewer of them there are; the limit is lower for parts of many words.
    constexpr std::uint8_t joined_class = 9, long_class = 11, longest_class = 13;
    const bool one = f.kernel().rank == 1, many_words = has_many_words(f);
    const bool few_columns = inner_is(f, axis_flags::short_inner);
    const std::vector<fold_traits>& folds = f.longest_folds();
    // A small block holds few whole rows of many columns, and the last block has to join the parts of many blocks.
    const bool several = !one && !few_columns;
    // A sum of exponentials alone computes long enough to hide the latency of the next loads.
    if (f.words() == 2 && folds.size() == 1 && folds[0].counts_entries()) {
        const bool doubles = bytes_of(*f.inputs_of(f.longest_space())[0]) == 8;
        const std::uint32_t resident =
            doubles || (several && f.length_class() >= joined_class) ? resident_threads / 2 : resident_threads;
        return {one ? resident : few_columns ? small_block : medium_block, resident};
    }
    // Parts of several words need registers.
    std::uint32_t bytes = 0;
    for (const fold_traits& fold : folds) bytes += fold.bytes();
    const bool wide_parts = bytes > wide_part_bytes, small = many_words || light;
    block_size s{one ? (small ? medium_block : large_block) : (small ? small_block : medium_block),
                 many_words && (one || wide_parts) ? resident_threads / 2 : resident_threads};
    // While a small block of moments joins its threads' parts, other blocks read.
    if (many_words && few_columns && !one) s.threads = wide_parts ? least_block / 2 : least_block;
    if (several && f.length_class() >= (many_words ? joined_class : long_class)) {
        s.threads = medium_block;
        if (many_words || f.length_class() >= longest_class) s.resident = medium_block;
        if (many_words && f.length_class() >= long_class) each = std::min(each, 2u);
    }
    return s;
}

std::optional<column_fold_choice> choose_contiguous(const folded_kernel& f) {
    constexpr std::uint32_t most_words = 20,
                            bytes_to_finish = 4 * 1024;  // of shared memory, where blocks share results
    if (!are_contiguous(f)) return {};
    const folded_space& s = f.longest_space();
    const std::vector<const array_argument*> inputs = f.inputs_of(s);
    const std::uint32_t bytes = bytes_of(*inputs[0]);
    const bool one = f.kernel().rank == 1, split = f.length_class() >= split_class;
    const bool light = f.words() == 1 && inputs.size() == 1;  // then registers hold twice as many loads
    column_fold_choice c;
    c.how = layout::contiguous;
    c.tiles_ahead = split && f.gains_from_tiles_ahead();
    std::uint32_t each = std::min(4u, 16 / bytes);
    while (each > 1 && (each * cost_of(f.kernel().graph, s.values) > statement_budget || each * f.words() > most_words))
        each /= 2;
    block_size size{small_block, folded_kernel::blocks_ahead * small_block};
    if (c.tiles_ahead)
        each = 1;
    else
        size = choose_contiguous_block(f, light, each);
    // Where all blocks fold all columns, one last block would have to load too many parts.
    const bool shares_results = split && one;
    while (size.threads * (each + 1) * f.widest_part() > shared_bytes - (shares_results ? bytes_to_finish : 0))
        size.threads /= 2;
    c.threads = size.threads;
    c.tile_columns = each;
    c.resident_blocks = size.resident / size.threads;
    c.room_bytes = size.threads * (each + 1) * f.widest_part();
    c.least_vectors = 8;
    c.even_steps = one && light;
    c.has_rounds = one;  // otherwise a thread has few tiles, and no registers to spare
    c.unroll = {f.unroll_of(s, static_cast<std::uint32_t>(inputs.size()) * bytes * each, each, each,
                            c.tiles_ahead ? folded_kernel::bytes_ahead : (light ? 128 : 64) * 1024 / size.resident)};
    // One block a multiprocessor has registers for more slots at once; more waves leave fewer idle at the end.
    const bool large_blocks = !one && c.resident_blocks == 1, many_words = has_many_words(f);
    c.slots_at_once = one ? (many_words ? 24 : 10) : large_blocks ? (many_words ? 12 : 8) : 4;
    if (split) {
        constexpr std::uint32_t piece_bytes = 32 * 1024, least_threads = 256;  // of a multiprocessor
        constexpr std::uint32_t waves_of_large_blocks = 6;
        c.split = block_split{.piece = piece_bytes / bytes,
                              .along = axis_bit(inner_axis(f)),
                              .blocks_of_one = one ? 0 : std::max(1u, least_threads / c.threads),
                              .results = c.threads,
                              .waves = large_blocks ? waves_of_large_blocks : f.waves_of_columns(),
                              .blocks_in_waves = c.tiles_ahead ? folded_kernel::blocks_ahead_in_waves : 0,
                              .how = one ? block_split::finish::shared : block_split::finish::last_ticket};
    }
    return c;
}

// ---- columns where they lie

/// Whether a thread's columns are whole groups of every random leaf that moves along them.
bool has_random_vectors(const folded_kernel& f, std::uint32_t columns) {
    std::uint64_t folded = 0;
    for (const folded_space& s : f.spaces()) {
        if (!f.generators_of(s).empty() && !f.draws_groups(s, inner_axis(f), columns)) return false;
        folded |= s.bits();
    }
    return std::ranges::none_of(f.kernel().generators, [&](node_id g) {
        const std::uint64_t axes = f.kernel().graph.nodes[g].axes;
        return (axes & axis_bit(inner_axis(f))) != 0 && (axes & folded) == 0;
    });
}

/// Neighbouring columns that a thread folds: more than one where every folded operand that moves along the columns is
/// contiguous and aligned there.
std::uint32_t columns_of_thread(const folded_kernel& f, std::uint32_t threads) {
    constexpr std::uint32_t most_words = 15;  // of registers for results
    const int inner = inner_axis(f);
    std::uint32_t widest = 1, cost = 0;
    bool vectors = true;
    for (const folded_space& s : f.spaces()) {
        for (const array_argument* in : f.inputs_of(s)) {
            const stride_class along = inner_class(*in, inner);
            if (along == stride_class::broadcast) continue;
            vectors = vectors && along == stride_class::unit && in->at->head.vector;
            widest = std::max(widest, bytes_of(*in));
        }
        for (const node_id g : f.generators_of(s)) widest = std::max(widest, bytes_of(f.kernel().leaf_of(g)));
        for (const std::size_t k : s.outputs) widest = std::max(widest, bytes_of(f.kernel().outputs[k]));
        cost += cost_of(f.kernel().graph, s.computed_nodes(f.kernel().graph));
    }
    std::uint32_t n = vectors ? 16 / widest : 1;
    while (n > 1 && (n > 4 || n * cost > statement_budget || n * f.words() > most_words ||
                     n * threads * f.widest_part() > shared_bytes))
        n /= 2;
    return has_random_vectors(f, n) ? n : 1;
}

/// The number of threads that read a line of memory.
std::uint32_t threads_of_line(const folded_kernel& f, std::uint32_t columns, std::uint32_t most) {
    constexpr std::uint32_t bytes = 128;
    std::uint32_t widest = 1;
    for (const array_argument* in : f.inputs_of(f.longest_space())) widest = std::max(widest, bytes_of(*in));
    return std::min(bytes / (columns * widest), most);
}

column_fold_choice choose_where_they_lie(const folded_kernel& f) {
    const int rank = f.kernel().rank;
    const bool split = f.length_class() >= split_class, many_words = has_many_words(f);
    const bool narrow = rank > 1 && inner_is(f, axis_flags::short_inner);
    // Joins over threads cost more than they gain where columns are short, most of all for moments.
    const std::uint8_t longest_alone = narrow ? 1 : many_words ? 3 : 2;
    column_fold_choice c;
    c.how = f.length_class() <= longest_alone ? layout::alone
            : !narrow                         ? layout::wide
            : split                           ? layout::narrow
                                              : layout::packed;
    const bool alone = c.how == layout::alone, wide = c.how == layout::wide;
    c.threads = alone || c.how == layout::packed             ? least_block
                : split && few_results(f.kernel().key, rank) ? large_block
                                                             : small_block;
    c.columns = c.tile_columns = columns_of_thread(f, c.threads);
    c.has_rounds = !alone;
    constexpr std::uint32_t bytes = 64;
    const std::uint32_t bytes_in_flight = wide && !split ? 2 * bytes : c.columns > 1 || split ? bytes : bytes / 2;
    for (const folded_space& s : f.spaces())
        c.unroll.push_back(f.unroll_of(s, f.bytes_at_once(s, c.columns), 1, c.columns, bytes_in_flight));
    const std::uint32_t tile = c.unroll[f.longest()];
    const bool draws = f.draws_alone(f.longest_space());
    c.slots_at_once = c.columns > 1 && !many_words && !draws ? 16 : 8;
    if (!alone) c.room_bytes = c.threads * c.columns * f.widest_part();
    if (c.how == layout::packed) {  // so many that each thread folds a tile and the widest group has room
        constexpr std::uint32_t short_inner = 32;
        c.height = std::clamp((16u << f.length_class()) / tile, 2u, c.threads * c.columns / short_inner);
    }
    if (split) {
        const bool registers = c.threads == small_block && f.widest_part() > wide_part_bytes;
        c.resident_blocks = (resident_threads - (registers ? small_block : 0)) / c.threads;
        c.least_across = threads_of_line(f, c.columns, c.most_across);
        constexpr std::uint32_t least_draws = 16;  // of a thread, where nothing is loaded
        c.split = block_split{.piece = c.threads / c.most_across * (draws ? least_draws : tile),
                              .results = (wide ? c.most_across : c.threads) * c.columns,
                              .waves = f.waves_of_columns()};
    }
    return c;
}

}  // namespace

column_fold_choice choose_column_fold(const folded_kernel& f) {
    if (auto c = choose_staged(f)) return *c;
    if (auto c = choose_unrolled(f)) return *c;
    if (auto c = choose_strips(f)) return *c;
    if (auto c = choose_contiguous(f)) return *c;
    return choose_where_they_lie(f);
}

}  // namespace ingot::codegen
