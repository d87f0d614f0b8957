// See plan/loop_choice.hpp. Loops are unrolled while the compiler takes their statements. Rows are held in registers
// where a loop would read them again, where vectors load them, and where two operands have the same rows.
#include "codegen/plan/loop_choice.hpp"

#include <algorithm>
#include <bit>

#include "codegen/cuda/map/choice.hpp"
#include "codegen/graph/rows.hpp"
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

namespace {

constexpr std::uint32_t most_row_registers = 96;  // of 255

class loop_chooser {
public:
    loop_chooser(const cuda_kernel& b, const loop_choice& elements, bool reads_rows) : b_(b), c_(elements) {
        unroll();
        choose_rows(reads_rows);
    }

    loop_choice found() const { return c_; }

private:
    const node& at(node_id i) const { return b_.graph.nodes[i]; }
    bool is_fold(node_id i) const { return at(i).kind == node_kind::thread_fold; }
    std::uint64_t loops_of(node_id fold) const { return rows_of(b_.key, b_.graph, at(fold)).folded; }

    void unroll() {
        for (const int a : axes_in(b_.loops)) {
            if (b_.exact_extent(a) == 0) continue;
            c_.unrolled |= axis_bit(a);
            if (statements() > statement_budget) c_.unrolled &= ~axis_bit(a);
        }
    }
    std::uint64_t statements() const {
        std::uint64_t all = 0;
        for (node_id i = 0; i < b_.graph.nodes.size(); ++i) {
            if (!is_fold(i)) continue;
            std::uint64_t turns = 1 + cost_of(b_.graph, {at(i).arguments[0]});
            for (const int a : axes_in(c_.unrolled & (at(i).axes | loops_of(i)))) turns *= b_.exact_extent(a);
            if (c_.along >= 0 && (at(i).axes & axis_bit(c_.along)) != 0) turns *= c_.elements;
            all += turns;
        }
        return all;
    }

    /// The loops inside which an operand is read.
    std::uint64_t loops_around(node_id operand) const {
        std::uint64_t loops = 0;
        std::vector<bool> above(b_.graph.nodes.size());
        above[operand] = true;
        for (node_id i = operand + 1; i < above.size(); ++i)
            for (int a = 0; a < at(i).arity; ++a)
                if (above[at(i).arguments[a]]) {
                    above[i] = true;
                    if (is_fold(i)) loops |= loops_of(i);
                }
        return loops;
    }

    /// The one axis along which registers may hold a row of it: that of an unrolled loop, else that of the elements; -1
    /// where there is none.
    int row_axis(const array_argument& in) const {
        const std::uint64_t loops = at(in.node).axes & c_.unrolled, own = loops != 0 ? loops : moves_along(in.node);
        if (in.at->head.aliased || !std::has_single_bit(own)) return -1;
        return std::countr_zero(own);
    }
    std::uint64_t moves_along(node_id i) const { return c_.along < 0 ? 0 : at(i).axes & axis_bit(c_.along); }
    std::uint32_t length_of(int axis) const { return axis == c_.along ? c_.elements : b_.exact_extent(axis); }
    std::uint32_t length_of(const loop_choice::row& r) const {
        return length_of(r.axis) + (r.window ? c_.elements - 1 : 0);
    }

    /// The unrolled loop along which an operand is contiguous, as it is along the thread's elements: neighbours read
    /// overlapping windows. -1 where there is none.
    int window_axis(const array_argument& in) const {
        const auto is_contiguous = [&](int axis) { return b_.class_along(in, axis) == stride_class::unit; };
        if (in.at->head.aliased || moves_along(in.node) == 0 || !is_contiguous(c_.along)) return -1;
        int found = -1;
        for (const int axis : axes_in(at(in.node).axes & c_.unrolled & ~axis_bit(c_.along)))
            if (is_contiguous(axis)) found = axis;
        return found;
    }

