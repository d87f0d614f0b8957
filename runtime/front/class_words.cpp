// The words of a key: axes, operands, outputs.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <ingot/kernels/kernel_text.hpp>

#include "runtime/front/classify.hpp"
#include "runtime/system/environment.hpp"

namespace ingot::runtime {

using detail::operand_kind;
using detail::word;

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

}  // namespace

index_t narrow_reach() {
    static const index_t reach = number_of_test("INGOT_TEST_NARROW_REACH", index_t{1} << 31);
    return reach;
}

std::uint8_t few_places_of(const statement& s, const output& o, detail::target where) {
    if (where != detail::target::cuda || !o.scattered || !*o.memory ||
        detail::kind_of(o.type) != detail::kind::integer || detail::size_of(o.type) < 4)
        return 0;
    // A scatter's value is the first word of the program, its rule the last.
    const bool adds_scalar =
        s.operands[0].kind == operand_kind::scalar &&
        detail::kind_of_word(s.program.front()) == detail::word_kind::scalar &&
        detail::code_of_word(s.program.back()) == static_cast<std::uint32_t>(detail::scatter_rule::add);
    const std::uint64_t elements = (*o.memory)->bytes / detail::size_of(o.type);
    for (std::uint8_t k = 8; adds_scalar && k <= 14; k += 2)
        if (elements <= std::uint64_t{1} << k) return k;
    return 0;
}

std::uint16_t classifier::first_equal_operand(const statement& s, std::size_t i) {
    const operand& o = s.operands[i];
    for (const std::uint16_t k : distinct_) {
        if (!have_one_origin(s.operands[k], o)) continue;
        if (o.where == nullptr || axes_.has_strides_of(i, k)) return k;
        // Along other axes, a view may equal two views that differ from each other.
        const auto unlike = [&](const matched_view& v) { return v.first == k && !axes_.is_same_view(i, v.operand); };
        if (!axes_.is_same_view(i, k) || std::ranges::any_of(matched_along_other_axes_, unlike)) continue;
        matched_along_other_axes_.push_back({static_cast<std::uint16_t>(i), k});
        return k;
    }
    distinct_.push_back(static_cast<std::uint16_t>(i));
    return distinct_.back();
}

detail::operand_head classifier::head_of_operand(const statement& s, std::size_t i) {
    const operand& o = s.operands[i];
    detail::operand_head head;
    head.kind = o.kind;
    head.type = o.type;
    head.exponent = o.exponent;
    head.same_as = first_equal_operand(s, i);
    if (!indices_.of_operands.empty()) head.index = static_cast<detail::index_use>(indices_.of_operands[i]);
    const std::size_t bytes = detail::size_of(o.type);
    switch (o.kind) {
        case operand_kind::array: {
            const std::uintptr_t address = address_of(*o.memory, *o.where, o.type);
            head.vector = axes_.is_vector(i, address, bytes, vector_bytes);
            head.dense = (short_rows_ && axes_.is_dense(i, address)) ||
                         (whole_columns_ != 0 && axes_.is_run_of_columns(i, address));
            head.wide = axes_.is_wide(i, bytes);
            head.repeats = folds_ && axes_.repeats_elements(i);
            if (!libraries_.uses.empty() && libraries_.uses[i].owner != 0)
                head.suits_library = libraries_.suits(i, axes_, address);
            for (const output& out : s.outputs) head.aliased |= *out.memory && share_bytes(**out.memory, *o.memory);
            break;
        }
        case operand_kind::generator:  // four counters make one call of the generator
            head.vector = axes_.is_vector(i, static_cast<std::uintptr_t>(o.where->offset), 1, 4);
            head.wide = axes_.is_wide(i, 1);
            break;
        case operand_kind::pick:
            head.wide = axes_.is_wide(i, 1);
            if (!libraries_.uses.empty() && libraries_.uses[i].picks)
                head.vector = libraries_.is_vector(i, axes_, o.where->offset);
            break;
        default:
            break;
    }
    return head;
}

/// The largest absolute index that an unravel reads.
index_t classifier::largest_index(const statement& s, int owner) const {
    const std::size_t pick = shapes_.bound.of(owner).pick;
    index_t low = s.operands[pick].where->offset, high = low;
    for (std::size_t a = 0; a < axes_.extents.size(); ++a) {
        const index_t reach = axes_.strides_of(pick)[a] * (axes_.extents[a] - 1);
        (reach > 0 ? high : low) += reach;
    }
    return std::max(std::abs(low), std::abs(high));
}

