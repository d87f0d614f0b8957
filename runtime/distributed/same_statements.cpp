// Whether all ranks evaluate one statement.
#include <algorithm>
#include <cstring>

#include <ingot/core/error.hpp>

#include "runtime/distributed/plan.hpp"
#include "runtime/system/hash.hpp"

namespace ingot::runtime {

namespace {

/// All of a statement that is equal on all ranks: its words, and its operands' kinds, dtypes and shapes.
std::uint64_t hash_of_statement(const statement& s) {
    std::vector<std::uint64_t> said{s.program.size(), s.outputs.size(), static_cast<std::uint64_t>(s.repeated.steps)};
    said.insert(said.end(), s.program.begin(), s.program.end());
    said.insert(said.end(), s.attributes.begin(), s.attributes.end());
    const auto add = [&](const detail::layout& l) {
        for (int j = 0; j < l.rank(); ++j) said.push_back(static_cast<std::uint64_t>(l.shape()[j]));
    };
    for (const operand& o : s.operands) {
        said.push_back(static_cast<std::uint64_t>(o.kind) << 16 | static_cast<std::uint64_t>(o.type) << 8 |
                       static_cast<std::uint64_t>(is_distributed(o.memory)));
        if (o.where != nullptr) add(*o.where);
    }
    if (s.moved_to != nullptr)
        for (const int axis : (*s.moved_to)->over) said.push_back(static_cast<std::uint64_t>(axis));
    // Whether an output's memory is written again depends on the handles that this rank holds: its shape says more
    // only where nothing is read.
    if (std::ranges::none_of(s.operands, [](const operand& o) { return o.memory != nullptr; }))
        for (const output& o : s.outputs)
            if (*o.memory) add(*o.where);
    return hash_of(std::as_bytes(std::span(said))).low;
}

std::string in_words(const statement& s) {
    std::string text = "a statement of " + std::to_string(s.program.size()) + " words over arrays of shapes";
    for (const operand& o : s.operands)
        if (is_distributed(o.memory))
            text += ' ' + detail::to_text(storage_of(*o.memory).where->shape);
        else if (o.memory != nullptr && o.where != nullptr)
            text += ' ' + detail::to_text(o.where->extents());
    return text;
}

void check_same(std::uint64_t hash, const std::string& words, rank_session& session) {
    std::string own(sizeof hash, '\0');
    std::memcpy(own.data(), &hash, sizeof hash);
    own += words;
    const std::vector<std::byte> of_first = session.group->broadcast(std::as_bytes(std::span(own)));
    const std::string first(reinterpret_cast<const char*>(of_first.data()), of_first.size());
    if (first.compare(0, sizeof hash, own, 0, sizeof hash) == 0) return;
    const std::string why = "rank 0 evaluates " + first.substr(sizeof hash) + ", and rank " +
                            std::to_string(session.rank) + " evaluates " + own.substr(sizeof hash) +
                            "; every rank must evaluate the same statements in the same order";
    session.group->fail(why);  // so that all ranks name both
    throw distributed_error("[distributed] " + why);
}

}  // namespace

void check_same_on_all_ranks(const statement& s, rank_session& session) {
    if (session.size == 1 || !compares_statements) return;
    check_same(hash_of_statement(s), in_words(s), session);
}

void begin_call(const char* name, const distributed_storage& of) {
    rank_session& session = of.session();
    throw_if_ended(session);
#if INGOT_DEBUG
    if (session.size == 1 || !compares_statements) return;
    const std::string words = std::string(name) + " of an array of shape " + detail::to_text(of.where->shape);
    check_same(hash_of(std::as_bytes(std::span(words))).low, words, session);
#else
    static_cast<void>(name);
#endif
}

void throw_if_ended(const rank_session& session) {
    if (session.has_ended())
        throw distributed_error(
            "[distributed] the session of an array in parts has ended; distributed::local(x) reads it");
}

}  // namespace ingot::runtime
