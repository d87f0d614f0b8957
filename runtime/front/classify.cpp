#include "runtime/front/classify.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

std::uint8_t kinds_of(std::span<const word> program) {
    std::uint8_t kinds = has_any;
    for (const word w : program) {
        const word_kind k = detail::kind_of_word(w);
        if (k == word_kind::lazy) kinds |= has_lazies;
        const bool raw = k == word_kind::scalar && detail::code_of_word(w) != 0;
        if (detail::is_binder(k) || k == word_kind::scatter || raw) kinds |= has_binders;
        if (k == word_kind::reduce) kinds |= has_reductions;
        if (k == word_kind::text) kinds |= has_texts;
        if (k == word_kind::scan) kinds |= has_scans;
        if (k == word_kind::library) kinds |= has_libraries;
        if (k == word_kind::unravel || k == word_kind::gather) kinds |= has_indexing;
    }
    return kinds;
}

const classified& classifier::classify(const statement& s, environment_class env) {
    const std::uint8_t kinds = s.kinds != 0 ? s.kinds : kinds_of(s.program);
    if ((kinds & has_binders) == 0 && s.shapes.empty() && contiguous_.classify(s, env)) return contiguous_.result();

    auto& [shapes, aligned, libraries, indices, relations, axes, iteration] = stages_;
    shapes.find(s, kinds);
    c_.shape = shapes.result;
    c_.size = shapes.size;
    c_.steps = 1;
    c_.extents.clear();
    c_.words.clear();
    if (c_.size == 0) return c_;

    aligned.align(s, shapes, kinds);
    libraries.find(s, kinds);
    indices.find(s, kinds, env.optional_parts);
    relations.find(s, kinds, env.optional_parts, shapes.bound, aligned);
    axes.collapse(aligned, shapes.bound, relations);
    iteration.find(s, kinds, aligned, relations, axes);
    classes_.find(s, kinds, env, stages_);
    words_.write(s, kinds, env, stages_, classes_, c_.words);
    c_.extents = axes.extents;
    c_.strides = axes.strides;
    c_.steps = iteration.steps;
    return c_;
}

void classifier::full_key(const classified& c, std::span<const word> program, std::vector<std::uint32_t>& key) {
    const auto head = c.words.begin() + detail::key_header_words;
    key.assign(c.words.begin(), head);
    key.insert(key.end(), program.begin(), program.end());
    key.insert(key.end(), head, c.words.end());
}

}  // namespace ingot::runtime