    /// Whether two operands have the same elements along two axes: they are one view and move alike along all others.
    /// (Where the key says that views are the same, strides of one class along one axis are the same stride.)
    bool are_alike(const loop_choice::row& a, const loop_choice::row& b) const {
        const std::uint16_t one = at(a.operand).index, other = at(b.operand).index;
        const array_argument first{&b_.key.operands[one], "", one, false, a.operand},
            second{&b_.key.operands[other], "", other, false, b.operand};
        if (first.at->head.same_as != second.at->head.same_as || a.each != b.each || a.window != b.window ||
            length_of(a) != length_of(b) || b_.class_along(first, a.axis) != b_.class_along(second, b.axis))
            return false;
        const std::uint64_t own = axis_bit(a.axis) | axis_bit(b.axis);
        if (a.axis != b.axis &&
            ((at(a.operand).axes & axis_bit(b.axis)) != 0 || (at(b.operand).axes & axis_bit(a.axis)) != 0))
            return false;
        for (const int axis : axes_in((at(a.operand).axes | at(b.operand).axes) & ~own))
            if (b_.class_along(first, axis) != b_.class_along(second, axis)) return false;
        return true;
    }

    /// The layout loads elements of arrays that no loop reads, unless rows of all arrays are asked for.
    void choose_rows(bool of_all_arrays) {
        std::vector<loop_choice::row> found;
        std::vector<bool> gains;
        for (const auto* arrays : {&b_.inputs, &b_.looped})
            for (const array_argument& in : *arrays) {
                const int window = window_axis(in), axis = window < 0 ? row_axis(in) : window;
                if (axis < 0 || (arrays == &b_.inputs && !of_all_arrays)) continue;
                loop_choice::row r{in.node, axis, in.node, window < 0 && axis != c_.along && moves_along(in.node) != 0,
                                   window >= 0};
                const bool again = arrays == &b_.looped && (loops_around(in.node) & ~at(in.node).axes) != 0;
                bool gain = window >= 0 || arrays == &b_.inputs || again ||
                            b_.vector_of_row(r, length_of(axis)) > bytes_of(in) ||
                            b_.is_run_of_rows(r, length_of(axis), c_.along, c_.elements);
                for (std::size_t i = 0; i < found.size() && r.like == r.operand; ++i)
                    if (are_alike(found[i], r)) r.like = found[i].like, gains[i] = gain = true;
                found.push_back(r);
                gains.push_back(gain);
            }
        std::uint32_t registers = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const loop_choice::row& r = found[i];
            const auto bytes = static_cast<std::uint32_t>(detail::size_of(at(r.operand).type));
            const bool first = r.like == r.operand;
            const std::uint32_t rows = r.each ? c_.elements : 1;
            const std::uint32_t own = first ? rows * ((length_of(r) * bytes + 3) / 4) : 0;
            if (!gains[i] || registers + own > most_row_registers || (!first && c_.row_of(r.like) == nullptr)) continue;
            registers += own;
            c_.rows.push_back(r);
        }
    }

    const cuda_kernel& b_;
    loop_choice c_;
};

/// Whether each turn of some loop needs the one before it: a scan, or random numbers drawn in groups.
bool run_in_order(const cuda_kernel& b) {
    for (node_id i = 0; i < b.graph.nodes.size(); ++i)
        if (b.graph.nodes[i].kind == node_kind::thread_scan ||
            (b.is_drawn_in_groups(i) && (b.graph.nodes[i].axes & b.loops) != 0))
            return true;
    return false;
}

/// Folds whose loops lie in no other loop.
std::vector<node_id> outermost_folds(const cuda_kernel& b) {
    std::vector<node_id> found;
    for (node_id i = 0; i < b.graph.nodes.size(); ++i)
        if (b.graph.nodes[i].kind == node_kind::thread_fold && (b.graph.nodes[i].axes & b.loops) == 0)
            found.push_back(i);
    return found;
}

