// Stage 5 of classification: the classes of the key's axes, by their lengths and by how kernels walk them.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "runtime/front/class_stages.hpp"
#include "runtime/system/environment.hpp"

namespace ingot::runtime {

using detail::operand_kind;

namespace {

/// Fewer results than this do not fill a large GPU with one block each: it takes two for each of its 132
/// multiprocessors.
constexpr index_t few_rows = 264;
/// Reads a threshold from a test's environment variable.
index_t number_of_test(const char* variable, index_t otherwise) {
    const std::optional<std::string> given = environment_text(variable);
    return given ? std::atoll(given->c_str()) : otherwise;
}
/// This many results give a large GPU an eighth of the threads that it has room for. Tests with random trees set fewer.
index_t many_results() {
    static const index_t wanted = number_of_test("INGOT_TEST_MANY_RESULTS", index_t{1} << 15);
    return wanted;
}
/// Whether a loop of n elements in a thread is worth a kernel of its own: n is small, or n is short and a multiple of
/// 4.
constexpr bool is_unrolled(index_t n) { return n <= 8 || (n <= short_row && n % 4 == 0); }

/// The classes of one statement's axes, and what they are made from.
class axis_classification {
public:
    axis_classification(const statement& s, environment_class env, const class_stages& stages, axis_classes& to)
        : s_(s),
          on_gpu_(env.where == detail::target::cuda),
          size_(stages.shapes.size),
          bound_(stages.shapes.bound),
          libraries_(stages.libraries),
          axes_(stages.axes),
          to_(to),
          classes_(to.axes) {}

    void run();

private:
    bool is_scan(int owner) const { return bound_.is(detail::word_kind::scan, owner); }
    bool is_gather(int owner) const { return bound_.is(detail::word_kind::gather, owner); }
    bool is_library(int owner) const { return bound_.is(detail::word_kind::library, owner); }
    index_t largest_index(int owner) const;
    bool walks(int owner, std::size_t axis) const;
    std::uint8_t partner_of(std::size_t a) const;
    bool has_windows(std::size_t operand, int owner) const;
    bool reads_again(int owner) const;
    void write_short_rows(bool contiguous_columns);
    bool write_subclasses();
    bool write_whole_columns();
    bool cannot_stage_rows(std::size_t axis, bool contiguous_columns) const;