/// Whether `owner` is a scan whose results are read one after the other along `axis`.
bool classifier::walks(int owner, std::size_t axis) const {
    if (!is_scan(owner)) return false;
    return axes_.strides_of(shapes_.bound.of(owner).pick)[axis] == 1;
}

/// The partner of bound axis `a` is an axis that walks the same row again; the result is its number + 1, or 0.
/// Candidates have the same extent: (1) an output axis along which nothing beneath the binder moves; (2) an axis of an
/// earlier binder (two reductions of one row). A scan prefers the axis along which its result is read.
std::uint8_t classifier::partner_of(const statement& s, std::size_t a) const {
    const auto owner_of = [&](std::size_t axis) { return axes_.owners[axis]; };
    const auto may_be_partner = [&](std::size_t b) {  // and no earlier axis of this binder has it as its partner
        for (std::size_t c = a; c-- > 0 && owner_of(c) == owner_of(a);)
            if (axis_of_key(c).partner == b + 1) return false;
        for (std::size_t i = 0; i < s.operands.size(); ++i)
            if (axes_.strides_of(i)[a] != 0 && axes_.strides_of(i)[b] != 0) return false;
        // A scan may fold different elements for each position at which its result is read, so one loop cannot serve
        // both. An axis that is bound beneath the scan is exempt: the folded operand already has all its positions.
        const auto differs_along = [&](int scan, std::size_t axis) {
            if (!is_scan(scan)) return false;
            const operand_range folded = shapes_.bound.of(scan).below;
            const int binder = owner_of(axis);
            if (binder != 0 && binder < scan) {
                const operand_range bound = shapes_.bound.of(binder).below;
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

void classifier::write_words(const statement& s, environment_class env, std::uint8_t kinds) {
    const std::size_t axes = axes_.extents.size();
    index_t results = c_.size;  // with outputs of several shapes, the size of the smallest
    for (const detail::extents_ref shape : s.shapes) results = std::min(results, shape.size());

    index_t outer = 1, inner = 1, bound = 1, scanned = 1;
    bool short_rows = false;
    int last_owner = 0;
    const std::size_t outer_axes = axes_.outer;
    for (std::size_t a = 0; a < axes; ++a) {
        const int owner = axes_.owners[a];
        if (owner == 0) {
            outer *= axes_.extents[a];
            inner = axes_.extents[a];
            continue;
        }
        if (is_library(owner) || is_gather(owner)) continue;
        bound = owner == last_owner ? bound * axes_.extents[a] : axes_.extents[a];
        last_owner = owner;
        if (is_scan(owner))
            scanned = std::max(scanned, bound);
        else if (a + 1 == axes || axes_.owners[a + 1] != owner)
            short_rows = short_rows ||
                         (bound > 1 && detail::length_class::of_length(bound) <= detail::length_class::longest_short);
    }

    detail::key_header header;
    header.where = env.where;
    header.math = env.math;
    header.architecture = env.architecture;
    header.outputs = static_cast<std::uint32_t>(s.outputs.size());
    header.program = static_cast<std::uint32_t>(s.program.size());
    header.operands = static_cast<std::uint32_t>(s.operands.size());
    header.axes = static_cast<std::uint32_t>(axes);

    const std::uint32_t per_row = detail::head_words + detail::stride_words(header.axes);
    c_.words.resize(detail::key_header_words + detail::axis_words * axes +
                    per_row * (s.operands.size() + s.outputs.size()));
    std::uint32_t* out = c_.words.data() + detail::key_header_words;

    // `walked` is the size of the largest space that a loop walks: the output axes, with each binder's own axes in
    // place of the output axes that it walks again and along which its result does not move.
    index_t walked = outer, again = 1;
    bool loops_in_threads = false;
    const bool reduces = (kinds & has_reductions) != 0;
    const bool folds = reduces || (kinds & has_scans) != 0;
    folds_ = folds && env.where == detail::target::cuda;
    short_rows_ = reduces && short_rows && c_.size >= few_rows;
    const bool gapless = reduces && (kinds & has_scans) == 0 && axes_.are_contiguous_columns(s);
    const auto has_eight_bytes = [&] {
        return std::ranges::any_of(
            s.operands, [](const operand& o) { return o.kind == operand_kind::array && detail::size_of(o.type) == 8; });
    };
    for (std::size_t a = 0; a < axes; ++a) {
        detail::axis_class axis;
        axis.owner = static_cast<std::uint16_t>(axes_.owners[a]);
        const bool last_of_owner = a + 1 == axes || axes_.owners[a + 1] != axis.owner;
        if (axis.owner == 0) {
            if (last_of_owner && outer_axes > 1 && inner < short_row) axis.flags |= detail::axis_flags::short_inner;
            if (last_of_owner && gapless) axis.flags |= detail::axis_flags::of_contiguous(inner, has_eight_bytes());
            if (a == 0 && folds && results / scanned < few_rows) axis.flags |= detail::axis_flags::few_rows;
            if (!last_of_owner && axes_.extents[a] < short_row && axes_.lies_across(s, a))
                axis.flags |= detail::axis_flags::short_side;
        } else {
            index_t length = axes_.extents[a];
            if (is_gather(axis.owner)) {  // a gather reads one position, however long the axis is
                walked = std::max(walked, length);
                set_axis_of_key(a, axis);
                continue;
            }
            for (std::size_t b = a; last_of_owner && b-- > 0 && axes_.owners[b] == axis.owner;)
                length *= axes_.extents[b];
            if (shapes_.bound.is(detail::word_kind::unravel,
                                 axis.owner)) {  // no loop walks the axis, whatever its length
                if (last_of_owner) walked = std::max({walked, length, largest_index(s, axis.owner)});
                set_axis_of_key(a, axis);
                continue;
            }
            axis.partner = partner_of(s, a);
            if (is_library(axis.owner)) {
                if (last_of_owner)
                    walked = std::max(walked, libraries_.largest_array(axis.owner, axes_, shapes_.bound));
                axis.flags = length < short_row ? detail::axis_flags::short_inner : 0;
                set_axis_of_key(a, axis);
                continue;
            }
            if (last_of_owner) {
                const bool held = env.where == detail::target::cuda && reduces && axis.partner != 0;
                const bool along = axis.partner == outer_axes;
                const auto row = held ? detail::length_class::of_row(length, along && !has_eight_bytes())
                                      : detail::length_class::row_class{detail::length_class::of_length(length), 0};
                axis.length_class = row.length_class, axis.subclass = row.subclass;
                if (env.where == detail::target::cuda && reads_again(s, axis.owner)) {
                    axis.flags |= detail::axis_flags::reads_again;
                    if (length == axes_.extents[a] && is_unrolled(length))
                        axis.extent = static_cast<std::uint8_t>(length);
                    loops_in_threads = true;
                }
            }
            std::size_t partner = axis.partner - std::size_t{1};
            while (partner < a && partner >= outer_axes) partner = axis_of_key(partner).partner - std::size_t{1};
            if (partner < outer_axes && !axes_.moves(shapes_.bound.of(axis.owner).below, partner))
                again *= axes_.extents[a];
            if (last_of_owner) walked = std::max(walked, outer / std::exchange(again, 1) * length);
        }
        set_axis_of_key(a, axis);
    }
    if (loops_in_threads && outer_axes > 1 && inner < short_row && is_unrolled(inner)) {
        detail::axis_class last = axis_of_key(outer_axes - 1);
        last.extent = static_cast<std::uint8_t>(inner);
        set_axis_of_key(outer_axes - 1, last);
    }
    out += detail::axis_words * axes;
    if (folds && env.where == detail::target::cuda && c_.size >= few_rows) write_short_rows(s, outer_axes, gapless);
    if (reduces && env.where == detail::target::cuda && write_subclasses(s.operands.size(), outer_axes, inner))
        short_rows_ = c_.size >= few_rows;
    whole_columns_ =
        (kinds & has_scans) != 0 && env.where == detail::target::cuda && write_whole_columns(outer_axes, inner)
            ? outer_axes
            : 0;
    // Kernels for related views compute indices a few elements beyond the ends of rows.
    const index_t beyond = !axes_.keep_relations ? 0 : iteration_.steps > 1 ? 512 : 64;
    header.wide_index = walked >= narrow_reach() - std::min(beyond, narrow_reach());
    detail::write_header(header, c_.words.data());

    distinct_.clear();
    matched_along_other_axes_.clear();
    const auto write_strides = [&](std::size_t row) {
        std::fill_n(out, per_row - detail::head_words, 0u);
        for (std::size_t a = 0; a < axes; ++a) {
            const index_t stride = axes_.strides_of(row)[a];
            const auto c = stride == 0   ? detail::stride_class::broadcast
                           : stride == 1 ? detail::stride_class::unit
                                         : detail::stride_class::strided;
            out[a / detail::stride_classes_per_word] |= static_cast<std::uint32_t>(c)
                                                        << (2 * (a % detail::stride_classes_per_word));
        }
        out += per_row - detail::head_words;
    };
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        head_of_operand(s, i).write(out);
        out += detail::head_words;
        write_strides(i);
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        const std::size_t bytes = detail::size_of(o.type);
        detail::operand_head head;
        head.type = o.type;
        const std::uintptr_t address = *o.memory ? address_of(**o.memory, *o.where, o.type) : 0;
        head.vector = axes_.is_vector(s.operands.size() + k, address, bytes, vector_bytes);
        const std::size_t row = s.operands.size() + k;
        head.dense = (short_rows_ && axes_.is_dense(row, address)) ||
                     (whole_columns_ != 0 && axes_.is_run_of_columns(row, address));
        head.wide = axes_.is_wide(s.operands.size() + k, bytes);
        if (!libraries_.outputs.empty())
            head.suits_library = libraries_.writes(s, k, axes_, shapes_) &&
                                 (!libraries_.outputs[k].biased || libraries_.adds_bias_in_call(k, axes_, env));
        head.few_places = few_places_of(s, o, env.where);
        head.write(out);
        out += detail::head_words;
        write_strides(s.operands.size() + k);
    }
    if ((kinds & has_texts) != 0) append_texts(s);
    if (axes_.keep_relations) relations_.append_to(c_.words, shapes_.bound, axes_, distinct_);
    if (iteration_.steps > 1) iteration_.append_to(c_.words);
}

/// Whether a binder's axes get axis_flags::reads_again: its results are many, and no array moves along all axes of the
/// folded value. These are the axes that something beneath the binder moves along, without those bound beneath it.
bool classifier::reads_again(const statement& s, int owner) const {
    const operand_range below = shapes_.bound.of(owner).below;
    const auto is_bound_beneath = [&](int other) {
        const operand_range range = shapes_.bound.of(other).below;
        return other < owner && range.first >= below.first && range.last <= below.last;
    };
    index_t results = 1;
    std::uint64_t along = 0;
    for (std::size_t a = 0; a < axes_.extents.size(); ++a) {
        const int of = axes_.owners[a];
        if (!axes_.moves(below, a) || (of != 0 && of != owner && is_bound_beneath(of))) continue;
        along |= std::uint64_t{1} << a;
        if (of != owner) results *= axes_.extents[a];
    }
    if (results < many_results()) return false;
    for (std::size_t i = below.first; i < below.last; ++i) {
        if (s.operands[i].kind != operand_kind::array) continue;
        bool everywhere = true;
        for (std::size_t a = 0; a < axes_.extents.size(); ++a)
            everywhere = everywhere && ((along >> a & 1u) == 0 || axes_.strides_of(i)[a] != 0);
        if (everywhere) return false;
    }
    return true;
}

/// Writes the subclass of rows in the first length class that blocks cannot stage as one run of memory.
void classifier::write_short_rows(const statement& s, std::size_t outer_axes, bool contiguous_columns) {
    for (std::size_t a = outer_axes; a < axes_.extents.size(); ++a) {
        detail::axis_class row = axis_of_key(a);
        const bool in_threads = (row.flags & detail::axis_flags::reads_again) != 0;  // each thread loops over a row
        if (row.length_class != 1 || in_threads || !cannot_stage_rows(s, a, outer_axes, contiguous_columns)) continue;
        index_t length = axes_.extents[a];
        for (std::size_t b = a; b-- > outer_axes && axis_of_key(b).owner == row.owner;) length *= axes_.extents[b];
        row.subclass = static_cast<std::uint8_t>(1 + detail::length_class::power_of(length));
        set_axis_of_key(a, row);
    }
}

/// Writes the subclasses of rows with strided elements. Returns whether one has its exact inner extent in the key (few
/// rows side by side).
bool classifier::write_subclasses(std::size_t operands, std::size_t outer_axes, index_t inner) {
    if (outer_axes == 0) return false;
    bool runs = false;
    const bool narrow = outer_axes > 1 && inner < short_row;
    for (std::size_t a = outer_axes; a < axes_.extents.size(); ++a) {
        detail::axis_class row = axis_of_key(a);
        bool across = row.length_class != 0 && (row.partner != 0 || (!narrow && !is_scan(row.owner)));
        for (std::size_t i = 0; i < operands; ++i) across = across && axes_.strides_of(i)[a] != 1;
        if (!across) continue;
        detail::axis_class last = axis_of_key(outer_axes - 1);
        if (narrow) {
            if (row.subclass != 0 && row.length_class == 1) continue;  // a thread computes a whole row
            last.extent = static_cast<std::uint8_t>(inner);
            runs = true;
        } else {
            if (row.partner != 0 && outer_axes == (row.partner > outer_axes ? 1 : 2))
                last.flags |= detail::axis_flags::of_columns(row.length_class, inner);
            if (row.partner != 0 && detail::length_class::want_many_blocks(row.length_class) && inner % 8 == 0)
                last.flags |= detail::axis_flags::whole_sectors;
            if (axis_of_key(a - 1).owner != row.owner && row.length_class == 1)
                row.subclass = static_cast<std::uint8_t>(1 + detail::length_class::power_of(axes_.extents[a]));
            set_axis_of_key(a, row);
        }
        set_axis_of_key(outer_axes - 1, last);
    }
    return runs;
}

bool classifier::write_whole_columns(std::size_t outer_axes, index_t inner) {
    bool whole = false;
    if (outer_axes < 2 || inner >= short_row) return false;
    for (std::size_t a = outer_axes; a < axes_.extents.size(); ++a) {
        const detail::axis_class row = axis_of_key(a);
        whole |= is_scan(row.owner) && !walks(row.owner, outer_axes - 1) && row.length_class != 0 &&
                 detail::length_class::is_whole(row.length_class, inner);
    }
    if (whole) {
        detail::axis_class last = axis_of_key(outer_axes - 1);
        last.extent = static_cast<std::uint8_t>(inner);
        set_axis_of_key(outer_axes - 1, last);
    }
    return whole;
}

/// Whether blocks cannot stage the rows along a bound axis as runs of memory: they have several axes, are scanned, come
/// from a random leaf, or have gaps in some array.
bool classifier::cannot_stage_rows(const statement& s, std::size_t axis, std::size_t outer_axes,
                                   bool contiguous_columns) const {
    const detail::axis_class row = axis_of_key(axis);
    if (is_scan(row.owner)) return true;
    if (contiguous_columns) return false;
    if (axis_of_key(axis - 1).owner == row.owner) return true;
    std::size_t output_axis = row.partner - std::size_t{1};
    while (output_axis >= outer_axes && output_axis < axis)
        output_axis = axis_of_key(output_axis).partner - std::size_t{1};
    const auto is_staged = [&](std::size_t i, std::uintptr_t address) {
        const index_t* const strides = axes_.strides_of(i);
        const std::size_t along = strides[axis] != 0                                      ? axis
                                  : output_axis < outer_axes && strides[output_axis] != 0 ? output_axis
                                                                                          : axis;
        if (strides[along] == 0) return true;
        bool same_in_all = true;
        for (std::size_t a = 0; a < outer_axes; ++a) same_in_all = same_in_all && (a == output_axis || strides[a] == 0);
        return same_in_all || axes_.is_run_of_rows(i, address, along, output_axis);
    };
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        if (o.kind == operand_kind::generator && axes_.strides_of(i)[axis] != 0) return true;
        if (o.kind == operand_kind::array && !is_staged(i, address_of(*o.memory, *o.where, o.type))) return true;
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        const std::uintptr_t address = *o.memory ? address_of(**o.memory, *o.where, o.type) : 0;
        if (output_axis < outer_axes && !o.scattered && !is_staged(s.operands.size() + k, address)) return true;
    }
    return false;
}

void classifier::append_texts(const statement& s) {
    for (const std::uint16_t i : distinct_) {
        if (s.operands[i].kind != operand_kind::text) continue;
        const auto& text = *reinterpret_cast<const detail::kernel_text*>(s.operands[i].bits[0]);
        const std::uint64_t binding = s.operands[i].bits[1];
        c_.words.insert(c_.words.end(),
                        {detail::section_head(detail::key_section::text, 2 + text.words.size()),
                         static_cast<std::uint32_t>(binding), static_cast<std::uint32_t>(binding >> 32)});
        c_.words.insert(c_.words.end(), text.words.begin(), text.words.end());
    }
}

void classifier::full_key(const classified& c, std::span<const word> program, std::vector<std::uint32_t>& key) {
    const auto head = c.words.begin() + detail::key_header_words;
    key.assign(c.words.begin(), head);
    key.insert(key.end(), program.begin(), program.end());
    key.insert(key.end(), head, c.words.end());
}

}  // namespace ingot::runtime
