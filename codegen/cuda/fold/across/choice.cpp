// See choice.hpp. Layouts for special columns are tried first: short columns that are staged or unrolled, then columns
// read by vectors wherever rows begin. Any columns can be read where they lie.
#include "codegen/cuda/fold/across/choice.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

column_fold_choice choose_column_fold(const folded_kernel& f) {
    if (const auto c = choose_staged_columns(f)) return *c;
    if (const auto c = choose_unrolled_columns(f)) return *c;
    if (const auto c = choose_column_strips(f)) return *c;
    if (const auto c = choose_contiguous_columns(f)) return *c;
    return choose_direct_columns(f);
}

kernel_shape column_layout::shape_of(std::string_view name, std::uint32_t chunks, thread_exchange unless_split) const {
    kernel_shape s;
    s.name = name;
    s.threads = threads;
    s.each = tile_columns;
    s.chunks = chunks;
    s.exchange = split ? thread_exchange::scratch : unless_split;
    s.resident_blocks = resident_blocks;
    return s;
}

std::string column_layout::where_they_lie(const std::string& threads_of_columns, bool tiles_ahead) const {
    return (columns == 1 ? "a column" : std::to_string(columns) + " columns") +
           " a thread, neighbours read neighbours" + threads_of_columns + ahead_and_shared(tiles_ahead) +
           ": memory runs across what is folded";
}

std::string column_layout::ahead_and_shared(bool tiles_ahead) const {
    return std::string(tiles_ahead ? ", a tile on its way while one is joined" : "") +
           (split ? ", several blocks a column for there are too few to fill the GPU" : "");
}

const axis_class& inner_class_of(const folded_kernel& f) {
    return f.kernel().key.axes[static_cast<std::size_t>(inner_axis(f))];
}

bool inner_is(const folded_kernel& f, std::uint16_t flags) { return (inner_class_of(f).flags & flags) == flags; }

bool splits_columns(const folded_kernel& f) {
    constexpr std::uint8_t longest_of_one_block = 5;  // 512 elements
    return f.length_class() > longest_of_one_block;
}

bool folds_one_axis_of_arrays(const folded_kernel& f) {
    const folded_space& s = f.longest_space();
    return f.spaces().size() == 1 && s.axes.size() == 1 && s.outputs.empty() && f.kernel().generators.empty() &&
           f.kernel().unravellings.empty() && !f.inputs_of(s).empty();
}

bool moves_everywhere(const folded_kernel& f, const array_argument& in) {
    return f.loops_of(in) == (f.kept_bits() | f.longest_space().bits());
}

bool are_aligned(const std::vector<const array_argument*>& inputs) {
    return std::ranges::all_of(inputs, [](const array_argument* in) { return in->at->head.vector; });
}

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

}  // namespace ingot::codegen
