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
    c_.steps = 1;
    shapes_.find(s, kinds);
    c_.shape = shapes_.result;
    c_.size = shapes_.size;
    c_.extents.clear();
    c_.words.clear();
    if (c_.size == 0) return c_;

    aligned_.align(s, shapes_, kinds);
    libraries_.find(s, kinds);
    indices_.find(s, kinds, env.optional_parts);
    relations_.find(s, kinds, env.optional_parts, shapes_.bound, aligned_);
    axes_.collapse(aligned_, shapes_.bound, relations_);
    iteration_.find(s, kinds, aligned_, relations_, axes_);
    write_words(s, env, kinds);
    c_.extents = axes_.extents;
    c_.strides = axes_.strides;
    c_.steps = iteration_.steps;
    return c_;
}

}  // namespace ingot::runtime