/// Lanes that share the turns of the long loops, so that each has at least 32 turns; half as many turns where a thread
/// has several results, as there are then fewer threads.
std::uint32_t lanes_of(const cuda_kernel& b, bool several) {
    constexpr std::uint8_t short_class = 1;
    constexpr std::uint32_t most_lanes = 32;
    std::uint8_t least = detail::length_class::looped;
    bool any = false;
    for (const node_id f : outermost_folds(b)) {
        if (b.is_short(f)) continue;
        std::uint8_t length = 0;
        for (const axis_class& a : b.key.axes)
            if (a.owner == b.graph.nodes[f].index + 1) length = std::max(length, a.length_class);
        if (b.loops_of(f).size() != 1 || length <= short_class || fold_traits(b.graph, f).is_shifted()) return 1;
        least = std::min(least, length);
        any = true;
    }
    const int power = least - (several ? 1 : 2);
    if (!any || (!several && power <= 1)) return 1;
    return std::min(most_lanes, 1u << std::min(power, 5));
}

/// Whether loops compute or read a value that is constant along an axis on which their folds' results move.
bool shares_along(const cuda_kernel& b, int axis) {
    const auto moves = [&](node_id i) { return (b.graph.nodes[i].axes & axis_bit(axis)) != 0; };
    for (const node_id f : outermost_folds(b)) {
        if (!moves(f)) continue;
        std::vector<bool> below(f + 1);
        below[f] = true;
        for (node_id i = f + 1; i-- > 0;) {
            if (!below[i]) continue;
            if ((b.graph.nodes[i].axes & b.loops) != 0 && !moves(i)) return true;
            for (int a = 0; a < b.graph.nodes[i].arity; ++a) below[b.graph.nodes[i].arguments[a]] = true;
        }
    }
    return false;
}

}  // namespace

loop_choice choose_loops(const cuda_kernel& b, int along, std::uint32_t elements) {
    if (b.loops == 0 || run_in_order(b)) return {};
    loop_choice c;
    if (elements > 1) c.along = along, c.elements = elements;
    return loop_chooser(b, c, false).found();
}

std::uint32_t lanes_of_vectors(const cuda_kernel& b) {
    constexpr std::uint32_t warp = 32;
    if (b.loops == 0 || !can_pack(b) || run_in_order(b) || !b.generators.empty() || b.has_raw() ||
        few_results(b.key, b.rank) || !shares_along(b, b.rank - 1))
        return 1;
    const std::uint32_t vector =
        elements_of_vector(b, true, [&](const array_argument& at) { return b.moves_along(at, axis_bit(b.rank - 1)); });
    return elements_within(b, vector) > 1 && lanes_of(b, true) == warp ? warp : 1;
}

std::optional<joint_layout> choose_joint(const cuda_kernel& b) {
    constexpr std::uint32_t most_elements = 8;
    if (b.loops == 0 || b.rank == 0 || run_in_order(b) || !b.unravellings.empty() || b.scatters() ||
        !b.generators.empty() || b.has_raw())
        return {};
    const int inner = b.rank - 1;
    const std::uint32_t n = b.rank > 1 ? b.exact_extent(inner) : 0;
    loop_choice c;
    if (n > 1 && n <= most_elements && n * b.cost <= statement_budget && shares_along(b, inner) &&
        std::ranges::all_of(b.outputs, [&](const array_argument& z) { return b.moves_along(z, axis_bit(inner)); }))
        c.along = inner, c.elements = n;
    c.lanes = lanes_of(b, c.elements > 1);
    if (c.elements == 1 && (c.lanes == 1 || lanes_of_vectors(b) > 1)) return {};
    const loop_choice found = loop_chooser(b, c, true).found();
    // An array that moves along the elements must be read by rows; an array whose buffer is written, or whose rows
    // exceed the registers, has none.
    const auto has_no_row = [&](const array_argument& in) {
        return b.moves_along(in, axis_bit(inner)) && found.row_of(in.node) == nullptr;
    };
    if (c.elements > 1 && std::ranges::any_of(b.inputs, has_no_row)) return {};
    return joint_layout{found};
}

std::string loop_choice::reason() const {
    std::string text;
    if (unrolled != 0)
        text += "; " + std::string(std::has_single_bit(unrolled) ? "a short loop" : "short loops") + " unrolled";
    if (!rows.empty())
        text +=
            "; rows of " + std::to_string(rows.size()) + (rows.size() == 1 ? " array" : " arrays") + " in registers";
    return text;
}

}  // namespace ingot::codegen
