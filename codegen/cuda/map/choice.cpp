// See choice.hpp. Vectors of the inner axis are tried first, as they need the fewest instructions, then layouts that
// read the results of an earlier fold once.
#include "codegen/cuda/map/choice.hpp"

#include <algorithm>

#include "codegen/cuda/map/byte_pairs.hpp"
#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

using layout = map_choice::layout;

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t fewest_chunks = 2, most_chunks = 4;  // of a flat map

/// The elements of a thread, `most` or fewer: all their values fit its registers, and the compiler takes their
/// statements in reasonable time.
std::uint32_t elements_within(const cuda_kernel& b, std::uint32_t most) {
    constexpr std::size_t large_graph = 64;
    constexpr std::uint32_t most_registers = 160;  // of 255: addresses and loop counters need some
    constexpr std::size_t many_arrays = 12;        // a few elements of each keep the memory busy, with more threads
    if (b.inputs.size() + b.outputs.size() > many_arrays) most = std::min(most, 2u);
    const std::uint32_t registers = b.graph.nodes.size() > large_graph ? live_registers(b.graph) : 0;
    while (most > 1 && (most * b.cost > statement_budget || most * registers > most_registers)) most /= 2;
    return most;
}

/// Whether threads have long loops: with a few more elements each there would be too few threads.
bool has_long_loops(const cuda_kernel& b) {
    for (node_id i = 0; i < b.graph.nodes.size(); ++i)
        if (b.graph.nodes[i].kind == node_kind::thread_fold && !b.is_short(i)) return true;
    return false;
}

bool moves_inside(const array_argument& at, int inner) { return inner_class(at, inner) != stride_class::broadcast; }

/// Whether every array that moves along the inner axis is contiguous there and aligned.
bool can_pack(const cuda_kernel& b, int inner) {
    if (b.rank == 0 || !b.unravellings.empty() || b.scatters()) return false;
    if ((b.key.axes[static_cast<std::size_t>(inner)].flags & axis_flags::short_inner) != 0 && b.rank > 1) return false;
    const auto fits = [&](const array_argument& at) {
        return !moves_inside(at, inner) || (inner_class(at, inner) == stride_class::unit && at.at->head.vector);
    };
    return std::ranges::all_of(b.inputs, fits) && std::ranges::all_of(b.outputs, [&](const array_argument& at) {
               return moves_inside(at, inner) && fits(at);
           });
}

/// Whether only random numbers are drawn and nothing is read, by whole calls of Philox: at the end of a row they cost
/// no more than elsewhere.
bool draws_alone(const cuda_kernel& b, std::uint32_t each) {
    const int inner = b.rank - 1;
    const auto in_groups = [&](node_id g) {
        const array_argument leaf = b.leaf_of(g);
        return inner_class(leaf, inner) == stride_class::unit && leaf.at->head.vector &&
               each % generator_group(b.graph.nodes[g].type) == 0 &&
               b.graph.nodes[g].code != static_cast<std::uint32_t>(generator_kind::position);
    };
    return b.loops == 0 && !b.generators.empty() && !b.has_quick_bodies() &&
           std::ranges::all_of(b.generators, in_groups) &&
           std::ranges::none_of(b.inputs, [&](const array_argument& in) { return moves_inside(in, inner); });
}
/// Whether instructions, not memory, limit the kernel: two vectors of a thread share some instructions.
bool draws_normals(const cuda_kernel& b) {
    return b.rank == 1 && std::ranges::any_of(b.generators, [&](node_id g) {
               const node& n = b.graph.nodes[g];
               return n.code == static_cast<std::uint32_t>(generator_kind::normal) && n.type == dtype::f4;
           });
}

/// The widest element, in bytes, of the arrays that `moves` selects.
template <class Moves>
std::uint32_t widest_element(const cuda_kernel& b, bool outputs_too, Moves moves) {
    std::uint32_t widest = 1;
    for (const array_argument& at : b.inputs)
        if (moves(at)) widest = std::max(widest, bytes_of(at));
    for (const array_argument& at : b.outputs)
        if (outputs_too && moves(at)) widest = std::max(widest, bytes_of(at));
    return widest;
}

/// Whether the rows along which a map goes are runs of memory of 4-byte elements, one below the other.
bool can_be_flat(const cuda_kernel& b, int inner, int along) {
    constexpr std::uint32_t each = 4;
    if (along < 0 || along + 1 != inner) return false;
    const std::uint32_t bytes = bytes_of(b.outputs[0]);
    const auto is_run = [&](const array_argument& at) {
        return inner_class(at, inner) == stride_class::unit && inner_class(at, along) == stride_class::strided &&
               bytes_of(at) == bytes;
    };
    const auto moves_down = [&](const array_argument& at) { return b.moves_along(at, axis_bit(along)); };
    return bytes == 4 && fewest_chunks * each * b.cost <= statement_budget &&
           std::ranges::all_of(b.outputs, [&](const array_argument& z) { return moves_down(z) && is_run(z); }) &&
           std::ranges::all_of(b.inputs, [&](const array_argument& in) {
               return !moves_down(in) || !b.moves_along(in, axis_bit(inner)) || is_run(in);
           });
}

