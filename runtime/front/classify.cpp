// Calls the stages of classification in order.
#include "runtime/front/classify.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

namespace {

/// Swaps instead of copying. Both sides get room for the numbers at once, so that a warm statement allocates nothing.
void hand_over(std::vector<index_t>& stage, std::vector<index_t>& result) {
    result.swap(stage);
    stage.reserve(result.size());
}

}  // namespace

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
    if (s.kinds == 0) {
        statement known = s;
        known.kinds = kinds_of(s.program);
        return classify(known, env);
    }
    if ((s.kinds & has_binders) == 0 && s.shapes.empty() && contiguous_.classify(s, env)) return contiguous_.result();

    auto& [shapes, aligned, libraries, indices, relations, axes, iteration] = stages_;
    shapes.find(s);
    c_.size = shapes.size;
    if (c_.size == 0) {
        c_.steps = 1;
        c_.extents.clear();
        c_.words.clear();
    } else {
        aligned.align(s, shapes);
        libraries.find(s);
        indices.find(s, env.optional_parts);
        relations.find(s, env.optional_parts, shapes.bound, aligned);
        axes.collapse(aligned, shapes.bound, relations);
        iteration.find(s, aligned, relations, axes);
        classes_.find(s, env, stages_);
        words_.write(s, env, stages_, classes_, c_.words);
        c_.steps = iteration.steps;
        hand_over(axes.extents, c_.extents);
        hand_over(axes.strides, c_.strides);
    }
    hand_over(shapes.result, c_.shape);
    return c_;
}

void classifier::full_key(const classified& c, std::span<const word> program, std::vector<std::uint32_t>& key) {
    const auto head = c.words.begin() + detail::key_header_words;
    key.assign(c.words.begin(), head);
    key.insert(key.end(), program.begin(), program.end());
    key.insert(key.end(), head, c.words.end());
}

}  // namespace ingot::runtime
