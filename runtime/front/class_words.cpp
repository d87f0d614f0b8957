// Stage 5 of classification: the words of a key: header, axes, operands, outputs, texts.
#include <algorithm>

#include <ingot/kernels/kernel_text.hpp>

#include "runtime/front/class_stages.hpp"

namespace ingot::runtime {

using detail::operand_kind;

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

std::uint16_t class_words::first_equal_operand(const statement& s, std::size_t i, const collapsed_axes& axes) {
    const operand& o = s.operands[i];
    for (const std::uint16_t k : distinct_) {
        if (!have_one_origin(s.operands[k], o)) continue;
        if (o.where == nullptr || axes.has_strides_of(i, k)) return k;
        // Along other axes, a view may equal two views that differ from each other.
        const auto unlike = [&](const matched_view& v) { return v.first == k && !axes.is_same_view(i, v.operand); };
        if (!axes.is_same_view(i, k) || std::ranges::any_of(matched_along_other_axes_, unlike)) continue;
        matched_along_other_axes_.push_back({static_cast<std::uint16_t>(i), k});
        return k;
    }
    distinct_.push_back(static_cast<std::uint16_t>(i));
    return distinct_.back();
}

detail::operand_head class_words::head_of_operand(const statement& s, std::size_t i, bool folds,
                                                  const class_stages& stages, const axis_classes& classes) {
    const collapsed_axes& axes = stages.axes;
    const library_operands& libraries = stages.libraries;
    const operand& o = s.operands[i];
    detail::operand_head head;
    head.kind = o.kind;
    head.type = o.type;
    head.exponent = o.exponent;
    head.same_as = first_equal_operand(s, i, axes);
    if (!stages.indices.of_operands.empty()) head.index = static_cast<detail::index_use>(stages.indices.of_operands[i]);
    const std::size_t bytes = detail::size_of(o.type);
    switch (o.kind) {
        case operand_kind::array: {
            const std::uintptr_t address = address_of(*o.memory, *o.where, o.type);
            head.vector = axes.is_vector(i, address, bytes, vector_bytes);
            head.dense = (classes.short_rows && axes.is_dense(i, address)) ||
                         (classes.whole_columns && axes.is_run_of_columns(i, address));
            head.wide = axes.is_wide(i, bytes);
            head.repeats = folds && axes.repeats_elements(i);
            if (!libraries.uses.empty() && libraries.uses[i].owner != 0)
                head.suits_library = libraries.suits(i, axes, address);
            for (const output& out : s.outputs) head.aliased |= *out.memory && share_bytes(**out.memory, *o.memory);
            break;
        }
        case operand_kind::generator:  // four counters make one call of the generator
            head.vector = axes.is_vector(i, static_cast<std::uintptr_t>(o.where->offset), 1, 4);
            head.wide = axes.is_wide(i, 1);
            break;
        case operand_kind::pick:
            head.wide = axes.is_wide(i, 1);
            if (!libraries.uses.empty() && libraries.uses[i].picks)
                head.vector = libraries.is_vector(i, axes, o.where->offset);
            break;
        default:
            break;
    }
    return head;
}

void class_words::write(const statement& s, environment_class env, const class_stages& stages,
                        const axis_classes& classes, std::vector<std::uint32_t>& words) {
    const collapsed_axes& axes = stages.axes;
    const library_operands& libraries = stages.libraries;
    const bool folds = env.where == detail::target::cuda && (s.kinds & (has_reductions | has_scans)) != 0;

    detail::key_header header;
    header.where = env.where;
    header.math = env.math;
    header.architecture = env.architecture;
    header.outputs = static_cast<std::uint32_t>(s.outputs.size());
    header.program = static_cast<std::uint32_t>(s.program.size());
    header.operands = static_cast<std::uint32_t>(s.operands.size());
    header.axes = static_cast<std::uint32_t>(axes.count());

    const std::uint32_t per_row = detail::head_words + detail::stride_words(header.axes);
    words.resize(detail::key_header_words + detail::axis_words * axes.count() +
                 per_row * (s.operands.size() + s.outputs.size()));
    // Kernels for related views compute indices a few elements beyond the ends of rows.
    const index_t beyond = !axes.keep_relations ? 0 : stages.iteration.steps > 1 ? 512 : 64;
    header.wide_index = classes.walked >= narrow_reach() - std::min(beyond, narrow_reach());
    detail::write_header(header, words.data());

    std::uint32_t* out = words.data() + detail::key_header_words;
    for (const detail::axis_class& axis : classes.axes) {
        axis.write(out);
        out += detail::axis_words;
    }
    distinct_.clear();
    matched_along_other_axes_.clear();
    const auto write_strides = [&](std::size_t row) {
        const index_t* const strides = axes.strides_of(row);
        std::fill_n(out, per_row - detail::head_words, 0u);
        for (std::size_t a = 0; a < header.axes; ++a) {
            const auto c = strides[a] == 0   ? detail::stride_class::broadcast
                           : strides[a] == 1 ? detail::stride_class::unit
                                             : detail::stride_class::strided;
            out[a / detail::stride_classes_per_word] |= static_cast<std::uint32_t>(c)
                                                        << (2 * (a % detail::stride_classes_per_word));
        }
        out += per_row - detail::head_words;
    };
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        head_of_operand(s, i, folds, stages, classes).write(out);
        out += detail::head_words;
        write_strides(i);
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        const std::size_t bytes = detail::size_of(o.type);
        detail::operand_head head;
        head.type = o.type;
        const std::uintptr_t address = *o.memory ? address_of(**o.memory, *o.where, o.type) : 0;
        const std::size_t row = s.operands.size() + k;
        head.vector = axes.is_vector(row, address, bytes, vector_bytes);
        head.dense = (classes.short_rows && axes.is_dense(row, address)) ||
                     (classes.whole_columns && axes.is_run_of_columns(row, address));
        head.wide = axes.is_wide(row, bytes);
        if (!libraries.outputs.empty())
            head.suits_library = libraries.writes(s, k, axes, stages.shapes) &&
                                 (!libraries.outputs[k].biased || libraries.adds_bias_in_call(k, axes, env));
        head.few_places = few_places_of(s, o, env.where);
        head.write(out);
        out += detail::head_words;
        write_strides(row);
    }
    if ((s.kinds & has_texts) != 0) append_texts(s, words);
    if (axes.keep_relations) stages.relations.append_to(words, stages.shapes.bound, axes, distinct_);
    if (stages.iteration.steps > 1) stages.iteration.append_to(words);
}

void class_words::append_texts(const statement& s, std::vector<std::uint32_t>& words) const {
    for (const std::uint16_t i : distinct_) {
        if (s.operands[i].kind != operand_kind::text) continue;
        const auto& text = *reinterpret_cast<const detail::kernel_text*>(s.operands[i].bits[0]);
        const std::uint64_t binding = s.operands[i].bits[1];
        words.insert(words.end(), {detail::section_head(detail::key_section::text, 2 + text.words.size()),
                                   static_cast<std::uint32_t>(binding), static_cast<std::uint32_t>(binding >> 32)});
        words.insert(words.end(), text.words.begin(), text.words.end());
    }
}

}  // namespace ingot::runtime