/// With more than one array fewer chunks give a thread as many vectors in flight.
std::uint32_t chunks_of_flat(const cuda_kernel& b, int inner, int along, std::uint32_t each) {
    const bool light = b.outputs.size() == 1 && most_chunks * each * b.cost <= statement_budget &&
                       std::ranges::count_if(b.inputs, [&](const array_argument& in) {
                           return b.moves_along(in, axis_bit(inner)) && b.moves_along(in, axis_bit(along));
                       }) == 1;
    return light ? most_chunks : fewest_chunks;
}

/// Chooses tiles for transposed operands, where there are some and a thread's registers hold its elements.
void choose_tile(const cuda_kernel& b, map_choice& c) {
    // The shared memory of a block's tiles: so little that six blocks share a multiprocessor.
    constexpr std::uint32_t most_bytes = 32 * 1024, wide_tile = 64, narrow_tile = 32;
    const transposed_operands across = find_transposed(b);
    if (across.side < 0) return;
    for (const std::uint32_t tile : {wide_tile, narrow_tile}) {
        const std::uint32_t each = tile * tile / map_choice::threads;
        if ((tile == wide_tile && across.widest > 2) || elements_within(b, each) < each ||
            across.bytes * tile * (tile + 4) > most_bytes)
            continue;
        c.how = layout::tiled, c.side = across.side, c.tile = tile, c.each = each;
        return;
    }
}

/// Chooses rows for views of one buffer a few elements apart, where there are such and a thread has registers for them.
void choose_stencil(const cuda_kernel& b, map_choice& c) {
    constexpr std::uint32_t most_registers = 96;
    // In three dimensions warps of 96 registers each are just enough to keep memory busy; a larger window would not fit
    // these registers.
    constexpr std::uint32_t side_threads = 128, side_blocks = 5, side_registers = 72;
    const auto axes = find_stencil(b);
    if (!axes) return;
    const int inner = b.rank - 1;
    const std::uint32_t vector = vector_bytes / widest_element(b, true, [&](const array_argument& at) {
                                     return class_along(b, at, inner) != stride_class::broadcast;
                                 });
    // A thread of many gets few rows; in three dimensions two side by side, and more planes. Narrow elements are many,
    // so a row takes long: fewer rows are in flight, and a thread gets more.
    const bool has_side = axes->side >= 0, narrow = vector >= 8;
    window_size size{elements_within(b, vector), has_side ? 2u : 1u,
                     axes->down < 0       ? 0u
                     : has_side || narrow ? 1u
                                          : 2u};
    const std::uint32_t rows = axes->down < 0 ? 1 : has_side || narrow ? 16 : 8;
    const auto fits = [&] {
        return registers_of(windows_of(b, *axes, size), size) <= most_registers &&
               size.aside * size.each * b.cost <= statement_budget;
    };
    while (!fits()) {
        if (size.ahead > 0)
            --size.ahead;
        else if (size.aside > 1)
            --size.aside;
        else if (size.each > 1)
            size.each /= 2;
        else
            return;
    }
    c.how = layout::stencil;
    c.along = axes->down, c.side = axes->side;
    c.each = size.each, c.aside = size.aside, c.ahead = size.ahead;
    c.chunks = rows;
    if (has_side) {
        c.block_threads = side_threads;
        if (registers_of(windows_of(b, *axes, size), size) <= side_registers) c.least_blocks = side_blocks;
    }
    c.pairs = size.each % 8 == 0 && computes_byte_pairs(b, *axes);
}

/// Whether one value is added to few places: the result then follows from the count at each.
bool counts_few_bins(const cuda_kernel& b) {
    if (b.rank == 0 || b.outputs.size() != 1 || b.outputs[0].at->head.few_places == 0) return false;
    const node& value = b.graph.nodes[b.value_of(b.outputs[0])];
    return value.kind == node_kind::operand && b.key.operands[value.index].head.kind == detail::operand_kind::scalar;
}

void choose_counts(const cuda_kernel& b, map_choice& c) {
    constexpr std::uint32_t most_each = 8, most_counts = 4096, warps = map_choice::threads / 32;
    c.how = layout::counted;
    c.bins = 1u << b.outputs[0].at->head.few_places;
    c.copies = std::clamp(most_counts / c.bins, 1u, warps);
    c.each = elements_within(b, has_long_loops(b) || b.loops != 0 ? 1 : most_each);
    const bool vectors =
        b.rank == 1 && b.unravellings.empty() && b.generators.empty() && b.loops == 0 &&
        std::ranges::all_of(b.inputs, [](const array_argument& in) {
            return !moves_inside(in, 0) || (inner_class(in, 0) == stride_class::unit && in.at->head.vector);
        });
    if (vectors)
        c.vector = std::min(c.each, vector_bytes / widest_element(b, false, [](const array_argument& in) {
                                        return moves_inside(in, 0);
                                    }));
}

}  // namespace