    const statement& s_;
    bool on_gpu_;
    index_t size_;  // of the result
    const bound_axes& bound_;
    const library_operands& libraries_;
    const collapsed_axes& axes_;
    axis_classes& to_;
    std::vector<detail::axis_class>& classes_;
};

/// The largest absolute index that an unravel reads.
index_t axis_classification::largest_index(int owner) const {
    const std::size_t pick = bound_.of(owner).pick;
    index_t low = s_.operands[pick].where->offset, high = low;
    for (std::size_t a = 0; a < axes_.count(); ++a) {
        const index_t reach = axes_.strides_of(pick)[a] * (axes_.extents[a] - 1);
        (reach > 0 ? high : low) += reach;
    }
    return std::max(std::abs(low), std::abs(high));
}

/// Whether `owner` is a scan whose results are read one after the other along `axis`.
bool axis_classification::walks(int owner, std::size_t axis) const {
    if (!is_scan(owner)) return false;
    return axes_.strides_of(bound_.of(owner).pick)[axis] == 1;
}

/// The partner of bound axis `a` is an axis that walks the same row again; the result is its number + 1, or 0.
/// Candidates have the same extent: (1) an output axis along which nothing beneath the binder moves; (2) an axis of an
/// earlier binder (two reductions of one row). A scan prefers the axis along which its result is read.
std::uint8_t axis_classification::partner_of(std::size_t a) const {
    const auto owner_of = [&](std::size_t axis) { return axes_.owners[axis]; };
    const auto may_be_partner = [&](std::size_t b) {  // and no earlier axis of this binder has it as its partner
        for (std::size_t c = a; c-- > 0 && owner_of(c) == owner_of(a);)
            if (classes_[c].partner == b + 1) return false;
        for (std::size_t i = 0; i < s_.operands.size(); ++i)
            if (axes_.strides_of(i)[a] != 0 && axes_.strides_of(i)[b] != 0) return false;
        // A scan may fold different elements for each position at which its result is read, so one loop cannot serve
        // both. An axis that is bound beneath the scan is exempt: the folded operand already has all its positions.
        const auto differs_along = [&](int scan, std::size_t axis) {
            if (!is_scan(scan)) return false;
            const operand_range folded = bound_.of(scan).below;
            const int binder = owner_of(axis);
            if (binder != 0 && binder < scan) {
                const operand_range bound = bound_.of(binder).below;
                if (bound.first >= folded.first && bound.last <= folded.last) return false;
            }
            return axes_.moves(folded, axis);
        };
        return !differs_along(owner_of(a), b) && !differs_along(owner_of(b), a);
    };
    std::uint8_t partner = 0;
    for (std::size_t b = 0; b < a; ++b) {
        if (axes_.extents[b] != axes_.extents[a] || owner_of(b) == owner_of(a) || is_gather(owner_of(b))) continue;
        const bool walked = walks(owner_of(a), b) || walks(owner_of(b), a);
        if ((partner != 0 && !walked) || !may_be_partner(b)) continue;
        partner = static_cast<std::uint8_t>(b + 1);
        if (walked) break;
    }
    return partner;
}

void axis_classification::run() {
    classes_.resize(axes_.count());
    to_.whole_columns = false;
    index_t results = size_;  // with outputs of several shapes, the size of the smallest
    for (const detail::extents_ref shape : s_.shapes) results = std::min(results, shape.size());

    index_t outer = 1, bound = 1, scanned = 1;
    bool short_rows = false;
    int last_owner = 0;
    for (std::size_t a = 0; a < axes_.count(); ++a) {
        const int owner = axes_.owners[a];
        if (owner == 0) {
            outer *= axes_.extents[a];
            continue;
        }
        if (is_library(owner) || is_gather(owner)) continue;
        bound = owner == last_owner ? bound * axes_.extents[a] : axes_.extents[a];
        last_owner = owner;
        if (is_scan(owner))
            scanned = std::max(scanned, bound);
        else if (a + 1 == axes_.count() || axes_.owners[a + 1] != owner)
            short_rows = short_rows ||
                         (bound > 1 && detail::length_class::of_length(bound) <= detail::length_class::longest_short);
    }

    // `walked` is the size of the largest space that a loop walks: the output axes, with each binder's own axes in
    // place of the output axes that it walks again and along which its result does not move.
    index_t& walked = to_.walked = outer;
    index_t again = 1;
    bool loops_in_threads = false;
    const bool reduces = (s_.kinds & has_reductions) != 0;
    const bool folds = reduces || (s_.kinds & has_scans) != 0;
    to_.short_rows = reduces && short_rows && size_ >= few_rows;
    const bool gapless = reduces && (s_.kinds & has_scans) == 0 && axes_.are_contiguous_columns(s_);
    const auto has_eight_bytes = [&] {
        return std::ranges::any_of(s_.operands, [](const operand& o) {
            return o.kind == operand_kind::array && detail::size_of(o.type) == 8;
        });
    };
    for (std::size_t a = 0; a < axes_.count(); ++a) {
        detail::axis_class& axis = classes_[a] = {};
        axis.owner = static_cast<std::uint16_t>(axes_.owners[a]);
        const bool last_of_owner = a + 1 == axes_.count() || axes_.owners[a + 1] != axis.owner;
        if (axis.owner == 0) {
            if (last_of_owner && axes_.outer > 1 && axes_.inner() < short_row)
                axis.flags |= detail::axis_flags::short_inner;
            if (last_of_owner && gapless)
                axis.flags |= detail::axis_flags::of_contiguous(axes_.inner(), has_eight_bytes());
            if (a == 0 && folds && results / scanned < few_rows) axis.flags |= detail::axis_flags::few_rows;
            if (!last_of_owner && axes_.extents[a] < short_row && axes_.lies_across(s_, a))
                axis.flags |= detail::axis_flags::short_side;
        } else {
            index_t length = axes_.extents[a];
            if (is_gather(axis.owner)) {  // a gather reads one position, however long the axis is
                walked = std::max(walked, length);
                continue;
            }
            for (std::size_t b = a; last_of_owner && b-- > 0 && axes_.owners[b] == axis.owner;)
                length *= axes_.extents[b];
            if (bound_.is(detail::word_kind::unravel, axis.owner)) {  // no loop walks the axis, whatever its length
                if (last_of_owner) walked = std::max({walked, length, largest_index(axis.owner)});
                continue;
            }
            axis.partner = partner_of(a);
            if (is_library(axis.owner)) {
                if (last_of_owner) walked = std::max(walked, libraries_.largest_array(axis.owner, axes_, bound_));
                axis.flags = length < short_row ? detail::axis_flags::short_inner : 0;
                continue;
            }
            if (last_of_owner) {
                const bool held = on_gpu_ && reduces && axis.partner != 0;
                const bool along = axis.partner == axes_.outer;
                const auto row = held ? detail::length_class::of_row(length, along && !has_eight_bytes())
                                      : detail::length_class::row_class{detail::length_class::of_length(length), 0};
                axis.length_class = row.length_class, axis.subclass = row.subclass;
                if (on_gpu_ && reads_again(axis.owner)) {
                    axis.flags |= detail::axis_flags::reads_again;
                    if (length == axes_.extents[a] && is_unrolled(length))
                        axis.extent = static_cast<std::uint8_t>(length);
                    loops_in_threads = true;
                }
            }
            std::size_t partner = axis.partner - std::size_t{1};
            while (partner < a && partner >= axes_.outer) partner = classes_[partner].partner - std::size_t{1};
            if (partner < axes_.outer && !axes_.moves(bound_.of(axis.owner).below, partner)) again *= axes_.extents[a];
            if (last_of_owner) walked = std::max(walked, outer / std::exchange(again, 1) * length);
        }
    }
    if (loops_in_threads && axes_.outer > 1 && axes_.inner() < short_row && is_unrolled(axes_.inner()))
        classes_[axes_.outer - 1].extent = static_cast<std::uint8_t>(axes_.inner());
    if (!on_gpu_) return;
    if (folds && size_ >= few_rows) write_short_rows(gapless);
    if (reduces && write_subclasses()) to_.short_rows = size_ >= few_rows;
    to_.whole_columns = (s_.kinds & has_scans) != 0 && write_whole_columns();
}

/// Whether each result folds a small window of an operand, and neighbouring results lie so close that a warp's reads of
/// one element each fill whole sectors: windows that overlap (along each axis that the binder binds the operand has the
/// stride that it has along an outer axis), or blocks of an image.
bool axis_classification::has_windows(std::size_t operand, int owner) const {
    constexpr index_t most_elements = 256, most_of_block = 64, farthest_neighbour = 4;
    const index_t* const strides = axes_.strides_of(operand);
    const std::size_t outer = axes_.outer;
    // Beneath another fold the operand moves along that fold's axis, which walks the outer one again.
    const auto stride_along = [&](std::size_t outer_axis) {
        for (std::size_t a = outer; strides[outer_axis] == 0 && a < axes_.count(); ++a)
            if (axes_.owners[a] != owner && strides[a] != 0 && !is_gather(axes_.owners[a]) &&
                partner_of(a) == outer_axis + 1)
                return strides[a];
        return strides[outer_axis];
    };
    const index_t inner = outer == 0 ? 0 : stride_along(outer - 1);
    if (inner < 1 || inner > farthest_neighbour) return false;
    std::size_t bound = 0;
    index_t elements = 1;
    bool overlap = inner == 1;
    for (std::size_t a = outer; a < axes_.count(); ++a) {
        if (axes_.owners[a] != owner || strides[a] == 0) continue;
        ++bound;
        elements *= axes_.extents[a];
        bool overlaps_along = false;
        for (std::size_t b = 0; b < outer; ++b)
            overlaps_along = overlaps_along || (stride_along(b) == strides[a] && axes_.extents[b] > axes_.extents[a]);
        overlap = overlap && overlaps_along;
    }
    return overlap ? elements <= most_elements : bound > 1 && elements <= most_of_block;
}

/// Whether a binder's axes get axis_flags::reads_again: its results are many, and no array moves along all axes of the
/// folded value, but in small windows. These are the axes that something beneath the binder moves along, without those
/// bound beneath it.
bool axis_classification::reads_again(int owner) const {
    const operand_range below = bound_.of(owner).below;
    const auto is_bound_beneath = [&](int other) {
        const operand_range range = bound_.of(other).below;
        return other < owner && range.first >= below.first && range.last <= below.last;
    };
    index_t results = 1;
    std::uint64_t along = 0;
    for (std::size_t a = 0; a < axes_.count(); ++a) {
        const int of = axes_.owners[a];
        if (!axes_.moves(below, a) || (of != 0 && of != owner && is_bound_beneath(of))) continue;
        along |= std::uint64_t{1} << a;
        if (of != owner) results *= axes_.extents[a];
    }
    if (results < many_results()) return false;
    for (std::size_t i = below.first; i < below.last; ++i) {
        if (s_.operands[i].kind != operand_kind::array) continue;
        bool everywhere = true;
        for (std::size_t a = 0; a < axes_.count(); ++a)
            everywhere = everywhere && ((along >> a & 1u) == 0 || axes_.strides_of(i)[a] != 0);
        if (everywhere && !has_windows(i, owner)) return false;
    }
    return true;
}

/// Writes the subclass of rows in the first length class that blocks cannot stage as one run of memory.
void axis_classification::write_short_rows(bool contiguous_columns) {
    for (std::size_t a = axes_.outer; a < axes_.count(); ++a) {
        detail::axis_class& row = classes_[a];
        const bool in_threads = (row.flags & detail::axis_flags::reads_again) != 0;  // each thread loops over a row
        if (row.length_class != 1 || in_threads || !cannot_stage_rows(a, contiguous_columns)) continue;
        index_t length = axes_.extents[a];
        for (std::size_t b = a; b-- > axes_.outer && classes_[b].owner == row.owner;) length *= axes_.extents[b];
        row.subclass = static_cast<std::uint8_t>(1 + detail::length_class::power_of(length));
    }
}

/// Writes the subclasses of rows with strided elements. Returns whether one has its exact axes_.inner() extent in the
/// key (few rows side by side).
bool axis_classification::write_subclasses() {
    if (axes_.outer == 0) return false;
    bool runs = false;
    detail::axis_class& last = classes_[axes_.outer - 1];
    const bool narrow = axes_.outer > 1 && axes_.inner() < short_row;
    for (std::size_t a = axes_.outer; a < axes_.count(); ++a) {
        detail::axis_class& row = classes_[a];
        bool across = row.length_class != 0 && (row.partner != 0 || (!narrow && !is_scan(row.owner)));
        for (std::size_t i = 0; i < s_.operands.size(); ++i) across = across && axes_.strides_of(i)[a] != 1;
        if (!across) continue;
        if (narrow) {
            if (row.subclass != 0 && row.length_class == 1) continue;  // a thread computes a whole row
            last.extent = static_cast<std::uint8_t>(axes_.inner());
            runs = true;
        } else {
            if (row.partner != 0 && axes_.outer == (row.partner > axes_.outer ? 1 : 2))
                last.flags |= detail::axis_flags::of_columns(row.length_class, axes_.inner());
            if (row.partner != 0 && detail::length_class::want_many_blocks(row.length_class) && axes_.inner() % 8 == 0)
                last.flags |= detail::axis_flags::whole_sectors;
            if (classes_[a - 1].owner != row.owner && row.length_class == 1)
                row.subclass = static_cast<std::uint8_t>(1 + detail::length_class::power_of(axes_.extents[a]));
        }
    }
    return runs;
}

/// Writes the exact width of scanned columns where one block holds them whole.
bool axis_classification::write_whole_columns() {
    bool whole = false;
    if (axes_.outer < 2 || axes_.inner() >= short_row) return false;
    for (std::size_t a = axes_.outer; a < axes_.count(); ++a) {
        const detail::axis_class& row = classes_[a];
        whole |= is_scan(row.owner) && !walks(row.owner, axes_.outer - 1) && row.length_class != 0 &&
                 detail::length_class::is_whole(row.length_class, axes_.inner());
    }
    if (whole) classes_[axes_.outer - 1].extent = static_cast<std::uint8_t>(axes_.inner());
    return whole;
}

/// Whether blocks cannot stage the rows along a bound axis as runs of memory: they have several axes, are scanned, come
/// from a random leaf, or have gaps in some array.
bool axis_classification::cannot_stage_rows(std::size_t axis, bool contiguous_columns) const {
    const detail::axis_class& row = classes_[axis];
    if (is_scan(row.owner)) return true;
    if (contiguous_columns) return false;
    if (classes_[axis - 1].owner == row.owner) return true;
    std::size_t output_axis = row.partner - std::size_t{1};
    while (output_axis >= axes_.outer && output_axis < axis)
        output_axis = classes_[output_axis].partner - std::size_t{1};
    const auto is_staged = [&](std::size_t i, std::uintptr_t address) {
        const index_t* const strides = axes_.strides_of(i);
        const std::size_t along = strides[axis] != 0                                       ? axis
                                  : output_axis < axes_.outer && strides[output_axis] != 0 ? output_axis
                                                                                           : axis;
        if (strides[along] == 0) return true;
        bool same_in_all = true;
        for (std::size_t a = 0; a < axes_.outer; ++a)
            same_in_all = same_in_all && (a == output_axis || strides[a] == 0);
        return same_in_all || axes_.is_run_of_rows(i, address, along, output_axis);
    };
    for (std::size_t i = 0; i < s_.operands.size(); ++i) {
        const operand& o = s_.operands[i];
        if (o.kind == operand_kind::generator && axes_.strides_of(i)[axis] != 0) return true;
        if (o.kind == operand_kind::array && !is_staged(i, address_of(*o.memory, *o.where, o.type))) return true;
    }
    for (std::size_t k = 0; k < s_.outputs.size(); ++k) {
        const output& o = s_.outputs[k];
        const std::uintptr_t address = *o.memory ? address_of(**o.memory, *o.where, o.type) : 0;
        if (output_axis < axes_.outer && !o.scattered && !is_staged(s_.operands.size() + k, address)) return true;
    }
    return false;
}

}  // namespace

void axis_classes::find(const statement& s, environment_class env, const class_stages& stages) {
    axis_classification(s, env, stages, *this).run();
}

index_t narrow_reach() {
    static const index_t reach = number_of_test("INGOT_TEST_NARROW_REACH", index_t{1} << 31);
    return reach;
}

}  // namespace ingot::runtime