map_choice choose_map(const cuda_kernel& b) {
    map_choice c;
    const int inner = b.rank - 1;
    if (counts_few_bins(b)) {
        choose_counts(b, c);
        return c;
    }
    if (choose_tile(b, c); c.how == layout::tiled) return c;
    if (choose_stencil(b, c); c.how == layout::stencil) return c;
    if (const auto joint = choose_joint(b)) {
        c.how = layout::joint, c.each = joint->elements, c.loops = *joint;
        return c;
    }
    const bool packs = can_pack(b, inner);
    const std::uint32_t vector =
        vector_bytes / widest_element(b, true, [&](const array_argument& at) { return moves_inside(at, inner); });
    c.each = b.rank == 0 ? 1
                         : elements_within(b, has_long_loops(b) ? 1
                                              : packs           ? vector
                                              : b.loops != 0    ? 1
                                                                : std::max(4u, vector));
    c.loops = choose_loops(b, inner, packs ? c.each : 1);
    if (packs && c.each > 1) {
        c.how = layout::packed;
        c.drawn = draws_alone(b, c.each);
        if (c.drawn && draws_normals(b) && elements_within(b, 2 * c.each) == 2 * c.each) c.chunks = 2;
        return c;
    }
    c.along = b.scatters() || b.has_raw() ? -1 : b.folded_axis();
    if (can_be_flat(b, inner, c.along)) {
        c.how = layout::flat;
        c.each = 4;
        c.chunks = chunks_of_flat(b, inner, c.along, c.each);
    } else if (c.along >= 0) {
        // More elements share the reads of results, but leave fewer threads with loads in flight.
        c.how = layout::along;
        c.each = elements_within(b, 2 * vector_bytes / widest_element(b, false, [&](const array_argument& at) {
                                        return b.moves_along(at, axis_bit(c.along));
                                    }));
        c.element_stride = c.along == inner ? map_choice::threads : 32;
    }
    return c;
}

kernel_shape map_choice::shape() const {
    const bool vectors = how == layout::packed || how == layout::flat || how == layout::stencil;
    kernel_shape s;
    s.name = how == layout::packed    ? "packed"
             : how == layout::flat    ? "flat"
             : how == layout::along   ? "along"
             : how == layout::tiled   ? "tiled"
             : how == layout::stencil ? "stencil"
             : how == layout::counted ? "counted"
             : how == layout::joint   ? "joint"
                                      : "spread";
    s.threads = block_threads;
    s.each = vectors ? each : 1;
    s.chunks = how == layout::stencil ? chunks * aside : vectors ? chunks : each;
    s.read_ahead = ahead;
    s.lanes = loops.lanes;
    if (loops.lanes > 1) s.exchange = thread_exchange::lanes;
    if (how == layout::flat) s.source = element_source::run;
    if (how == layout::tiled) s.source = element_source::staged, s.tile = tile * tile;
    return s;
}

std::string map_choice::reason() const {
    const std::string n = std::to_string(each);
    switch (how) {
        case layout::packed:
            return n + " consecutive elements a thread in accesses of up to 16 bytes" +
                   (chunks > 1 ? ", and as many a block further on" : "") + ": the fewest instructions" +
                   loops.reason();
        case layout::joint:
            return (each > 1 ? n + " elements of a short axis a thread: what is the same along it is computed once"
                             : "lanes share the turns of a result's long loops: few results fill the GPU") +
                   loops.reason();
        case layout::flat:
            return std::to_string(chunks) + " vectors a thread, some rows apart: results are read once";
        case layout::along:
            return n + " elements a thread, apart on the axis that has been folded: results are read once";
        case layout::stencil:
            return n + " columns of " + std::to_string(chunks * aside) +
                   " rows a thread: what neighbours share of a buffer is read once" +
                   (pairs ? ", and two bytes are computed at once in a word" : "");
        case layout::tiled:
            return "squares of " + std::to_string(tile) +
                   ", transposed operands by way of shared memory: coalesced along both axes";
        case layout::counted:
            return "each block counts at " + std::to_string(bins) +
                   " places in shared memory: atomic additions to memory are few";
        case layout::spread:
            break;
    }
    return n + (each == 1 ? " element" : " elements") +
           " a thread, a block apart: coalesced at any alignment and stride" + loops.reason();
}

}  // namespace ingot::codegen
